"""One base of all results: they print as small tables, iterate, and become data frames."""

from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mauc.exceptions import printable
from mauc.layout import Layout, escape_html, render_html, render_text

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 20
_MAX_NAME = 40  # characters of a name


class Result(ABC):
    """Rows of numbers: they print as small tables, iterate as named tuples, become a data frame.

    Data classes that inherit it are made with ``repr=False``.
    """

    @abstractmethod
    def frame_columns(self) -> Mapping[str, Any]:
        """Return the columns of `to_frame`, sequences of the same length."""

    @abstractmethod
    def printed_parts(self) -> Sequence[str | Layout]:
        """Return the lines and tables to be printed, in order."""

    def to_frame(self) -> "pd.DataFrame":
        """Return the result as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.frame_columns())

    def __iter__(self) -> Iterator[Any]:
        columns = self.frame_columns()
        row = namedtuple("Row", columns)  # type: ignore[misc]
        return map(row._make, zip(*columns.values(), strict=True))

    def __getitem__(self, row: int) -> Any:
        return list(self)[row]

    def __str__(self) -> str:
        return "\n".join(
            printable(part, "\n") if isinstance(part, str) else render_text(part).rstrip("\n")
            for part in self.printed_parts()
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "".join(
            f"<p>{escape_html(part)}</p>" if isinstance(part, str) else render_html(part)
            for part in self.printed_parts()
        )


def rows_to_columns(rows: Iterable[Sequence[Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the columns of rows, which may be none."""
    table = list(rows)
    return {name: [row[at] for row in table] for at, name in enumerate(names)}


def short_name(name: object, n_letters: int = _MAX_NAME) -> str:
    r"""Return a name on one line, without the middle if it is longer than `n_letters`.

    >>> short_name("width\nof petals"), len(short_name("x" * 300))
    ('width\\nof petals', 40)
    """
    text = printable(name)
    if len(text) <= n_letters:
        return text
    head = n_letters * 2 // 3
    return f"{text[:head]}…{text[head + 1 - n_letters :]}"


def measure_name(n_classes: int) -> str:
    """Return what MAUC is called for so many classes: of two it is the AUC.

    >>> measure_name(2), measure_name(3)
    ('AUC', 'MAUC')
    """
    return "AUC" if n_classes == 2 else "MAUC"


def number(value: float, form: str = ".4f", missing: str = "-") -> str:
    """Return a number as it is shown, `missing` for NaN; what is rounded to zero has no minus.

    >>> number(-0.00001), number(-0.00001, "+.2f"), number(-0.5)
    ('0.0000', '+0.00', '-0.5000')
    """
    return missing if value != value else format(value, form.replace(".", "z.", 1))


def plural(count: int, noun: str) -> str:
    """Return a count and its noun.

    >>> plural(1, "class"), plural(2, "class"), plural(12000, "row")
    ('1 class', '2 classes', '12,000 rows')
    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"


def first_rows(n_rows: int, chosen: Sequence[int] = ()) -> list[int]:
    """Return which of many rows are shown: all, or `MAX_ROWS` evenly spread and those `chosen`.

    >>> first_rows(3), len(first_rows(100, [50]))
    ([0, 1, 2], 21)
    """
    if n_rows <= MAX_ROWS:
        return list(range(n_rows))
    spread = {round(at * (n_rows - 1) / (MAX_ROWS - 1)) for at in range(MAX_ROWS)}
    return sorted(spread | set(chosen))
