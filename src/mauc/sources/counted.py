"""Rows that pass by, counted: columns that prove to be nearly empty are named in the end."""

import threading
from typing import Any

import numpy as np

from mauc.data.source import ColumnSource
from mauc.datasets.left_out import MIN_ROWS, empty_reason
from mauc.exceptions import LateLeftOutError


class CountedRows(ColumnSource):
    """A source that is read once, by parts of its rows, and counts their known values.

    Parameters
    ----------
    source : ColumnSource
        Columns of numbers.
    """

    def __init__(self, source: ColumnSource) -> None:
        self._source = source
        self._read_like(source)
        self._lock = threading.Lock()
        self._n_known = np.zeros(source.shape[1], np.int64)
        super().__init__(
            source.name, source.shape[0], source.types, feature_names=source.feature_names,
            memory=source.memory,
        )  # fmt: skip

    def read(self, places: np.ndarray[Any, Any]) -> list[Any]:
        """Read whole columns; they are not counted."""
        return self._source.read(places)

    def read_rows(self, start: int, stop: int, places: np.ndarray[Any, Any]) -> list[Any]:
        """Read some rows of columns."""
        columns = self._source.read_rows(start, stop, places)
        known = [
            int(np.count_nonzero(values == values)) if values.dtype.kind in "fmM" else len(values)
            for values in columns
        ]
        with self._lock:
            self._n_known[places] += known
        return columns

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows that are cheap to read one by one."""
        return self._source.row_parts()

    def check_unchanged(self) -> None:
        """Raise if a file changed since the source was opened."""
        self._source.check_unchanged()

    def check_known(self) -> None:
        """Raise a `LateLeftOutError` for the first column that is nearly empty."""
        n_rows = self.shape[0]
        if n_rows < MIN_ROWS or self.feature_names is None:
            return
        for name, n_known in zip(self.feature_names, self._n_known.tolist(), strict=True):
            reason = empty_reason(n_known, n_rows)
            if reason is not None:
                raise LateLeftOutError(
                    f"{self.name}: column {name!r} is no feature ({reason}), though its first rows "
                    f"look like one; leave it out (drop={name!r}), or keep it (keep_ids=True)."
                )
