"""C4.5 on nested feature sets: the columns are sorted once."""

import math
from numbers import Real

import numpy as np

from mauc.checks import check_real
from mauc.classifiers.base import BaseClassifier
from mauc.classifiers.c45.columns import encode_columns, sort_columns, warn_of_close_values
from mauc.classifiers.c45.nodes import EPS
from mauc.classifiers.c45.tree import fit_tree, predict_fractions
from mauc.data.columns import default_names
from mauc.data.validate import check_fitted


class NestedTree:
    """Scores of C45 on the first features of rankings.

    Parameters
    ----------
    grow : callable
        From `SortedColumns` and the numbers of some columns to a `Tree`.
    columns : SortedColumns
        Of the training part.
    X_test : ndarray of shape (n_test, n_features), in Fortran order
    """

    def __init__(self, grow, columns, X_test):
        self._grow, self._columns = grow, columns
        self._QT = encode_columns(X_test, columns.categories)

    def scores(self, ranking, sizes):
        """Yield the leaf fractions of the first k features for each k of the ascending sizes."""
        for size in sizes:
            tree = self._grow(self._columns, ranking[:size].astype(np.int32))
            fractions = np.empty((self._QT.shape[1], self._columns.n_classes))
            predict_fractions(tree, self._QT, fractions)
            yield fractions


def format_number(value, decimals=6):
    """Format a number with at most `decimals` decimals and no trailing zeros."""
    scaled = math.floor(abs(value) * 10.0**decimals + 0.5)
    if scaled == 0:
        return "0"
    text = f"{scaled / 10.0**decimals:.{decimals}f}".rstrip("0").rstrip(".")
    return f"-{text}" if value < 0 else text


def format_weight(weight):
    """Format a weight with one or two decimals, halves rounded up."""
    return repr(math.floor(weight * 100.0 + 0.5) / 100.0)


def largest_class(counts):
    """Return the most frequent class, of (nearly) equals the first."""
    best = 0
    for c in range(1, len(counts)):
        if counts[c] - counts[best] > EPS:
            best = c
    return best


def describe_test(tree, node, child, feature_names, categories):
    """Return the test on the branch from `node` to its `child`-th child, as ``petal <= 0.6``."""
    feature = int(tree.feature[node])
    name = feature_names[feature]
    if feature in categories:
        value = categories[feature][child]
        return f"{name} = {value:g}" if isinstance(value, Real) else f"{name} = {value}"
    return f"{name} {'<=' if child == 0 else '>'} {format_number(float(tree.threshold[node]))}"


def describe_leaf(tree, node, parent, class_names):
    """Return the leaf's class with the weight that reached it / the weight it gets wrong."""
    counts = tree.counts[node]
    total = float(counts.sum())
    if total < EPS and parent >= 0:
        return f"{class_names[largest_class(tree.counts[parent])]} (0.0)"
    best = largest_class(counts)
    wrong = total - float(counts[best])
    errors = f"/{format_weight(wrong)}" if wrong > EPS else ""
    return f"{class_names[best]} ({format_weight(total)}{errors})"


def tree_to_text(tree, feature_names, class_names, categories):
    """Return the tree in the layout of J48's printout.

    Parameters
    ----------
    tree : Tree
    feature_names, class_names : sequences of str
    categories : dict of int to ndarray
        Values of the nominal columns.

    Returns
    -------
    text : str
    """
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
    categorical_features : array-like of bool, int or str of shape (n_features,) or \
            (n_categorical_features,), default=None
        Nominal features, as mask, indices or names; columns of a categorical dtype or of strings in
        a data frame are nominal anyway. They get one branch per value.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.
    tree_ : Tree
        The flat tree, see :class:`mauc.classifiers.c45.nodes.Tree`.
    categories_ : dict of int to ndarray
        Values of the nominal features found in `fit`.
    n_leaves_, tree_size_ : int
        Leaves, and all nodes.

    Notes
    -----
    A numeric split of a node with weight N maximises the gain ratio

        ratio = gain / split_information,  gain = (1 - u) (H - H_split) - log2(cuts) / N

    among the features whose gain is not below the average; u is the part of N whose value is
    missing and log2(cuts) / N is the cost of choosing among several cuts. Missing values (NaN) are
    allowed in `fit` and in prediction: such a sample follows all branches, weighted by how much of
    the known training weight took each. So does a word or category that is not in the training
    data (one that is declared but does not occur is ignored); a number that is not gets the class
    fractions of the node that tests it.

    Values closer than 1e-5 are not told apart, whatever the unit, and all comparisons have a
    tolerance of 1e-6, as in J48. A feature in a tiny unit, such as metres for micrometres, is
    therefore not used; `fit` warns where more than nine tenths of the neighbouring values of a
    feature are that close. Scale such features first.

    Sample weights mean repetition: a sample of weight 2 is the same as the sample given twice.
    (J48 counts such a sample once where C4.5 compares numbers of instances, in two places.)

    References
    ----------
    Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc.classifiers import C45
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
        self, confidence=0.25, min_samples_leaf=2, prune=True, subtree_raising=True,
        categorical_features=None,
    ):  # fmt: skip
        self.confidence = confidence
        self.min_samples_leaf = min_samples_leaf
        self.prune = prune
        self.subtree_raising = subtree_raising
        self.categorical_features = categorical_features

    def fit(self, X, y, sample_weight=None):
        """Grow and prune the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. None: all 1.

        Returns
        -------
        self : C45
        """
        columns = self.prepare(self._check_samples(X, y, sample_weight))
        warn_of_close_values(columns, self.feature_names())
        self._codes = columns.categories
        self.categories_ = self._coder.name_values(self._codes)
        self.tree_ = self._grow(columns, np.arange(len(columns.XT), dtype=np.int32))
        self.n_leaves_ = int(np.count_nonzero(self.tree_.n_children == 0))
        self.tree_size_ = len(self.tree_.feature)
        return self

    def check_options(self):
        """Raise a `MaucError` if a parameter is wrong."""
        check_real("confidence", self.confidence, 0, 0.5, is_low_open=True)
        check_real("min_samples_leaf", self.min_samples_leaf, 1)

    def prepare(self, samples):
        """Return the `SortedColumns` of training `Samples`."""
        return sort_columns(samples)

    def nest(self, samples, X_test, response_method, n_jobs=None):
        """Return the `NestedTree` of training `Samples` and a test part."""
        return NestedTree(self._grow, self.prepare(samples), X_test)

    def predict_proba(self, X):
        """Return the class fractions at the leaf of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        fractions : ndarray of shape (n_samples, n_classes)
        """
        XT = encode_columns(self._check_X(X), self._codes)
        fractions = np.empty((XT.shape[1], len(self.classes_)))
        predict_fractions(self.tree_, XT, fractions)
        return fractions

    def to_text(self, feature_names=None, class_names=None):
        """Return the tree as text, in the layout of J48's printout.

        A leaf shows its class, the training weight that reached it and, after the slash, how much
        of that belongs to other classes.

        Parameters
        ----------
        feature_names : sequence of str of length n_features_in_, default=None
            None: the names of the training data, or x0, x1, ...
        class_names : sequence of str of length n_classes, default=None
            None: the class labels.

        Returns
        -------
        text : str
        """
        check_fitted(self)
        if feature_names is None:
            feature_names = self.feature_names()
        if class_names is None:
            class_names = self.classes_
        return tree_to_text(self.tree_, feature_names, class_names, self.categories_)

    def feature_names(self):
        """Return the names of the training data, x0, x1, ... if it had none."""
        default = default_names(range(self.n_features_in_))
        return list(getattr(self, "feature_names_in_", default))

    def _grow(self, columns, chosen):
        return fit_tree(
            columns, chosen, confidence=self.confidence, min_leaf=self.min_samples_leaf,
            prune=self.prune, raising=self.subtree_raising,
        )  # fmt: skip
