"""Count the rows below the data of a table, such as a total or a source.

A word such as "Total" alone does not tell: it may be the name of a brand or of a class. A last row
is left out only where it cannot be data as well: it has more or fewer cells than there are columns,
it has nothing but a note, it has no label, or its numbers are the sums or means of the columns.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mauc.exceptions import option
from mauc.io.lines import NUMBER, first_text, footer_kind
from mauc.io.words import MISSING, MISSING_LABELS

MAX_FOOTERS = 50  # last rows that are judged; where all of them look like footers, they are data
_LISTED = 5  # rows that a note names
_NO_LABEL = {*MISSING, "-"}  # what programs write below a column that has no total


@dataclass(frozen=True)
class FooterRule:
    """What tells the last rows of a table that are not data."""

    n_columns: int
    label: int | None  #: the column with the labels
    missing: Collection[str]  #: further words that stand for a missing value
    decimal: str
    thousands: str | None
    read_rows: Callable[[], Iterable[Sequence[str]]]  #: all rows below the names

    def count(self, rows: Sequence[Sequence[str]]) -> int:
        """Return how many of the last rows are not data, blank ones beside them as well."""
        rows, n_last, has_footer = rows[-MAX_FOOTERS:], 0, False
        kinds = [footer_kind(cells) for cells in rows]
        for cells, kind in zip(reversed(rows), reversed(kinds), strict=True):
            if kind and self._is_footer(cells, kind, is_only=kinds.count(kind) == 1):
                has_footer = True
            elif any(map(str.strip, cells)):
                break
            n_last += 1
        return n_last if has_footer and n_last < MAX_FOOTERS else 0

    def _is_footer(self, cells: Sequence[str], kind: str, *, is_only: bool) -> bool:
        """Whether a row that begins as a footer is one, of those of its kind perhaps the only."""
        if len(cells) != self.n_columns:
            return True
        is_note = kind == "note"
        is_alone = sum(map(bool, map(str.strip, cells))) == 1
        if self.label is None:
            return is_alone if is_note else is_only and self._adds_up(cells)
        label = cells[self.label].strip()
        if is_alone or label in {*MISSING_LABELS, *self.missing}:
            return True
        return not is_note and is_only and self._adds_up(cells)

    def _adds_up(self, cells: Sequence[str]) -> bool:
        """Whether the numbers of a row are the sums or means of their columns, the label's too."""
        numbers = enumerate(map(self._number, cells))
        totals = {j: value for j, value in numbers if value is not None}
        word = first_text(cells)
        is_number = self.label is None or self.label in totals
        if not is_number and cells[self.label or 0].strip() not in {*_NO_LABEL, word}:
            return False
        sums, sizes, counts = (dict.fromkeys(totals, 0.0) for _ in range(3))
        n_same = 0  # rows of this word, itself as well
        for row in self.read_rows():
            if len(row) != self.n_columns or footer_kind(row):
                n_same += first_text(row) == word
                continue
            for j in totals:
                value = self._number(row[j])
                if value is not None:
                    sums[j], sizes[j], counts[j] = (
                        sums[j] + value,
                        sizes[j] + abs(value),
                        counts[j] + 1,
                    )
                elif row[j].strip() not in {*MISSING, *self.missing}:
                    return False  # a column of words
        if n_same > 1 or not any(totals.values()) or max(counts.values()) < 2:
            return False
        for j, total in totals.items():
            share = 1 / max(1, counts[j]) if footer_kind(cells) == "mean" else 1.0
            n_digits = len(cells[j].strip().partition(self.decimal)[2])
            error = abs(sums[j] * share - total)
            if not error <= 0.51 * 10.0**-n_digits + 1e-9 * sizes[j] < np.inf:
                return False
        return True

    def _number(self, text: str) -> float | None:
        text = text.strip()
        text = text.replace(self.thousands, "") if self.thousands else text
        text = text.replace(self.decimal, ".")
        return float(text) if re.fullmatch(NUMBER, text) else None


def footers_note(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Return the note on rows that were left out, each a place such as "line 3" and its text."""
    if not rows:
        return []
    what, them = ("a footer row", "it") if len(rows) == 1 else (f"{len(rows)} footer rows", "them")
    listed = ", ".join(f"{where} {text[:60]!r}" for where, text in rows[:_LISTED])
    more = f" and {len(rows) - _LISTED} more" if len(rows) > _LISTED else ""
    kept = option("skip_rows", 0)
    return [f"{what} below the data left out: {listed}{more}; {kept} keeps {them}"]
