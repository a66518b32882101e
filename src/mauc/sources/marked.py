"""Columns of a source that are nominal although they hold numbers."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mauc.data.source import ColumnSource
from mauc.sources.arrow_types import WORDS


class MarkedColumns(ColumnSource):
    """A source some of whose columns are read as categories.

    Parameters
    ----------
    source : ColumnSource
    marked : iterable of int
        Places of the columns.
    """

    def __init__(self, source: ColumnSource, marked: Iterable[int]) -> None:
        self._source, self._marked = source, frozenset(int(j) for j in marked)
        self._read_like(source)
        types = [WORDS if j in self._marked else kind for j, kind in enumerate(source.types)]
        super().__init__(
            source.name, source.shape[0], types, feature_names=source.feature_names,
            memory=source.memory,
        )  # fmt: skip
        self.widths = np.maximum(self.widths, source.widths)

    def read(self, places: np.ndarray[Any, Any]) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return self._mark(places, self._source.read(places))

    def read_rows(self, start: int, stop: int, places: np.ndarray[Any, Any]) -> list[Any]:
        """Read some rows of columns."""
        return self._mark(places, self._source.read_rows(start, stop, places))

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows that are cheap to read one by one."""
        return self._source.row_parts()

    def check_unchanged(self) -> None:
        """Raise if a file changed since the source was opened."""
        self._source.check_unchanged()

    def _mark(self, places: np.ndarray[Any, Any], columns: list[Any]) -> list[Any]:
        import pandas

        return [
            pandas.Series(pandas.Categorical(column)) if int(j) in self._marked else column
            for j, column in zip(places, columns, strict=True)
        ]
