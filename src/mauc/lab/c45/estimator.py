"""The C4.5 classifier: estimator, nested feature sets, shared sorted columns, printout."""

import math
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from mauc.checks import check_real
from mauc.classifiers.base import (
    UNSEEN,
    BaseClassifier,
    NestedScores,
    Samples,
    encode_column,
    find_categories,
)
from mauc.data.arguments import CategoricalFeatures
from mauc.data.columns import default_names
from mauc.data.door import check_fitted
from mauc.engine.arrays import read_only
from mauc.engine.keys import argsort_columns
from mauc.exceptions import TinyUnitsWarning, format_labels, warn_user
from mauc.lab.c45.grow import grow
from mauc.lab.c45.prune import collapse, prune_tree
from mauc.lab.c45.tree import EPS, GAP, Tree, compact, predict_fractions

MIN_SEEN = 0.1  # part of the steps between neighbouring values below which a column is blurred


class C45(BaseClassifier):
    """C4.5 decision tree with pessimistic pruning and subtree raising.

    The tree, its leaves and its class fractions are those of WEKA 3.6.14's J48 with the same
    options.

    Parameters
    ----------
    confidence : float, default=0.25
        Confidence of the pessimistic error bound, in (0, 0.5]; smaller values prune more.
    min_samples_leaf : float, default=2
        Minimum number (weight) of samples in a branch; a nominal split needs two such branches.
    prune : bool, default=True
        Whether to prune. Without it only splits that do not reduce the training error are undone.
    subtree_raising : bool, default=True
        Whether pruning may replace a node by its largest branch.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        They get one branch per value.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only for data frames with string column names.
    tree_ : Tree
        The flat tree, see :class:`mauc.lab.c45.tree.Tree`.
    categories_ : dict of int to ndarray
        Values of the nominal features found in `fit`.
    n_leaves_, tree_size_ : int
        Leaves, and all nodes.

    Notes
    -----
    A sample whose value is missing (NaN), or a text or category that is not in the training data,
    follows all branches, weighted by how much of the known training weight took each; a number of
    a nominal column that is not there gets the class fractions of the node that tests it.

    Values closer than 1e-5 are not told apart, whatever the unit, as in J48; `fit` warns where more
    than nine tenths of the neighbouring values of a feature are that close. Scale such features
    first. Sample weights mean repetition. The formulas are in docs/methods/classifiers.md.

    References
    ----------
    Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc.lab import C45
    >>> iris = load_iris()
    >>> tree = C45().fit(iris.data, iris.target)
    >>> tree.n_leaves_, tree.tree_size_
    (5, 9)
    >>> print(tree.to_text(iris.feature_names, iris.target_names))
    petal width (cm) <= 0.6: setosa (50.0)
    petal width (cm) > 0.6
    |   petal width (cm) <= 1.7
    |   |   petal length (cm) <= 4.9: versicolor (48.0/1.0)
    |   |   petal length (cm) > 4.9
    |   |   |   petal width (cm) <= 1.5: virginica (3.0)
    |   |   |   petal width (cm) > 1.5: versicolor (3.0/1.0)
    |   petal width (cm) > 1.7: virginica (46.0/1.0)
    <BLANKLINE>
    Number of Leaves  : 5
    <BLANKLINE>
    Size of the tree : 9
    <BLANKLINE>
    """

    _order = "F"

    def __init__(
        self,
        confidence: float = 0.25,
        min_samples_leaf: int = 2,
        prune: bool = True,
        subtree_raising: bool = True,
        categorical_features: CategoricalFeatures = None,
    ):
        self.confidence = confidence
        self.min_samples_leaf = min_samples_leaf
        self.prune = prune
        self.subtree_raising = subtree_raising
        self.categorical_features = categorical_features

    def check_options(self) -> None:
        """Raise a `MaucError` if a parameter is wrong."""
        check_real("confidence", self.confidence, 0, 0.5, is_low_open=True)
        check_real("min_samples_leaf", self.min_samples_leaf, 1)

    def prepare(self, samples: Samples) -> "SortedColumns":
        """Return the `SortedColumns` of training `Samples`."""
        return SortedColumns.of(samples)

    def nest(
        self, samples: Samples, X_test: np.ndarray, response_method: str, n_jobs: int | None = None
    ) -> NestedScores:
        """Return the scores on nested features: the columns are sorted once."""
        columns = self.prepare(samples)
        QT = encode_columns(X_test, columns.categories)

        def scores(ranking: np.ndarray, sizes: Sequence[int] | np.ndarray) -> Iterator[np.ndarray]:
            """Yield the scores by the first features of a ranking, for each size."""
            for size in sizes:
                tree = self._grow(columns, ranking[:size].astype(np.int32))
                yield predict_fractions(tree, QT)

        return scores

    def to_text(
        self,
        feature_names: Sequence[object] | None = None,
        class_names: Sequence[object] | np.ndarray | None = None,
    ) -> str:
        """Return the tree as text, in the layout of J48's printout.

        A leaf shows its class, the training weight that reached it and, after the slash, how much
        of that belongs to other classes.
        """
        check_fitted(self)
        if feature_names is None:
            feature_names = self.feature_names()
        if class_names is None:
            class_names = self.classes_
        return tree_to_text(self.tree_, feature_names, class_names, self.categories_)

    def feature_names(self) -> list[str]:
        """Return the names of the training data, x0, x1, ... if it had none."""
        default = default_names(range(self.n_features_in_))
        return list(getattr(self, "feature_names_in_", default))

    def _learn(self, samples: Samples) -> None:
        columns = self.prepare(samples)
        warn_of_close_values(columns, self.feature_names())
        self._codes = columns.categories
        self.categories_: dict[int, np.ndarray] = self._coder.name_values(self._codes)
        self.tree_: Tree = self._grow(columns, np.arange(len(columns.XT), dtype=np.int32))
        self.n_leaves_: int = int(np.count_nonzero(self.tree_.n_children == 0))
        self.tree_size_: int = len(self.tree_.feature)

    def _score(self, X: np.ndarray) -> np.ndarray:
        """Return the class fractions at the leaf of each sample."""
        return predict_fractions(self.tree_, encode_columns(X, self._codes))

    def _grow(self, columns: "SortedColumns", chosen: np.ndarray) -> Tree:
        return fit_tree(
            columns,
            chosen,
            confidence=self.confidence,
            min_leaf=self.min_samples_leaf,
            prune=self.prune,
            raising=self.subtree_raising,
        )


class SortedColumns(NamedTuple):
    """Training data that all trees share, whichever of the columns they use."""

    XT: np.ndarray  #: read-only float32 or float64, (n_features, n); NaN missing, nominal as codes
    order: np.ndarray  #: int32, (n_features, n), the rows of each column by ascending value
    y: np.ndarray  #: int32 class codes
    n_classes: int  #: also those without rows
    n_values: np.ndarray  #: int32, (n_features,), values of a nominal column, 0 for a numeric one
    weight: np.ndarray | None  #: float64, positive weights of the rows, None if all are 1
    categories: dict[int, np.ndarray]  #: values of the nominal columns

    @classmethod
    def of(cls, samples: Samples) -> "SortedColumns":
        """Sort the columns of training samples."""
        categories = find_categories(samples.X, samples.nominal)
        XT = encode_columns(samples.X, categories)
        n_values = np.zeros(len(XT), np.int32)
        n_values[list(categories)] = [len(values) for values in categories.values()]
        weight = samples.weights if (samples.weights != 1.0).any() else None
        return cls(
            XT,
            argsort_columns(XT),
            samples.codes,
            samples.n_classes,
            n_values,
            weight,
            categories,
        )


def fit_tree(
    data: SortedColumns,
    columns: np.ndarray,
    *,
    confidence: float = 0.25,
    min_leaf: float = 2.0,
    prune: bool = True,
    raising: bool = True,
) -> Tree:
    """Grow, collapse and prune the tree of some columns; ties go to the earlier of them."""
    limits = float(confidence), float(ndtri(1.0 - confidence)), bool(raising)
    weight = np.ones(data.y.size) if data.weight is None else data.weight
    tree, n_nodes = grow(data, columns, weight, weight, min_leaf)
    collapse(tree, n_nodes)
    if prune:
        prune_tree(tree, n_nodes, data.XT, data.y, weight, *limits)
    return compact(tree)


def encode_columns(X: np.ndarray, categories: dict[int, np.ndarray]) -> np.ndarray:
    """Return X transposed, read-only, nominal columns as codes (one too many if unseen)."""
    if categories:
        X = X.copy(order="F")
    for j, values in categories.items():
        codes = encode_column(X[:, j], values)
        codes[codes == UNSEEN] = len(values)
        X[:, j] = np.where(np.isnan(X[:, j]), np.nan, codes)
    return read_only(X.T)


def warn_of_close_values(columns: SortedColumns, names: list[str]) -> None:
    """Warn of numeric columns whose neighbouring values are nearly all within `GAP`."""
    blind = []
    for j in np.flatnonzero(columns.n_values == 0):
        steps = np.diff(columns.XT[j][columns.order[j]].astype(np.float64))
        n_steps = np.count_nonzero(steps > 0)  # missing values come last and make no step
        if np.count_nonzero(steps > GAP) < MIN_SEEN * n_steps:
            blind.append(names[j])
    if blind:
        warn_user(
            f"{len(blind)} of {len(columns.XT)} features ({format_labels(blind)}) have values "
            f"closer than {GAP:g}, which C4.5 does not distinguish, as J48 does not; pass them in "
            f"a smaller unit, or scale them, for example with "
            f"sklearn.preprocessing.StandardScaler.",
            TinyUnitsWarning,
        )


def format_number(value: float, decimals: int = 6) -> str:
    """Format a number with at most `decimals` decimals and no trailing zeros."""
    scaled = math.floor(abs(value) * 10.0**decimals + 0.5)
    if scaled == 0:
        return "0"
    text = f"{scaled / 10.0**decimals:.{decimals}f}".rstrip("0").rstrip(".")
    return f"-{text}" if value < 0 else text


def format_weight(weight: float) -> str:
    """Format a weight with one or two decimals, halves rounded up."""
    return repr(math.floor(weight * 100.0 + 0.5) / 100.0)


def largest_class(counts: np.ndarray) -> int:
    """Return the most frequent class, of (nearly) equals the first."""
    best = 0
    for c in range(1, len(counts)):
        if counts[c] - counts[best] > EPS:
            best = c
    return best


def describe_test(
    tree: Tree,
    node: int,
    child: int,
    feature_names: Sequence[object],
    categories: Mapping[int, np.ndarray],
) -> str:
    """Return the test on the branch from `node` to its `child`-th child, as ``petal <= 0.6``."""
    feature = int(tree.feature[node])
    name = feature_names[feature]
    if feature in categories:
        value = categories[feature][child]
        return f"{name} = {value:g}" if isinstance(value, Real) else f"{name} = {value}"
    return f"{name} {'<=' if child == 0 else '>'} {format_number(float(tree.threshold[node]))}"


def describe_leaf(
    tree: Tree, node: int, parent: int, class_names: Sequence[object] | np.ndarray
) -> str:
    """Return the leaf's class with the weight that reached it / the weight it gets wrong."""
    counts = tree.counts[node]
    total = float(counts.sum())
    if total < EPS and parent >= 0:
        return f"{class_names[largest_class(tree.counts[parent])]} (0.0)"
    best = largest_class(counts)
    wrong = total - float(counts[best])
    errors = f"/{format_weight(wrong)}" if wrong > EPS else ""
    return f"{class_names[best]} ({format_weight(total)}{errors})"


def tree_to_text(
    tree: Tree,
    feature_names: Sequence[object],
    class_names: Sequence[object] | np.ndarray,
    categories: Mapping[int, np.ndarray],
) -> str:
    """Return the tree in the layout of J48's printout; `categories` has the nominal values."""
    n_leaves = int(np.count_nonzero(tree.n_children == 0))
    lines = []
    if tree.n_children[0] == 0:
        lines.append(f": {describe_leaf(tree, 0, -1, class_names)}")
    # Branches to print: (parent, child number, depth); the first child is on top.
    waiting = [(0, v, 0) for v in reversed(range(tree.n_children[0]))]
    while waiting:
        parent, v, depth = waiting.pop()
        node = int(tree.first_child[parent]) + v
        line = "|   " * depth + describe_test(tree, parent, v, feature_names, categories)
        if tree.n_children[node] == 0:
            line += f": {describe_leaf(tree, node, parent, class_names)}"
        lines.append(line)
        waiting += [(node, u, depth + 1) for u in reversed(range(tree.n_children[node]))]
    lines += ["", f"Number of Leaves  : {n_leaves}", ""]
    lines += [f"Size of the tree : {len(tree.feature)}", ""]
    return "\n".join(lines)
