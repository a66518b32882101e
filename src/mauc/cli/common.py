"""What the commands share: options in groups, and how errors become a message and an exit code."""

import functools
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import click

from mauc.checks import allow_many_classes, check_int
from mauc.cli.show import print_text
from mauc.exceptions import ColumnWarning, MaucError, spell_options
from mauc.io.options import command_line_option

FAILED, USAGE, INTERNAL, INTERRUPTED = 1, 2, 70, 130  # exit codes
DEFAULT_DATA = "siren"
# What other tools call the number of features, -k.
_NUMBER_WORDS = {
    "k",
    "top",
    "topk",
    "ntop",
    "size",
    "number",
    "nfeatures",
    "numfeatures",
    "maxfeatures",
    "nfeaturestoselect",
}

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Command(click.Command):
    """A command with ``--json`` and ``--debug``; errors become a message and an exit code."""

    def __init__(self, name: str, *, params: list[click.Parameter], **options: Any) -> None:
        own = [
            click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."),
            click.Option(["--debug"], is_flag=True, help="Show the traceback of an error."),
        ]
        context = {"show_default": True}
        super().__init__(name, params=[*params, *own], context_settings=context, **options)

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Parse what was typed; an unknown option names those that may be meant."""
        try:
            return super().parse_args(context, args)
        except click.NoSuchOption as error:
            known = [name for item in self.params for name in (*item.opts, *item.secondary_opts)]
            error.possibilities = _similar_options(error.option_name, known)  # type: ignore[misc]
            raise

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
                print_text(traceback.format_exc().rstrip(), err=True)
            code, message = _explain(error)
            echo_stderr(message)
            if isinstance(error, OSError):
                _drop_output()
            context.exit(code)


command = functools.partial(click.command, cls=Command)


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


def path_option(*names: str, help: str, metavar: str = "FILE") -> Callable[[_Function], _Function]:
    """Return an option that takes the path of a file, or of a folder."""
    return click.option(*names, metavar=metavar, type=FILE, help=help)


data_argument = click.argument("data", default=DEFAULT_DATA)
force_option = click.option("--force", is_flag=True, help="Replace files that exist.")
SEED: dict[str, Any] = {"default": 0, "help": "Random seed."}
JOBS: dict[str, Any] = {"default": 1, "help": "Threads; -1 for all cores."}
SCHEDULER: dict[str, Any] = {
    "metavar": "ADDRESS",
    "help": "Dask scheduler, such as tcp://host:8786.",
}
seed_option = click.option("--seed", **SEED)
jobs_option = click.option("-j", "--jobs", **JOBS)
workers_option = click.option("-j", "--jobs", default=-1, help="Processes; -1 for one per core.")
alpha_option = click.option("--alpha", default=0.05, help="Level of significance of the test.")
figure_option = path_option("--figure", help="Draw a figure to this file (png, pdf, svg).")
progress_option = click.option(
    "--progress",
    metavar="HOW",
    default="auto",
    help="auto (bar on a terminal, lines elsewhere), bar, lines or quiet.",
)
scheduler_option = click.option("--scheduler", **SCHEDULER)


def words_of(text: str, name: str) -> list[str]:
    """Return the words of a comma-separated list, the value of an option."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise MaucError(f"{name} must be names separated by commas, got {text!r}.")
    return words


@contextmanager
def resumable(folder: Path | None) -> Iterator[None]:
    """Tell where finished cells are if a run is stopped."""
    try:
        yield
    except KeyboardInterrupt:
        kept = f"finished cells are in {folder}; the same command resumes the run."
        raise KeyboardInterrupt(kept if folder else "") from None


def _similar_options(typed: str, known: Iterable[str]) -> list[str] | None:
    """Return the options that an unknown one may mean: by other tools' names, or by its letters."""
    word = typed.strip("-").replace("-", "").replace("_", "").lower()
    options = {name.strip("-"): name for name in known if name.startswith("-")}
    if word in _NUMBER_WORDS and "k" in options:
        return [options["k"]]
    # click compares the hyphens, too, and takes --drop for similar to --topk
    return [options[name] for name in get_close_matches(typed.strip("-"), options)] or None


def echo_stderr(message: str) -> None:
    """Write a message to stderr, with unprintable characters escaped."""
    print_text(f"mauc: {message}", err=True)


def _check_numbers(*, seed: int = 0, jobs: int = 1, **_: Any) -> None:
    check_int("--seed", seed, 0, 2**32 - 1)
    if jobs != -1 and jobs < 1:
        raise MaucError(f"--jobs must be at least 1, or -1 for all cores, got {jobs}.")


def _spell(name: str, *value: Any) -> str:
    """Return what messages call a parameter, or what stands for an option here."""
    names = {
        "PairAUCSketch": "--sketch, with --method mdfs or maucd",
        "open_columns": "--memory",
        "feature_groups": "--groups-of",
        "pair_weight": "--costs",
        "n_features_to_select": "-k",
        "fdr_alpha": "--set fdr_alpha",
    }
    if name == "n_features_to_select" and value:
        return f"-k {value[0]}"
    return names.get(name) or command_line_option(name, *value)


def _explain(error: Exception) -> tuple[int, str]:
    """Return the exit code and the message of an error."""
    name = type(error).__name__
    if isinstance(error, MemoryError):
        return USAGE, f"not enough memory. {error}".rstrip()
    if isinstance(error, ValueError | OSError | ImportError):
        return USAGE, str(error) or name
    return INTERNAL, f"internal error, {name}: {error}; --debug shows the traceback."


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
        warnings.simplefilter("ignore", ColumnWarning)  # it is in the notes of the data
        warnings.showwarning = show
        yield
