"""What a sketch is given as X: arrays, sparse matrices and data frames in, blocks of columns out."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mauc.auc.sketch.refining import Column
from mauc.auc.sketch.values import sketch_columns
from mauc.exceptions import MaucError, MaucTypeError
from mauc.problem.columns import is_frame, take_columns
from mauc.problem.frame_columns import FrameColumns, has_number_columns
from mauc.problem.validate import as_mauc_error, check_no_missing_label, check_table, encode_labels


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
        if is_frame(X) and has_number_columns(X):
            check_no_missing_label(y)
            stand_in = np.broadcast_to(np.float64(0.0), X.shape)  # takes no memory
            _, y = check_table(stand_in, y, keep_dates=True)
            X, names = FrameColumns(X), [str(name) for name in X.columns]
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

    def block(self, chosen):
        """Return dense columns as floats and which of them are rounded, see `sketch_columns`."""
        if not isinstance(self._X, FrameColumns):
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
