"""The options that say how data are read, and the data sets that they give."""

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from mauc.checks import check_choice
from mauc.cli.common import command, data_argument, echo_stderr
from mauc.cli.show import add_row, make_table, print_json, print_table, short, watched
from mauc.exceptions import WARNING, MaucError, option
from mauc.io.options import COMMAND_LINE, NOMINAL, OptionText, command_line_option

if TYPE_CHECKING:
    from mauc.datasets import Dataset

#: options that may be repeated
_MANY = ("categorical_features", "classes", "drop", "merge", "missing")
_NOMINAL = ("auto", *NOMINAL)
_NOMINAL_TEXT = (  # methods say what they take
    "Nominal columns: auto (as such where a method takes them, otherwise as numbers), ordinal "
    "(codes), onehot (indicators) or drop."
)


class Reading:
    """How data are read: the options of `mauc.datasets.load_dataset` that were given."""

    def __init__(self, given: dict[str, Any]) -> None:
        check_choice("--nominal", given["nominal"], _NOMINAL, quoted=False)
        self._typed = {**given, "nominal": given["nominal"].replace("auto", "")}
        given["separator"] = given["separator"] and given["separator"].replace("\\t", "\t")
        self.options: dict[str, Any] = {
            name: list(value) if name in _MANY else value
            for name, value in given.items()
            if value is not None and value not in ((), "auto") and (value or name == "header")
        }

    def load(self, data: str, **changes: Any) -> "Dataset":
        """Load a data set; with ``memory`` its columns are read when they are needed."""
        from mauc.io.load import load_dataset, open_dataset

        load, what = (open_dataset, "opening") if "memory" in changes else (load_dataset, "reading")
        return watched(load, f"{what} {data}")(data, **{**self.options, **changes})

    def words(self, data: str) -> list[str]:
        """Return what was typed to name the data, and how they are read."""
        found = [data]
        for name, value in self._typed.items():
            flag = command_line_option(name, value is True)
            for one in value if isinstance(value, tuple) else (value,):
                if one or (name == "header" and one is False):
                    found += [flag] if isinstance(one, bool) else [flag, one]
        return found

    def refuse(self, what: str) -> None:
        """Raise if there are options for something that is not there."""
        for name, value in self.options.items():
            if isinstance(value, bool):
                raise MaucError(f"{option(name, value)} goes with {what}.")
            raise MaucError(f"{option(name)} goes with {what}, got {value!r} without one.")


def reads_data(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Reading`, which also takes `target_option`."""

    @functools.wraps(function)
    def run(**given: Any) -> None:
        reading = Reading({name: given.pop(name) for name in COMMAND_LINE})
        function(reading=reading, **given)

    for name, known in reversed(COMMAND_LINE.items()):
        if name != "target":
            run = _click_option(name, known)(run)
    return run


def _click_option(name: str, known: OptionText) -> Callable[..., Any]:
    names = (["-t"] if name == "target" else []) + [known.flag, name]
    text = _NOMINAL_TEXT if name == "nominal" else known.text
    if not known.metavar:
        return click.option(*names, is_flag=True, default=None, help=text)
    is_many, default = name in _MANY, "auto" if name == "nominal" else None
    return click.option(
        *names,
        metavar=known.metavar,
        multiple=is_many,
        default=default,
        help=text + " Repeatable." * is_many,
    )


target_option = _click_option("target", COMMAND_LINE["target"])


def say_columns(dataset: "Dataset", data: str) -> None:
    """Say on stderr how the columns of a file were taken; a bundled set has numbers alone."""
    from mauc.datasets import BUNDLED

    first, *others = dataset.notes or ("",)
    first = "" if data in BUNDLED else first
    _, is_left_out, names = first.partition("; left out: ")
    if is_left_out:
        them = "it" if names.count("'") == 2 else "them"
        first = f"{WARNING}{first} (--keep-ids keeps {them})"
    say_notes(dataset.name, filter(None, [first, *others]))


def say_notes(name: str, notes: Iterable[str]) -> None:
    """Say on stderr what is known of data, warnings as such."""
    for note in notes:
        warning = WARNING * note.startswith(WARNING)
        echo_stderr(f"{warning}{name}: {note.removeprefix(WARNING)}")


@command()
@data_argument
@target_option
@reads_data
def columns(data: str, reading: Reading, as_json: bool) -> None:
    """Show how every column is taken: its kind, how many values differ or are missing, and why.

    DATA is a file, - for standard input, or the name of a data set (see mauc datasets list).
    Without --target all columns are judged as features.

    Example: mauc columns data.csv --target label
    """
    from mauc.io.load import describe_file

    frame, notes = watched(describe_file, f"reading {data}")(data, **reading.options)
    if as_json:
        print_json({"data": data, "columns": frame, "notes": notes}, "columns-1")
        return
    table = make_table(*frame.columns, right=("distinct", "missing"))
    for name, kind, distinct, missing, taken, why in frame.itertuples(index=False):
        share = f"{missing:.1%}" if missing else "-"
        add_row(table, short(name), kind, distinct, share, taken, why)
    print_table(table)
    say_notes(data, notes)
