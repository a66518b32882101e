"""Make numeric columns discrete: MDL for users as a transformer, all binnings for mRMR."""

from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mauc.binning.subproblem_scores import mdl_cut_points
from mauc.binning.three_states import MAX_BINS, equal_frequency, equal_width, three_states
from mauc.exceptions import MaucError
from mauc.parallel import run_blocks
from mauc.problem.nominal import category_codes
from mauc.problem.problem import make_problem

BINNINGS = ("three_states", "mdl", "equal_width", "equal_frequency", "none")


class MDLDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Discretise features by the supervised MDL method of Fayyad and Irani.

    A feature is cut where the class entropy of the two sides is least, and again on either
    side, as long as the gain pays for the description of the cut. The cut points are those of
    WEKA's supervised Discretize with better encoding, to the bit.

    Parameters
    ----------
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores.

    Attributes
    ----------
    cut_points_ : list of ndarray
        Ascending cut points of each feature; empty if no cut pays.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only for data frames with string column names.

    References
    ----------
    .. [1] U. M. Fayyad, K. B. Irani, "Multi-interval discretization of continuous-valued
       attributes for classification learning", IJCAI 1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import MDLDiscretizer
    >>> X, y = load_iris(return_X_y=True)
    >>> discretizer = MDLDiscretizer().fit(X, y)
    >>> discretizer.cut_points_[3]
    array([0.8 , 1.75])
    >>> discretizer.transform(X[[0, 50, 100]])
    array([[0., 2., 0., 0.],
           [2., 1., 1., 1.],
           [2., 1., 3., 2.]])
    """

    def __init__(self, *, n_jobs=None):
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Find the cut points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data; missing values are left out.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
        """
        problem = make_problem(self, X, y, accept_infinite=False)
        self.cut_points_ = find_cut_points(problem, self.n_jobs)
        self.classes_ = problem.classes
        return self

    def transform(self, X):
        """Replace every value by the number of its bin.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        bins : ndarray of shape (n_samples, n_features)
            0 for values up to the first cut point, and so on; NaN stays NaN.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, reset=False, accept_sparse="csc", dtype="numeric",
            ensure_all_finite="allow-nan",
        )  # fmt: skip
        bins = np.empty(X.shape)
        for j, points in enumerate(self.cut_points_):
            column = X[:, [j]].toarray()[:, 0] if hasattr(X, "toarray") else X[:, j]
            bins[:, j] = _bins_of(column, points)
        return bins

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def find_cut_points(problem, n_jobs=None):
    """Return the MDL cut points of every column, a list of arrays."""
    role = np.arange(problem.n_classes, dtype=np.int32)

    def cut(block):
        return mdl_cut_points(problem.float_columns(block), problem.codes, role)

    cut_points = []
    for _, (points, offsets) in run_blocks(cut, problem.blocks(), n_jobs):
        cut_points += np.split(points, offsets[1:-1])
    return cut_points


def bin_columns(problem, binning, n_bins, n_jobs=None):
    """Return the state of every value and the number of states of every column.

    Nominal columns keep their categories as states; a missing value is one more state.

    Parameters
    ----------
    problem : Problem
    binning : {"three_states", "mdl", "equal_width", "equal_frequency", "none"}
    n_bins : int
    n_jobs : int, optional

    Returns
    -------
    states : ndarray of shape (n_features, n_samples), uint8
    n_states : ndarray of shape (n_features,), int64
    """
    is_counted = binning in ("equal_width", "equal_frequency")
    if is_counted and not (isinstance(n_bins, Integral) and 2 <= n_bins <= MAX_BINS):
        raise MaucError(f"n_bins must be an int in [2, {MAX_BINS}], got {n_bins!r}.")
    states = np.empty((problem.n_features, problem.n_samples), np.uint8)
    n_states = np.empty(problem.n_features, np.int64)
    is_nominal = problem.is_nominal
    cut_points = find_cut_points(problem, n_jobs) if binning == "mdl" else None

    def fill(block):
        XT, out, n_out = problem.float_columns(block), states[block], n_states[block]
        if binning == "three_states":
            three_states(XT, out, n_out)
        elif binning == "equal_width":
            equal_width(XT, n_bins, out, n_out)
        elif binning == "equal_frequency":
            equal_frequency(XT, n_bins, out, n_out)
        for j, column in enumerate(range(block.start, block.stop)):
            if binning == "none" or (is_nominal is not None and is_nominal[column]):
                out[j], n_out[j] = _states(category_codes(XT[j]), column)
            elif binning == "mdl":
                out[j], n_out[j] = _states(_bins_of(XT[j], cut_points[column]), column)

    for _ in run_blocks(fill, problem.blocks(), n_jobs):
        pass
    return states, n_states


def _bins_of(column, points):
    """Return the number of cut points below each value, NaN for NaN."""
    column = column.astype(np.float64)
    bins = np.searchsorted(points, column).astype(np.float64)
    bins[np.isnan(column)] = np.nan
    return bins


def _states(codes, column):
    """Return codes with missing values as one more state, and the number of states."""
    is_missing = np.isnan(codes)
    n_known = 0 if is_missing.all() else int(codes[~is_missing].max()) + 1
    if n_known > MAX_BINS:
        raise MaucError(
            f"column {column} must have at most {MAX_BINS} distinct values to be taken as "
            f"discrete, got {n_known}; choose another binning."
        )
    return np.where(is_missing, n_known, codes), max(1, n_known + int(is_missing.any()))
