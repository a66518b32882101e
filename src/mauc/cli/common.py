"""What the commands share: options, and how errors become a message and an exit code."""

import functools
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from mauc.checks import allow_many_classes, check_int
from mauc.cli.show import printable
from mauc.exceptions import MaucError

FAILED, USAGE, INTERNAL, INTERRUPTED = 1, 2, 70, 130  # exit codes

DEFAULT_DATA = "siren"
DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file, - for standard input, or the name of a data set (see mauc datasets list).",
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COLUMN", help="Column of the file with the labels."),
]
ColumnsArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file; a folder, pattern ('folder/*.parquet') or address (s3://bucket/folder) of "
        "Parquet or Feather files; - for standard input; or the name of a data set (see mauc "
        "datasets list).",
    ),
]
DEFAULT_METHOD = "greedy"
MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME",
        help="Selector: greedy by default (GreedyMAUC), mdfs (the paper's), mrmr, su, ... (see "
        "mauc methods).",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Option of the method (see mauc methods); repeatable.",
    ),
]
FigureOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw a figure to this file (png, pdf, svg).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SeedOption = Annotated[int, typer.Option(metavar="INT", help="Random seed.")]
JobsOption = Annotated[
    int, typer.Option("--jobs", "-j", metavar="INT", help="Threads; -1 for all cores.")
]
WorkersOption = Annotated[
    int, typer.Option("--jobs", "-j", metavar="INT", help="Processes; -1 for one per core.")
]
SchedulerOption = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler, such as tcp://host:8786.")
]
AlphaOption = Annotated[
    float, typer.Option(metavar="FLOAT", help="Level of significance of the test.")
]
ProgressOption = Annotated[
    str,
    typer.Option(
        metavar="HOW", help="auto (bar on a terminal, lines elsewhere), bar, lines or quiet."
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a command: its errors become a message on stderr and an exit code."""

    @functools.wraps(function)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            _check_numbers(**options)
            many = allow_many_classes() if options.get("many_classes") else nullcontext()
            with _warnings_as_lines(), many:
                function(*arguments, **options)
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt as stop:
            echo_stderr(f"stopped; {stop}" if str(stop) else "stopped.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _drop_output()  # the reader (head, less) has closed the pipe
        except Exception as error:
            if options.get("debug"):
                traceback.print_exc()
            echo_stderr(_message_of(error))
            if isinstance(error, OSError):
                _drop_output()
            raise typer.Exit(_code_of(error)) from None

    return run


def _check_numbers(*, seed: int = 0, jobs: int = 1, **_: Any) -> None:
    check_int("--seed", seed, 0, 2**32 - 1)
    if jobs != -1 and jobs < 1:
        raise MaucError(f"--jobs must be at least 1, or -1 for all cores, got {jobs}.")


def echo_stderr(message: str) -> None:
    """Write a message to stderr, with unprintable characters escaped."""
    typer.echo("mauc: " + "\n".join(map(printable, message.split("\n"))), err=True)


def _code_of(error: Exception) -> int:
    return (
        USAGE if isinstance(error, ValueError | OSError | MemoryError | ImportError) else INTERNAL
    )


def _message_of(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".rstrip()
    if _code_of(error) == INTERNAL:
        name = type(error).__name__
        return f"internal error, {name}: {error}; --debug shows the traceback."
    return str(error) or type(error).__name__


def _drop_output() -> None:
    """Discard what is left in the buffer if it cannot be written."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print warnings as one line each, once."""
    seen = set()

    def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            echo_stderr(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield
