"""Turn what a user has into a Problem: the only place that looks at user types."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from mauc.exceptions import ConstantInputWarning, MaucError, SmallClassWarning, listed, warn_user
from mauc.problem.columns import float_columns, ordered_columns, ordered_entries
from mauc.problem.layout import read_only
from mauc.problem.nominal import encode_nominal, missing_mask

# A block of columns is sized so that what is made of it stays in the second-level cache, and
# so that the wins of many classes stay small.
_BLOCK_BYTES = 2**20
_BLOCK_SCORES = 2**20


@dataclass(frozen=True)
class Problem:
    """A validated classification problem.

    Parameters
    ----------
    X : ndarray or csc_array of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,), int32
        Class of each sample, as a place in `classes`.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts : ndarray of shape (n_classes,), int64
    sample_weight : ndarray of shape (n_samples,), float64, or None
    feature_names : ndarray of shape (n_features,), or None
    is_nominal : ndarray of shape (n_features,), bool, or None
        Columns that hold category codes.
    """

    X: np.ndarray | sparse.csc_array
    codes: np.ndarray
    classes: np.ndarray
    class_counts: np.ndarray
    sample_weight: np.ndarray | None = None
    feature_names: np.ndarray | None = None
    is_nominal: np.ndarray | None = None

    @property
    def n_samples(self):
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self):
        """Number of columns."""
        return self.X.shape[1]

    @property
    def n_classes(self):
        """Number of classes."""
        return len(self.classes)

    @property
    def is_sparse(self):
        """Whether `X` is a sparse matrix."""
        return sparse.issparse(self.X)

    @cached_property
    def class_weights(self):
        """Total weight of each class, float64; the class counts where there are no weights."""
        if self.sample_weight is None:
            return self.class_counts.astype(np.float64)
        return np.bincount(self.codes, self.sample_weight, minlength=self.n_classes)

    @cached_property
    def most_wins(self):
        """Return 2 n_i n_j of every class pair, weights in place of counts if there are any."""
        first, second = np.triu_indices(self.n_classes, 1)
        return 2 * self.class_weights[first] * self.class_weights[second]

    @cached_property
    def by_class(self):
        """Samples sorted by class: their order, the start of each class, their weights."""
        return group_by_class(self.codes, self.n_classes, self.sample_weight)

    def blocks(self, n_scores: int = 1) -> Iterator[slice]:
        """Cut the columns into blocks.

        The cut depends on the shape of the problem alone, never on the number of threads.

        Parameters
        ----------
        n_scores : int, default=1
            Scores that will be held for each column.
        """
        by_size = _BLOCK_BYTES // (self.X.dtype.itemsize * self.n_samples)
        width = max(1, min(by_size, _BLOCK_SCORES // n_scores, 64))
        if self.is_sparse:
            width = max(1, min(_BLOCK_SCORES // n_scores, 256))
        for start in range(0, self.n_features, width):
            yield slice(start, min(start + width, self.n_features))

    def ordered_columns(self, chosen) -> np.ndarray:
        """Return columns for kernels that look at the order of values alone.

        Returns
        -------
        XT : ndarray of shape (n_chosen, n_samples), uint8, float32 or float64
            Read-only and contiguous, one column a row; a view of `X` where it can be one.
        """
        return ordered_columns(self._dense_columns(chosen))

    def float_columns(self, chosen) -> np.ndarray:
        """Return columns for kernels that look at values, as float32 or float64."""
        return float_columns(self._dense_columns(chosen))

    def _dense_columns(self, chosen):
        block = self.X[:, chosen]
        return block.toarray().T if self.is_sparse else block.T

    def stored_columns(self, chosen):
        """Return columns of a sparse `X` for kernels that look at the order of values alone.

        Returns
        -------
        data : ndarray, float64
        indices : ndarray, int32
        indptr : ndarray of shape (n_chosen + 1,), int64
            All read-only: the parts of a CSC matrix without duplicate entries.
        """
        part = self.X[:, chosen]
        arrays = (
            ordered_entries(part.data),
            np.ascontiguousarray(part.indices, dtype=np.int32),
            np.ascontiguousarray(part.indptr, dtype=np.int64),
        )
        return tuple(read_only(array) for array in arrays)


def make_problem(
    estimator, X, y, sample_weight=None, *,
    accept_sparse=True, accept_infinite=True, accept_nominal=False,
):  # fmt: skip
    """Validate the arguments of ``fit`` and encode the labels.

    Missing values of X are let through.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and ``feature_names_in_``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
    accept_sparse : bool, default=True
    accept_infinite : bool, default=True
    accept_nominal : bool, default=False
        Whether columns of a categorical dtype, and those that the estimator's
        ``categorical_features`` names, are encoded and marked as nominal.

    Returns
    -------
    problem : Problem
    """
    if y is None:
        raise MaucError("this selector requires y to be passed, but the target y is None.")
    _check_no_missing_label(y)
    is_nominal = None
    if accept_nominal:
        X, is_nominal = encode_nominal(X, estimator.categorical_features)
    try:
        checked, y = validate_data(
            estimator, X, y,
            accept_sparse="csc" if accept_sparse else False,
            dtype="numeric", ensure_all_finite=False if accept_infinite else "allow-nan",
        )  # fmt: skip
        if not sparse.issparse(checked) and checked.dtype.kind not in "biuf":
            checked = checked.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise _explain_bad_column(X, error, accept_nominal) from error
    X = checked
    classes, codes, class_counts = encode_labels(y)
    if sample_weight is not None:
        sample_weight = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        _check_class_weights(classes, codes, sample_weight)
    if sparse.issparse(X):
        X = sparse.csc_array(X, copy=not X.has_canonical_format)
        X.sum_duplicates()
    problem = Problem(
        X=X,
        codes=codes,
        classes=classes,
        class_counts=class_counts,
        sample_weight=sample_weight,
        feature_names=getattr(estimator, "feature_names_in_", None),
        is_nominal=is_nominal,
    )
    _warn_about(problem)
    return problem


def encode_labels(y):
    """Return the sorted classes, the class codes and the class counts of the labels."""
    check_classification_targets(y)
    classes, codes, class_counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise MaucError(
            f"y must hold at least 2 classes to tell apart, got one class: {listed(classes)}."
        )
    return classes, codes.astype(np.int32), class_counts.astype(np.int64)


def _check_no_missing_label(y):
    values = np.asarray(y)
    if values.dtype.kind == "O" and values.ndim == 1:
        is_missing = missing_mask(values)
        if is_missing.any():
            raise MaucError(
                f"y must hold a label for every sample, but it contains NaN or None "
                f"(first at position {int(np.argmax(is_missing))}); "
                f"drop those rows or give them a label."
            )


def _explain_bad_column(X, error, accept_nominal):
    """Name the first column of a data frame that is not numeric, if there is one."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return error
    for j, name in enumerate(X.columns):
        column = X.iloc[:, j] if hasattr(X, "iloc") else X[name]
        values = np.asarray(column)
        try:
            if values.dtype.kind in "mM":
                raise TypeError
            values.astype(np.float64)
        except (TypeError, ValueError):
            advice = (
                "give it a categorical dtype or name it in categorical_features, or drop it"
                if accept_nominal
                else "encode or drop it first (for example with "
                "sklearn.preprocessing.OrdinalEncoder or OneHotEncoder)"
            )
            return MaucError(
                f"X must be numeric, but column {name!r} has dtype {column.dtype} with values "
                f"such as {values[:1].tolist()[0]!r}; {advice}."
            )
    return error


def _check_class_weights(classes, codes, sample_weight):
    totals = np.bincount(codes, sample_weight)
    if (totals <= 0).any():
        raise MaucError(
            f"sample_weight must give every class a positive total, "
            f"got 0 for class {listed(classes[totals <= 0][:1])}."
        )


def _warn_about(problem):
    single = problem.classes[problem.class_counts == 1]
    if len(single):
        warn_user(
            f"{len(single)} of {problem.n_classes} classes have a single sample "
            f"({listed(single)}): what is measured on them rests on that sample alone.",
            SmallClassWarning,
        )
    if _is_all_constant(problem):
        warn_user(
            "every feature is constant or missing: none tells classes apart, and features are "
            "chosen by their order.",
            ConstantInputWarning,
        )


def _is_all_constant(problem):
    # The first column that varies settles it, and nearly always that is the first one.
    is_constant = _is_constant_sparse if problem.is_sparse else _is_constant_dense
    return all(is_constant(problem.X, j) for j in range(problem.n_features))


def _is_constant_dense(X, j):
    column = X[:, j]
    known = column[column == column]
    return len(known) == 0 or bool((known == known[0]).all())


def _is_constant_sparse(X, j):
    stored = X.data[X.indptr[j] : X.indptr[j + 1]]
    is_full = len(stored) == X.shape[0]
    known = stored[stored == stored]
    if len(known) == 0:
        return True
    return bool((known == (known[0] if is_full else 0)).all())


def group_by_class(y, n_classes, sample_weight=None):
    """Sort the samples by class, keeping their order within a class.

    Reading a feature class by class needs sums in registers only; adding to the sums of
    ``y[i]`` waits for the store before it.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), int32
    n_classes : int
    sample_weight : ndarray of shape (n_samples,) or None

    Returns
    -------
    order : ndarray of uint32
        Samples, class after class; those of weight 0 are left out.
    starts : ndarray of shape (n_classes + 1,), int64
        Class k is ``order[starts[k]:starts[k + 1]]``.
    weights : ndarray of float64
        Weight of ``order[i]``, or empty where all weights are 1.
    """
    order = np.argsort(y, kind="stable").astype(np.uint32)
    weights = np.empty(0, dtype=np.float64)
    if sample_weight is not None:
        order = order[sample_weight[order] > 0]
        weights = np.ascontiguousarray(sample_weight[order], dtype=np.float64)
    counts = np.bincount(y[order], minlength=n_classes)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return order, starts, weights
