"""What a command prints: tables, JSON, and names without control characters."""

import json
import os
import sys
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mauc.exceptions import printable
from mauc.progress import progress
from mauc.results import short_name

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

T = TypeVar("T")

_PIPED_WIDTH = 1000  # lines are not folded in a pipe

short = partial(short_name, n_letters=60)  #: a name as a table shows it


def make_console() -> "Console":
    """Return the console for tables: unlimited width in a pipe, styles only on a terminal."""
    from rich.console import Console

    class QuietConsole(Console):
        def on_broken_pipe(self) -> None:
            raise  # handled by the command

    is_terminal = Console().is_terminal
    is_plain = not is_terminal or os.environ.get("NO_COLOR")
    return QuietConsole(
        highlight=False,
        markup=False,
        emoji=False,
        color_system=None if is_plain else "auto",
        width=None if is_terminal else _PIPED_WIDTH,
    )


def make_table(*heads: str, right: tuple[str, ...] = ()) -> "Table":
    """Return an empty table; columns named in `right` hold numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        table.add_column(
            head,
            justify="right" if head in right else "left",
            overflow="fold",
            no_wrap=head in right,
        )
    return table


def add_row(table: "Table", *cells: Any) -> None:
    """Add a row of texts or numbers; a name that looks like markup is shown as it stands."""
    from rich.text import Text

    table.add_row(*(Text(printable(cell)) for cell in cells))


def print_table(table: "Table") -> None:
    """Print a table; in a pipe without blanks around it, on a narrow terminal as records."""
    console = make_console()
    if not console.is_terminal:
        with console.capture() as captured:
            console.print(table)
        text = "\n".join(line.rstrip() for line in captured.get().split("\n"))
        click.echo(text.strip("\n"))
    elif _fit_columns(table, console):
        console.print(table)
    else:
        _print_records(table)


def _fit_columns(table: "Table", console: "Console") -> bool:
    """Set the widths of columns so that no word is parted; return whether they fit."""
    from rich.measure import Measurement

    wide = console.options.update_width(_PIPED_WIDTH)
    sizes = []
    for column in table.columns:
        cells = [Measurement.get(console, wide, cell) for cell in (column.header, *column.cells)]
        most = max(cell.maximum for cell in cells)
        sizes.append((most if column.no_wrap else max(cell.minimum for cell in cells), most))
    least, most = (sum(column) for column in zip(*sizes, strict=True))
    room = console.width - (Measurement.get(console, wide, table).maximum - most)
    if most <= room:
        return True
    if least > room:
        return False
    # What is left over is shared in proportion to what each column lacks.
    for column, (minimum, maximum) in zip(table.columns, sizes, strict=True):
        column.width = minimum + (room - least) * (maximum - minimum) // (most - least)
    return True


def _print_records(table: "Table") -> None:
    """Print one line per cell."""
    heads = [str(column.header) for column in table.columns]
    for row in zip(*(column.cells for column in table.columns), strict=True):
        indent = ""
        for head, cell in zip(heads, row, strict=True):
            if str(cell):
                print_sentence(f"{head}: {cell}", indent)
                indent = "  "


def print_report_table(*tables: Any) -> None:
    """Print tables of `mauc.report`: on a terminal in its width, with real bold."""
    from rich.text import Text

    from mauc.layout import HIDDEN

    console = make_console()
    if not console.is_terminal:
        print_text("\n\n".join(table.to_text().rstrip() for table in tables))
        return
    # Without styles a single star stands for bold.
    bold = "*" if console.color_system is None else HIDDEN
    texts = [table.to_text(width=console.width, bold=bold).rstrip() for table in tables]
    for line in "\n\n".join(texts).split("\n"):
        shown = Text()
        for at, piece in enumerate(line.split(HIDDEN)):
            shown.append(printable(piece), style="bold" if at % 2 else "")
        console.print(shown, soft_wrap=True)


def print_text(text: str, *, err: bool = False) -> None:
    """Print lines, their control characters as escapes."""
    click.echo(printable(text, "\n"), err=err)


def print_sentence(text: str, indent: str = "") -> None:
    """Print a line; on a terminal it is folded between words where it is too long."""
    console = make_console()
    if console.is_terminal:
        lines = textwrap.wrap(
            printable(text),
            console.width,
            initial_indent=indent,
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
        text = "\n".join(lines)
    print_text(text)


def print_json(value: Any, schema: str | None = None) -> None:
    """Print values as JSON, NaN as null; `schema` names the file of ``mauc/schemas`` for them."""
    if schema is not None:
        value = {"schema": f"mauc/{schema}", **value}
    is_ascii = not (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(as_plain(value), indent=1, ensure_ascii=is_ascii, allow_nan=False)
    for line in text.split("\n"):
        shown = (char if char.isprintable() else json.dumps(char)[1:-1] for char in line)
        sys.stdout.write((line if line.isprintable() else "".join(shown)) + "\n")


def as_plain(value: Any) -> Any:
    """Return frames, NumPy values, paths and other objects as values that JSON has."""
    if hasattr(value, "columns"):  # a pandas frame
        value = value.to_dict("records")
    if isinstance(value, dict):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return as_plain(value.tolist())
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)


def watched(function: Callable[..., T], what: str) -> Callable[..., T]:
    """Return a function that shows on a terminal what it does if it takes longer than 2 s."""

    def run(*arguments: Any, **options: Any) -> T:
        with progress(what):
            return function(*arguments, **options)

    return run


def say_files(files: list[Path]) -> None:
    """Report which files were written."""
    for file in files:
        print_text(f"wrote {printable(file)}", err=True)
