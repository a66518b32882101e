"""Put the commands together."""

import typer

from mauc.cli.select import select

app = typer.Typer(
    name="mauc",
    help="Choose features for a high multi-class AUC (MAUC).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _root() -> None:
    """Choose features for a high multi-class AUC (MAUC)."""


app.command()(select)
