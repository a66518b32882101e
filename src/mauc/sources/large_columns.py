"""Judge columns that do not fit into memory: parts of the rows in, why they are no features out."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mauc.data.columns import MAX_EXACT_INTEGER, as_floats
from mauc.data.source import ColumnSource
from mauc.datasets.left_out import (
    MIN_DISTINCT,
    category_reason,
    empty_reason,
    is_date_number,
    is_id_name,
)
from mauc.exceptions import MaucError

_ROW_BYTES = 48  # that judging a column takes beside it, as sorting it does
_WORD_BYTES = 128  # of a distinct text that is held
_SHARE = 4  # of the memory, for what is held
Array = np.ndarray[Any, Any]


def is_large(source: ColumnSource, place: int) -> bool:
    """Whether a column and the work on it take more than the memory of a source."""
    width = source.types[place].itemsize
    return bool(source.shape[0] * (3 * width + _ROW_BYTES) > source.memory)


def reason_by_parts(source: ColumnSource, place: int, name: str) -> str | None:
    """Return why a column is no feature, as `column_reason` does, from parts of its rows.

    Parameters
    ----------
    source : ColumnSource
    place : int
    name : str
    """
    if source.types[place].kind in "Ob":
        return _word_reason(source, place, name)
    summary = _Summary(name, is_nameless=name == f"column{place + 1}")
    for values in _parts(source, place):
        summary.add(as_floats(values) if values.dtype.char in "?mg" else values)
        if summary.is_feature(source.shape[0]):
            return None
    return summary.reason(source, place)


def _parts(source: ColumnSource, place: int) -> Iterator[Any]:
    most = max(1, source.memory // (_SHARE * (source.types[place].itemsize + _ROW_BYTES)))
    for begin, end in source.row_parts():
        for start in range(begin, end, most):
            yield source.read_rows(start, min(start + most, end), np.array([place]))[0]


class _Summary:
    """What the rules for numbers need to know of the rows so far."""

    def __init__(self, name: str, is_nameless: bool) -> None:
        self._name, self._is_nameless = name, is_nameless
        self.n_known = 0
        self._first: Any = None
        self._last: Any = None  # of all rows, missing ones included
        self._is_constant = self._is_whole = self._is_wide = self._is_date = True
        self._steps_by_one = self._is_rising = self._is_falling = True
        self._is_repeated = False  # a value right behind itself
        self._low, self._high = np.inf, -np.inf
        self._start: Any = None

    def add(self, values: Array) -> None:
        """Take the next rows."""
        if len(values) == 0:
            return
        before = values[:0] if self._last is None else np.array([self._last], values.dtype)
        joined = np.concatenate([before, values])
        lower, upper = joined[:-1], joined[1:]
        if self._start is None:
            self._start = values[0]
        self._last = values[-1]
        self._steps_by_one &= bool((upper - lower == 1).all())
        self._is_rising &= bool((upper > lower).all())
        self._is_falling &= bool((upper < lower).all())
        self._is_repeated |= bool((upper == lower).any())
        known = values[values == values]
        if len(known) == 0:
            return
        self._first = known[0] if self._first is None else self._first
        self.n_known += len(known)
        self._is_constant &= bool((known == self._first).all())
        self._is_whole &= bool((known == np.floor(known)).all() and np.isfinite(known).all())
        self._is_wide &= bool((np.abs(known.astype(np.float64)) > MAX_EXACT_INTEGER).all())
        self._is_date &= is_date_number(known, self._name)
        self._low, self._high = min(self._low, known.min()), max(self._high, known.max())

    def is_feature(self, n_rows: int) -> bool:
        """Whether no rule can leave the column out any more."""
        may_name = self._is_whole and (self._is_wide or is_id_name(self._name, is_range=True))
        return not (
            self._is_constant or self._steps_by_one or self._is_date or may_name
            or self._is_nameless or empty_reason(self.n_known, n_rows) is not None
        )  # fmt: skip

    def reason(self, source: ColumnSource, place: int) -> str | None:
        """Return why the column is no feature, after all rows."""
        n_rows = source.shape[0]
        may_be_range = self._is_whole and self._high - self._low == self.n_known - 1
        is_range = may_be_range and self._is_distinct(source, place)
        is_named = self._is_nameless or is_id_name(self._name, is_range)
        is_start = self._start == np.round(self._start) and (is_named or self._start in (0, 1))
        if self._steps_by_one and is_start:
            return "numbers the rows"
        empty = empty_reason(self.n_known, n_rows)
        if empty is not None:
            return empty
        if self._is_constant:
            return "constant"
        if self._is_whole and (self._is_wide or is_named) and self._is_distinct(source, place):
            return f"{self.n_known} values in {n_rows} rows"
        return "dates" if self._is_date else None

    def _is_distinct(self, source: ColumnSource, place: int) -> bool:
        """Whether no value occurs twice: in order, or marked in a table of all values between."""
        if self._is_rising or self._is_falling:
            return True
        span = int(self._high) - int(self._low) + 1
        if self._is_repeated or span < self.n_known:
            return False
        if span > source.memory // _SHARE:
            raise MaucError(
                f"{source.name}: within the memory it cannot be told whether column "
                f"{self._name!r} is an identifier; leave it out (drop={self._name!r}), keep it "
                f"(keep_ids=True), or allow more memory."
            )
        is_seen = np.zeros(span, bool)
        for values in _parts(source, place):
            known = values[values == values]
            offsets = (known - known.dtype.type(self._low)).astype(np.int64)
            if is_seen[offsets].any() or len(np.unique(offsets)) < len(offsets):
                return False
            is_seen[offsets] = True
        return True


def _word_reason(source: ColumnSource, place: int, name: str) -> str | None:
    """Judge a column of words by its distinct ones, as long as these fit into memory."""
    from mauc.sources.feature_columns import as_series

    counts: dict[Any, int] = {}
    n_known = 0
    for values in _parts(source, place):
        found = as_series(values, source.types[place]).value_counts()
        for value, count in found[found > 0].items():
            counts[value] = counts.get(value, 0) + int(count)
        n_known = sum(counts.values())
        if len(counts) > source.memory // (_SHARE * _WORD_BYTES):
            if len(counts) >= MIN_DISTINCT * n_known:
                return "more different texts than fit into memory"
            raise MaucError(
                f"{source.name}: column {name!r} has more different texts than fit into the "
                f"memory; leave it out (drop={name!r}), or allow more memory."
            )
    return category_reason(list(counts), np.array(list(counts.values())), source.shape[0])
