"""What the commands share: options in groups, and how errors become a message and an exit code."""

import functools
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import field, fields
from pathlib import Path
from typing import Any, TypeVar

import click

from mauc.checks import allow_many_classes, check_int
from mauc.cli.show import printable
from mauc.exceptions import MaucError, spell_options
from mauc.io.options import command_line_option

FAILED, USAGE, INTERNAL, INTERRUPTED = 1, 2, 70, 130  # exit codes
DEFAULT_DATA = "siren"

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Command(click.Command):
    """A command whose errors become a message on stderr and an exit code; it has ``--debug``."""

    def __init__(self, name: str, *, params: list[click.Parameter], **options: Any) -> None:
        debug = click.Option(["--debug"], is_flag=True, help="Show the traceback of an error.")
        super().__init__(name, params=[*params, debug], **options)

    def invoke(self, context: click.Context) -> None:
        """Run the command."""
        is_debugged = context.params.pop("debug")
        try:
            _check_numbers(**context.params)
            is_many = context.params.get("many_classes")
            many = allow_many_classes() if is_many else nullcontext()
            with spell_options(_spell), _warnings_as_lines(), many:
                super().invoke(context)
            sys.stdout.flush()
        except (click.exceptions.Exit, click.ClickException):
            raise
        except (KeyboardInterrupt, click.Abort) as stop:
            echo_stderr(f"stopped; {stop}" if str(stop) else "stopped.")
            context.exit(INTERRUPTED)
        except BrokenPipeError:
            _drop_output()  # the reader (head, less) has closed the pipe
        except Exception as error:
            if is_debugged:
                traceback.print_exc()
            echo_stderr(_message_of(error))
            if isinstance(error, OSError):
                _drop_output()
            context.exit(_code_of(error))


def command(name: str | None = None) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a `Command`, called like the function by default."""
    return click.command(name, cls=Command)


def option(*names: str, default: Any = None, **how: Any) -> Any:
    """Return a field of a group of options: names and settings as in `click.option`."""
    return field(default=default, metadata={"names": names, "how": {"default": default, **how}})


def option_group(group: type, parameter: str) -> Callable[[_Function], _Function]:
    """Give a command the options of a dataclass, whose instance it takes as one parameter."""
    own = [item for item in fields(group) if "names" in item.metadata]

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def run(**given: Any) -> None:
            values = {item.name: given.pop(item.name) for item in own}
            function(**given, **{parameter: group(**values)})

        for item in reversed(own):
            run = click.option(*item.metadata["names"], item.name, **item.metadata["how"])(run)
        return run  # type: ignore[return-value]

    return decorate


FILE = click.Path(path_type=Path)
data_argument = click.argument("data", default=DEFAULT_DATA)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
force_option = click.option("--force", is_flag=True, help="Replace files that exist.")
_NUMBER: dict[str, Any] = {"metavar": "INT", "type": int, "show_default": True}
SEED = {**_NUMBER, "default": 0, "help": "Random seed."}
JOBS = {**_NUMBER, "default": 1, "help": "Threads; -1 for all cores."}
SCHEDULER: dict[str, Any] = {
    "metavar": "ADDRESS",
    "help": "Dask scheduler, such as tcp://host:8786.",
}
seed_option = click.option("--seed", **SEED)
jobs_option = click.option("-j", "--jobs", **JOBS)
workers_option = click.option(
    "-j", "--jobs", **{**_NUMBER, "default": -1, "help": "Processes; -1 for one per core."}
)
alpha_option = click.option(
    "--alpha", metavar="FLOAT", type=float, default=0.05, show_default=True,
    help="Level of significance of the test.",
)  # fmt: skip
figure_option = click.option(
    "--figure", metavar="FILE", type=FILE, help="Draw a figure to this file (png, pdf, svg)."
)
progress_option = click.option(
    "--progress", metavar="HOW", default="auto", show_default=True,
    help="auto (bar on a terminal, lines elsewhere), bar, lines or quiet.",
)  # fmt: skip
scheduler_option = click.option("--scheduler", **SCHEDULER)


def words_of(text: str, name: str) -> list[str]:
    """Return the words of a comma-separated list, the value of an option."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise MaucError(f"{name} must be names separated by commas, got {text!r}.")
    return words


def echo_stderr(message: str) -> None:
    """Write a message to stderr, with unprintable characters escaped."""
    click.echo("mauc: " + "\n".join(map(printable, message.split("\n"))), err=True)


def _check_numbers(*, seed: int = 0, jobs: int = 1, **_: Any) -> None:
    check_int("--seed", seed, 0, 2**32 - 1)
    if jobs != -1 and jobs < 1:
        raise MaucError(f"--jobs must be at least 1, or -1 for all cores, got {jobs}.")


def _spell(name: str, *value: Any) -> str:
    """Return what messages call a parameter, or the class of sketches."""
    if name == "PairAUCSketch":
        return "--sketch, with --method mdfs or maucd"
    return command_line_option(name, *value)


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
