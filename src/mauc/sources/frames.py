"""Columns of data frames and sparse matrices in memory, as sources have them."""

from typing import Any

import numpy as np
from scipy import sparse

from mauc.data.categories import find_nominal, get_column
from mauc.data.frames import pandas_values, polars_values
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError
from mauc.sources.arrow_types import WORDS

Array = np.ndarray[Any, Any]


class FrameSource(ColumnSource):
    """Columns of a data frame of pandas or polars.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
    memory : int, optional
    """

    def __init__(self, frame: Any, *, memory: int | None = None) -> None:
        self._frame = frame
        self._is_word = find_nominal(frame)
        types = [
            WORDS if word else column_values(get_column(frame, j)[:0]).dtype
            for j, word in enumerate(self._is_word)
        ]
        super().__init__(
            "the data frame", frame.shape[0], types, feature_names=list(frame.columns),
            memory=memory,
        )  # fmt: skip

    def read(self, places: Array) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return self.read_rows(0, self.shape[0], places)

    def read_rows(self, start: int, stop: int, places: Array) -> list[Any]:
        """Read some rows of columns."""
        found = []
        for j in places:
            column = get_column(self._frame, int(j))[start:stop]
            found.append(as_words(column) if self._is_word[j] else column_values(column))
        return found


class SparseSource(ColumnSource):
    """Columns of a sparse matrix, which are made dense as they are read.

    Parameters
    ----------
    matrix : sparse matrix of shape (n_samples, n_features)
    memory : int, optional
    """

    def __init__(self, matrix: Any, *, memory: int | None = None) -> None:
        self._matrix = sparse.csc_array(matrix)
        super().__init__(
            "the sparse matrix", matrix.shape[0], [matrix.dtype] * matrix.shape[1], memory=memory
        )

    def read(self, places: Array) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return list(self._matrix[:, np.asarray(places)].toarray(order="F").T)


def column_values(column: Any) -> Array:
    """Return a column of numbers or dates of a data frame as an array.

    Parameters
    ----------
    column : Series of pandas or polars
    """
    is_polars = not hasattr(column, "iloc")
    values: Array = polars_values(column) if is_polars else pandas_values(column)
    if values.dtype.kind in "biufmM":
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise MaucError(
            f"column {column.name!r} has the type {column.dtype}, which is neither a number, a "
            f"date nor words; leave it out (drop={column.name!r})."
        ) from error


def as_words(column: Any) -> Any:
    """Return a column of words or categories as a pandas Series."""
    import pandas

    if hasattr(column, "iloc"):
        return column.reset_index(drop=True)
    return pandas.Series(pandas.Categorical(column.cast(str).to_list()))
