"""Put the commands together.

The modules of the commands import the library inside their functions, so that help, version and
shell completion do not wait for it.
"""

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from mauc.cli.best import best
from mauc.cli.compare import compare
from mauc.cli.doctor import doctor
from mauc.cli.manage import cache_group, datasets_group, methods, print_schema, warmup
from mauc.cli.reading import columns
from mauc.cli.runs import run, tables
from mauc.cli.score import score
from mauc.cli.select import explain, rank, select
from mauc.exceptions import printable

#: where each shell looks for completions of a command, from the home folder
_COMPLETION_FILES = {
    "bash": ".local/share/bash-completion/completions/mauc",
    "fish": ".config/fish/completions/mauc.fish",
    "zsh": ".zfunc/_mauc",
}
_ZSH_LINES = "fpath+=~/.zfunc; autoload -Uz compinit; compinit\n"


def _completion(context: click.Context, parameter: click.Parameter, is_wanted: bool) -> None:
    """Print the completion script of the user's shell, or put it where the shell finds it."""
    if not is_wanted:
        return
    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in _COMPLETION_FILES:
        known = ", ".join(_COMPLETION_FILES)
        raise click.UsageError(f"SHELL must name one of {known} for completion, got {shell!r}.")
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(app, {}, "mauc", "_MAUC_COMPLETE").source()
    if parameter.name == "show_completion":
        click.echo(script)
        context.exit()
    path = Path.home() / _COMPLETION_FILES[shell]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script)
    start = Path.home() / ".zshrc"
    if shell == "zsh" and _ZSH_LINES not in (start.read_text() if start.exists() else ""):
        with start.open("a") as file:
            file.write(_ZSH_LINES)
    click.echo(f"{shell} completion is in {path}; start a new shell to use it.")
    context.exit()


class _Commands(click.Group):
    """Lists the commands in the order in which they were added."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)

    def invoke(self, context: click.Context) -> None:
        """Run a command; what click says of its arguments may hold names of files."""
        try:
            super().invoke(context)
        except click.ClickException as error:
            error.message = printable(error.message)  # type: ignore[misc]
            raise


def _eager(name: str, help: str) -> click.Option:
    return click.Option(
        [name], is_flag=True, is_eager=True, expose_value=False, callback=_completion, help=help
    )


@click.group(
    name="mauc",
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        _eager("--install-completion", "Install completion for the current shell."),
        _eager("--show-completion", "Show completion for the current shell, to copy it."),
    ],
    no_args_is_help=True,
)
@click.version_option(package_name="mauc", message="mauc %(version)s", help="Show the version.")
def app() -> None:
    """Choose features for a high multi-class AUC (MAUC).

    \b
    mauc select data.csv --target label -k 20     the best 20 features and the pairs they serve
    mauc best data.csv --target label             features and a classifier, with an honest MAUC
    mauc doctor data.csv --target label           what is wrong with the data or a model
    mauc compare data.csv --target label          which method is best for these data
    mauc columns data.csv --target label          how every column is taken, and why
    mauc COMMAND --help                           the options of a command

    Exit codes: 0 success, 1 some combinations of a run failed, 2 wrong input, 70 internal error,
    130 interrupted.
    """  # noqa: D301


for one in (
    select,
    best,
    rank,
    explain,
    doctor,
    compare,
    score,
    columns,
    methods,
    run,
    tables,
    warmup,
    datasets_group,
    cache_group,
    print_schema,
):
    app.add_command(one)
