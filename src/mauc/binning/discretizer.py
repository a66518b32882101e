"""The MDL discretizer, and its cut points for the selectors."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from mauc.binning.contingency import mdl_cut_points
from mauc.data.arguments import TableLike
from mauc.data.door import FitOptions, check_fitted, check_table, make_problem, name_features
from mauc.data.problem import Problem
from mauc.estimator import Estimator, with_callbacks
from mauc.registry import Accepts


class MDLDiscretizer(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """Discretise features by the supervised MDL method of Fayyad and Irani.

    A feature is cut where the class entropy of the two sides is smallest, and again on either
    side, as long as the gain exceeds the description length of the cut. The cut points are those of
    WEKA's supervised Discretize with better encoding, to the bit.

    Parameters
    ----------
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.

    Attributes
    ----------
    cut_points_ : list of ndarray
        Ascending cut points of each feature; empty if no cut is accepted.
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

    def __init__(self, *, n_jobs: int | None = None):
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the cut points of X, which may be sparse; missing values are left out.

        A row of weight 2 counts as two rows; weights that are not whole count by their ratios.
        """
        with self._reported(X, y, sample_weight):
            options = FitOptions(Accepts(sparse=True), type(self).__name__)
            problem = make_problem(X, y, options, sample_weight)
            name_features(self, problem)
            problem = problem.drop_zero_weight()
            self.cut_points_: list[np.ndarray] = find_cut_points(problem, self.n_jobs)
            self.classes_: np.ndarray = problem.classes
        return self

    def transform(self, X: TableLike) -> np.ndarray:
        """Replace every value by the number of its bin, as a dense array of the shape of X.

        It is 0 for values up to the first cut point, and so on; NaN stays NaN.
        """
        check_fitted(self)
        table: Any = check_table(
            X, estimator=self, reset=False, accept_sparse="csc", dtype="numeric"
        )
        bins = np.empty(table.shape)
        for j, points in enumerate(self.cut_points_):
            column = table[:, [j]].toarray()[:, 0] if hasattr(table, "toarray") else table[:, j]
            bins[:, j] = bins_of(column, points)
        return bins

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def find_cut_points(problem: Problem, n_jobs: int | None = None) -> list[np.ndarray]:
    """Return the MDL cut points of every column as a list of arrays."""
    cut_points = []
    for _, (points, offsets) in problem.map(_cut_block, n_jobs=n_jobs, is_dense=True):
        cut_points += np.split(points, offsets[1:-1])
    return cut_points


def _cut_block(problem: Problem, block: slice) -> tuple[np.ndarray, np.ndarray]:
    """Return the cut points of some columns and their offsets."""
    return cut_columns(problem, problem.value_columns(block))


def cut_columns(problem: Problem, XT: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the MDL cut points of some columns and their offsets, see `mdl_cut_points`."""
    role = np.arange(problem.n_classes, dtype=np.int32)
    return mdl_cut_points(XT, problem.codes, role, problem.row_counts)


def bins_of(column: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the number of cut points below each value, NaN for NaN."""
    column = column.astype(np.float64)
    bins = np.searchsorted(points, column).astype(np.float64)
    bins[np.isnan(column)] = np.nan
    return bins
