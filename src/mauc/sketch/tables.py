"""What a sketch is given: arrays, sparse matrices, frames and sources in, columns out."""

from concurrent.futures import ThreadPoolExecutor
from copy import copy

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mauc.data.columns import default_names, is_frame
from mauc.data.frames import FrameColumns, has_number_columns
from mauc.data.validate import as_mauc_error, check_no_missing_label, check_table, encode_labels
from mauc.engine.arrays import take_columns
from mauc.exceptions import MaucError, MaucTypeError
from mauc.progress import track
from mauc.sketch.refining import Column
from mauc.sketch.values import sketch_columns

_PART_SHARE = 4  # of the memory, for the rows that are counted and for those that are read ahead


class ColumnList:
    """Columns of numbers of any types, side by side, as a source reads them.

    Parameters
    ----------
    values : list of ndarray of shape (n_rows,)
    columns : list of str
        Their names.
    """

    def __init__(self, values, columns):
        self._values, self.columns = values, columns
        self.shape = (len(values[0]), len(values))

    def column(self, j):
        """Return the values of one column."""
        return self._values[j]

    def __getitem__(self, rows):
        """Return some of the rows, a slice."""
        return ColumnList([values[rows] for values in self._values], self.columns)


class Rows:
    """Rows of a table with their labels, checked.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)

    Attributes
    ----------
    n_rows, n_features : int
    feature_names : ndarray of str, or None
    classes : ndarray
        The labels, sorted.
    codes : ndarray of shape (n_rows,), int32
        Class of each row, as a place in `classes`.
    is_sparse : bool
    """

    def __init__(self, X, y):
        holder = BaseEstimator()  # is given the names of the columns
        self._frame = None
        if isinstance(X, ColumnList) or (is_frame(X) and has_number_columns(X)):
            check_no_missing_label(y)
            stand_in = np.broadcast_to(np.float64(0.0), X.shape)  # takes no memory
            _, y = check_table(stand_in, y, keep_dates=True)
            self._frame, names = X, [str(name) for name in X.columns]
            X = X if isinstance(X, ColumnList) else FrameColumns(X)
        else:
            X, y = check_table(
                X, y, estimator=holder, accept_sparse="csc", accept_infinite=True,
                dtype="numeric", keep_dates=True,
            )  # fmt: skip
            names = getattr(holder, "feature_names_in_", None)
        if sparse.issparse(X):
            X = sparse.csc_array(X, copy=not X.has_canonical_format)
            X.sum_duplicates()
        self._X = X
        self.n_rows, self.n_features = X.shape
        self.feature_names = None if names is None else np.array(names, dtype=object)
        self.classes, self.codes, _ = encode_labels(np.asarray(y), min_classes=1)
        self.is_sparse = sparse.issparse(X)

    def part(self, rows):
        """Return some of the rows, a slice."""
        made = copy(self)
        if self._frame is None:
            made._X = self._X[rows]
        else:
            frame = self._frame
            made._frame = frame.iloc[rows] if hasattr(frame, "iloc") else frame[rows]
            is_list = isinstance(frame, ColumnList)
            made._X = made._frame if is_list else FrameColumns(made._frame)
        made.codes = self.codes[rows]
        made.n_rows = len(made.codes)
        return made

    def block(self, chosen):
        """Return dense columns as floats and which of them are rounded, see `sketch_columns`."""
        if self._frame is None:
            return sketch_columns(take_columns(self._X, chosen))
        parts = [
            sketch_columns(self._X.column(j)[np.newaxis])
            for j in range(chosen.start, chosen.stop)
        ]  # fmt: skip
        kind = np.result_type(*(values.dtype for values, _ in parts))
        XT = np.concatenate([values.astype(kind, copy=False) for values, _ in parts])
        return XT, np.array([flag[0] for _, flag in parts], bool)

    def columns(self, chosen, codes, class_counts):
        """Yield the columns of a block.

        Parameters
        ----------
        chosen : slice
        codes : ndarray of shape (n_rows,), int32
            Classes of the rows.
        class_counts : ndarray of shape (n_classes,), int64

        Yields
        ------
        column : Column
        """
        n_classes = len(class_counts)
        if not self.is_sparse:
            for values, is_rounded in zip(*self.block(chosen), strict=True):
                yield Column(values, codes, n_classes, None, bool(is_rounded))
            return
        X = self._X
        for j in range(chosen.start, chosen.stop):
            part = slice(X.indptr[j], X.indptr[j + 1])
            values, is_rounded = sketch_columns(X.data[np.newaxis, part])
            of_stored = codes[X.indices[part]]
            zeros = class_counts - np.bincount(of_stored, minlength=n_classes)
            yield Column(values[0], of_stored, n_classes, zeros, bool(is_rounded[0]))


class BufferedRows:
    """Rows that wait until there are enough to choose bins by.

    Like `Rows`, of several parts that are copied as floats.
    """

    is_sparse = False

    def __init__(self):
        self.parts, self.codes = [], []
        self.n_rows, self.n_features = 0, 0
        self._is_rounded = None

    def add(self, rows, codes):
        """Copy rows; their classes are `codes`."""
        XT, is_rounded = rows.block(slice(0, rows.n_features))
        self.parts.append(np.array(XT))
        self.codes.append(codes)
        self.n_rows += rows.n_rows
        self.n_features = rows.n_features
        self._is_rounded = is_rounded if self._is_rounded is None else self._is_rounded | is_rounded

    @property
    def nbytes(self):
        """Bytes of the rows."""
        return sum(part.nbytes for part in self.parts)

    def part(self, rows):
        """Return some of the rows, a slice of all."""
        made = BufferedRows()
        made.parts = [np.concatenate(self.parts, axis=1)[:, rows]]
        made.codes = [self.all_codes()[rows]]
        made.n_rows, made.n_features = len(made.codes[0]), self.n_features
        made._is_rounded = self._is_rounded
        return made

    def all_codes(self):
        """Return the classes of all rows."""
        return np.concatenate(self.codes)

    def move_classes(self, places):
        """Write the class k of all rows as ``places[k]``."""
        self.codes = [places[codes] for codes in self.codes]

    def extend(self, other, places):
        """Add the rows of another buffer, its class k as ``places[k]``."""
        for part, codes in zip(other.parts, other.codes, strict=True):
            self.parts.append(part)
            self.codes.append(places[codes])
        self.n_rows += other.n_rows
        if other.n_rows:
            self.n_features = other.n_features
            flags = other._is_rounded
            self._is_rounded = flags if self._is_rounded is None else self._is_rounded | flags

    def copy(self):
        """Return another buffer of the same rows."""
        made = BufferedRows()
        made.parts, made.codes = list(self.parts), list(self.codes)
        made.n_rows, made.n_features = self.n_rows, self.n_features
        made._is_rounded = self._is_rounded
        return made

    def columns(self, chosen, codes, class_counts):
        """Yield the columns of a block, see `Rows.columns`."""
        for j in range(chosen.start, chosen.stop):
            kind = np.result_type(*(part.dtype for part in self.parts))
            values = np.concatenate([part[j].astype(kind, copy=False) for part in self.parts])
            values.flags.writeable = False
            yield Column(values, codes, len(class_counts), None, bool(self._is_rounded[j]))


def join_classes(first, second):
    """Return the sorted union of two sorted arrays of labels, and the places of both in it."""
    if len(first) == 0:
        return second, np.empty(0, np.int32), np.arange(len(second), dtype=np.int32)
    if first.dtype.kind != second.dtype.kind and "O" not in (first.dtype.kind + second.dtype.kind):
        is_number = first.dtype.kind in "biuf" and second.dtype.kind in "biuf"
        if not is_number:
            raise MaucTypeError(
                f"y must hold labels of one kind, got {second.dtype} after {first.dtype}."
            )
    try:
        classes = np.union1d(first, second)
    except TypeError as error:
        raise as_mauc_error(error) from error
    places = (np.searchsorted(classes, labels).astype(np.int32) for labels in (first, second))
    return classes, *places


def check_known(labels, classes):
    """Raise unless all labels are among the classes."""
    is_new = ~np.isin(labels, classes)
    if is_new.any():
        shown = ", ".join(repr(label) for label in np.asarray(labels)[is_new][:3].tolist())
        raise MaucError(
            f"y must hold the labels of classes alone, got {shown}; name all labels in classes, "
            f"or give None to take those that come."
        )


def parts_of_rows(source):
    """Return the ranges of rows that are read at once: two of them take half of the memory."""
    return source.parts_within(source.memory // _PART_SHARE)


def source_parts(source, y):
    """Yield ``(X, y)`` for the parts of the rows of a source, the next one read ahead.

    Parameters
    ----------
    source : ColumnSource
    y : array-like of shape (n_rows,)
    """
    labels = np.asarray(y)
    if len(labels) != source.shape[0]:
        raise MaucError(
            f"{source.name} has {source.shape[0]} rows, but y has {len(labels)} labels."
        )  # fmt: skip
    names = source.feature_names
    columns = default_names(range(source.shape[1])) if names is None else list(names)
    if source.is_text.any():
        raise MaucError(
            f"{source.name}: column {columns[int(np.argmax(source.is_text))]!r} holds words, which "
            f"have no order to sketch; leave it out (drop), or read the data by columns."
        )
    places = np.arange(source.shape[1])
    parts = parts_of_rows(source)
    row_bytes = sum(kind.itemsize for kind in source.types)
    sizes = [row_bytes * (stop - start) for start, stop in parts]
    with ThreadPoolExecutor(1, "mauc-read") as reader:
        waiting = None
        for at, part in enumerate(track(parts, "parts of rows", n_bytes=sizes)):
            values = (waiting or reader.submit(source.read_rows, *part, places)).result()
            waiting = None
            if at + 1 < len(parts):
                waiting = reader.submit(source.read_rows, *parts[at + 1], places)
            yield ColumnList(values, columns), labels[part[0] : part[1]]
    source.check_unchanged()
