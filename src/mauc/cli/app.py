"""Put the commands together.

The modules of the commands import the library inside their functions, so that help, version and
shell completion do not wait for it.
"""

from typing import Annotated

import typer

from mauc.cli.cache import cache_app
from mauc.cli.compare import compare
from mauc.cli.datasets import datasets_app
from mauc.cli.methods import methods
from mauc.cli.rank import rank
from mauc.cli.run import run
from mauc.cli.score import score
from mauc.cli.select import select
from mauc.cli.siren import siren
from mauc.cli.tables import tables
from mauc.cli.warmup import warmup

app = typer.Typer(
    name="mauc",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: it fits narrow terminals and pipes.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        typer.echo(f"mauc {version('mauc')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Choose features for a high multi-class AUC (MAUC).

    \b
    mauc select data.csv --target label -k 20     the best 20 features and the pairs they serve
    mauc compare data.csv --target label          which method is best for these data
    mauc COMMAND --help                           the options of a command

    Exit codes: 0 success, 1 some combinations of a run failed, 2 wrong input, 70 internal error,
    130 interrupted.
    """  # noqa: D301


for function in (
    select, rank, compare, siren, score, methods, run, tables, warmup
):  # fmt: skip
    app.command()(function)
app.add_typer(datasets_app)
app.add_typer(cache_app)
