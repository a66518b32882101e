"""Columns of a data frame whose types differ: converted a block at a time, never all at once."""

import numpy as np

_POLARS_TYPES = (
    "Boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64",
    "Float32", "Float64",
)  # fmt: skip


class FrameColumns:
    """The numbers of a data frame, of pandas or polars, as they lie there.

    Behaves like a matrix of the common type of all columns in what `Problem` and its readers
    need: `shape`, `dtype` and ``[:, chosen]``, which makes an array.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
        For which `has_number_columns`.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
        Type that holds the values of all columns; float64 where booleans meet numbers, as in
        scikit-learn.
    """

    def __init__(self, frame):
        self._frame = frame
        self._is_polars = hasattr(frame, "with_columns")
        self.shape = frame.shape
        self._types = [self.column(j).dtype for j in range(frame.shape[1])]
        self.dtype = _common_type(set(self._types))

    def column(self, j):
        """Return the values of one column, without a copy where the frame allows it."""
        if self._is_polars:
            values = self._frame.to_series(j).to_numpy()
            # Booleans, some of them missing, are objects.
            return values.astype(np.float64) if values.dtype.kind == "O" else values
        return self._frame.iloc[:, j].to_numpy()

    def block(self, chosen):
        """Return columns in the narrowest type that holds their values.

        Parameters
        ----------
        chosen : slice or sequence of int

        Returns
        -------
        XT : ndarray of shape (n_chosen, n_samples)
        """
        places = np.arange(self.shape[1])[chosen]
        types = {self._types[j] for j in places}
        # The type must not decide how values are rounded: that would depend on the block.
        dtype = _float_type(types) if self.dtype.kind == "f" else np.result_type(*types)
        return self._fill(places, dtype)

    def __getitem__(self, key):
        """Return ``[:, chosen]`` as an array of the common type."""
        rows, chosen = key
        if rows != slice(None):
            raise IndexError("rows of a data frame are taken all together.")
        return self._fill(np.arange(self.shape[1])[chosen], self.dtype).T

    def _fill(self, places, dtype):
        if not self._is_polars and len(places) and _is_run(places):
            first, last = places[0], places[-1]
            if set(self._types[first : last + 1]) == {dtype}:  # often a view of the frame
                return self._frame.iloc[:, first : last + 1].to_numpy().T
        if len(places) == 1 and self._types[places[0]] == dtype:
            return self.column(places[0])[np.newaxis]
        out = np.empty((len(places), self.shape[0]), dtype)
        for values, j in zip(out, places, strict=True):
            values[:] = self.column(j)
        return out


def has_number_columns(frame):
    """Whether columns of a data frame are better read one by one: numbers of several types.

    A pandas frame of one type is an array already; a polars frame never is.
    """
    if hasattr(frame, "with_columns"):
        return frame.shape[1] > 0 and all(str(kind) in _POLARS_TYPES for kind in frame.dtypes)
    kinds = set(frame.dtypes)
    return len(kinds) > 1 and all(
        isinstance(kind, np.dtype) and kind.kind in "biuf" and kind.itemsize <= 8 for kind in kinds
    )


def _common_type(types):
    if len(types) > 1 and np.dtype(bool) in types:
        return np.dtype(np.float64)
    return np.result_type(*types)


def _float_type(types):
    """Return the narrowest type of uint8, float32 and float64 that holds the values of all."""
    if types <= {np.dtype(bool), np.dtype(np.uint8)}:
        return np.dtype(np.uint8)
    is_narrow = all(
        kind.itemsize <= 2 or (kind.kind == "f" and kind.itemsize == 4) for kind in types
    )
    return np.dtype(np.float32 if is_narrow else np.float64)


def _is_run(places):
    return places[-1] - places[0] + 1 == len(places) and (np.diff(places) == 1).all()
