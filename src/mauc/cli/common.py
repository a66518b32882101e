"""What the commands share: arguments, errors without a traceback, tables and JSON out."""

import functools
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from mauc.datasets import BUNDLED
from mauc.exceptions import MaucError

FAILED, USAGE, STOPPED = 1, 2, 130  # exit codes

DEFAULT_DATA = "siren"
DataArgument = Annotated[
    str,
    typer.Argument(
        help=f"A file, or the name of a data set ({', '.join(BUNDLED)}, or one that was fetched)."
    ),
]
TargetOption = Annotated[
    str | None, typer.Option("--target", "-t", help="Column of the file with the labels.")
]
FormatOption = Annotated[
    str | None, typer.Option("--format", help="Format of the file, if its extension does not tell.")
]
NominalOption = Annotated[
    str,
    typer.Option(
        help="Columns of words: keep (for methods that take them), ordinal, onehot or drop."
    ),
]
DropOption = Annotated[
    list[str] | None, typer.Option("--drop", help="A column to leave out; may be given again.")
]
SeparatorOption = Annotated[
    str | None, typer.Option(help="What separates the columns of a text file.")
]
EncodingOption = Annotated[str | None, typer.Option(help="Encoding of a text file.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="An option of the method, NAME=VALUE; may be given again."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
SeedOption = Annotated[int, typer.Option(help="Seed of all that is random.")]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 for all cores.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this folder instead.")
]


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a command: its errors become a line on standard error and an exit code."""

    @functools.wraps(function)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            with _warnings_as_lines():
                function(*arguments, **options)
            sys.stdout.flush()
        except KeyboardInterrupt:
            typer.echo("mauc: stopped.", err=True)
            raise typer.Exit(STOPPED) from None
        except BrokenPipeError:
            # The reader (head, less) has seen enough; what is buffered must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (MaucError, ValueError, OSError, MemoryError) as error:
            if options.get("debug"):
                raise
            typer.echo(f"mauc: {error or type(error).__name__}", err=True)
            raise typer.Exit(USAGE) from None

    return run


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print warnings as one line each, once."""
    seen = set()

    def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            typer.echo(f"mauc: warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def print_json(value: Any) -> None:
    """Print plain values as JSON; what is not a number there becomes null."""
    sys.stdout.write(json.dumps(_plain(value), indent=1, ensure_ascii=False, allow_nan=False))
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value


def frame_records(frame: Any) -> list[dict[str, Any]]:
    """Return a pandas frame as plain records."""
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False)]


def make_console() -> Console:
    """Return where tables go: full width when piped, colours only on a terminal."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=200, no_color=True)
    return console


def say_files(files: list[Path]) -> None:
    """Tell which files were written."""
    for file in files:
        typer.echo(f"wrote {file}", err=True)
