"""Put the commands together."""

from typing import Annotated

import typer

from mauc.cli.compare import compare
from mauc.cli.datasets import datasets_app
from mauc.cli.methods import methods
from mauc.cli.rank import rank
from mauc.cli.run import run
from mauc.cli.score import score
from mauc.cli.select import select
from mauc.cli.siren import siren
from mauc.cli.tables import published, tables

app = typer.Typer(
    name="mauc",
    help="Choose features for a high multi-class AUC (MAUC).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        from mauc import __version__

        typer.echo(f"mauc {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Choose features for a high multi-class AUC (MAUC)."""


for function in (select, rank, compare, siren, score, methods, run, tables, published):
    app.command()(function)
app.add_typer(datasets_app)
