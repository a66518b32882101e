"""C4.5 as WEKA's J48 defines it, written as plain recursion over lists of (row, weight).

Slow on purpose: every number is computed afresh from its definition.
"""

import math

import numpy as np
from scipy.special import ndtri

from mauc.engine.keys import argsort_columns
from mauc.lab.c45.estimator import SortedColumns, fit_tree
from mauc.lab.c45.tree import predict_fractions

EPS = 1e-6


def equal(a, b):
    return abs(a - b) < EPS


def greater(a, b):
    return a - b > EPS


def at_most(a, b):
    return a - b < EPS or a <= b


def at_least(a, b):
    return b - a < EPS or a >= b


def plogp(v):
    return 0.0 if v < EPS else v * math.log(v) / math.log(2.0)


class Node:
    def __init__(self, feature, threshold, bags, sons=()):
        self.feature, self.threshold, self.bags, self.sons = feature, threshold, bags, list(sons)

    @property
    def counts(self):
        return self.bags.sum(axis=0)

    @property
    def total(self):
        return self.bags.sum()

    @property
    def errors(self):
        return self.total - self.counts.max()

    @property
    def shares(self):
        return self.bags.sum(axis=1) / self.total

    def become_leaf(self):
        self.feature, self.bags, self.sons = None, self.counts[None, :], []

    def size(self):
        return 1 + sum(son.size() for son in self.sons)

    def leaves(self):
        return sum(son.leaves() for son in self.sons) if self.sons else 1


class Oracle:
    """J48 on a matrix with NaN for missing values; `n_values[j]` > 0 makes column j nominal."""

    def __init__(self, X, y, n_classes, n_values=None, weight=None, repeats=None, **options):
        self.X, self.y, self.n_classes = np.asarray(X, float), y, n_classes
        n, m = self.X.shape
        self.n_values = np.zeros(m, int) if n_values is None else n_values
        self.repeats = np.ones(n) if repeats is None else repeats
        self.confidence = options.get("confidence", 0.25)
        self.min_leaf = options.get("min_leaf", 2.0)
        self.raising = options.get("raising", True)
        weight = np.ones(n) if weight is None else weight
        rows = [(i, weight[i]) for i in range(n)]
        self.root = self.grow(rows)
        self.collapse(self.root)
        if options.get("prune", True):
            self.prune(self.root, rows)

    # ---- splits -------------------------------------------------------------------------------
    def branch(self, feature, threshold, i):
        value = self.X[i, feature]
        if np.isnan(value):
            return -1
        if self.n_values[feature]:
            return int(value)
        return 0 if at_most(value, threshold) else 1

    def n_branches(self, feature):
        return self.n_values[feature] or 2

    def table(self, rows, feature=None, threshold=None):
        """Weights by branch and class; missing values are shared out in proportion."""
        if feature is None:
            bags = np.zeros((1, self.n_classes))
            for i, w in rows:
                bags[0, self.y[i]] += w
            return bags
        bags = np.zeros((self.n_branches(feature), self.n_classes))
        for i, w in rows:
            v = self.branch(feature, threshold, i)
            if v >= 0:
                bags[v, self.y[i]] += w
        known = bags.sum()
        shares = np.full(len(bags), 1 / len(bags)) if equal(known, 0) else bags.sum(1) / known
        for i, w in rows:
            if self.branch(feature, threshold, i) < 0:
                bags[:, self.y[i]] += shares * w
        return bags

    def split(self, rows, feature, threshold, shares):
        parts = [[] for _ in shares]
        for i, w in rows:
            v = self.branch(feature, threshold, i)
            for u in range(len(parts)):
                if v == u or (v < 0 and greater(shares[u], 0)):
                    parts[u].append((i, w if v >= 0 else w * shares[u]))
        return parts

    @staticmethod
    def gain(bags, weight):
        known = bags.sum()
        old = plogp(known) - sum(map(plogp, bags.sum(axis=0)))
        new = sum(map(plogp, bags.sum(axis=1))) - sum(map(plogp, bags.ravel()))
        numerator = (1 - (weight - known) / weight) * (old - new)
        return 0.0 if equal(numerator, 0) else numerator / known

    @staticmethod
    def ratio(bags, weight, gain):
        parts = [*bags.sum(axis=1), weight - bags.sum()]
        information = plogp(weight) - sum(map(plogp, parts))
        return 0.0 if equal(information, 0) else gain / (information / weight)

    def best_of_column(self, rows, feature):
        """Return gain, ratio and midpoint of the column's split, None if it has none."""
        weight = sum(w for _, w in rows)
        known = [(i, w) for i, w in rows if not np.isnan(self.X[i, feature])]
        if self.n_values[feature]:
            bags = np.zeros((self.n_values[feature], self.n_classes))
            for i, w in known:
                bags[int(self.X[i, feature]), self.y[i]] += w
            if sum(at_least(bag, self.min_leaf) for bag in bags.sum(axis=1)) < 2:
                return None
            gain = self.gain(bags, weight)
            return gain, self.ratio(bags, weight, gain), None
        known.sort(key=lambda entry: self.X[entry[0], feature])
        least = 0.1 * sum(w for _, w in known) / self.n_classes
        least = self.min_leaf if at_most(least, self.min_leaf) else min(least, 25.0)
        if greater(2 * least, sum(self.repeats[i] for i, _ in known)):
            return None
        values = [self.X[i, feature] for i, _ in known]
        best, n_cuts = (0.0, None, None), 0
        for cut in range(1, len(known)):
            if not values[cut - 1] + 1e-5 < values[cut]:
                continue
            bags = np.vstack([self.table(known[:cut]), self.table(known[cut:])])
            if not all(at_least(bag, least) for bag in bags.sum(axis=1)):
                continue
            n_cuts += 1
            gain = self.gain(bags, weight)
            if greater(gain, best[0]):
                best = (gain, cut, bags)
        gain, cut, bags = best
        if cut is None:
            return None
        gain -= math.log(n_cuts) / math.log(2.0) / weight
        if at_most(gain, 0):
            return None
        midpoint = (values[cut - 1] + values[cut]) / 2
        if midpoint == values[cut]:
            midpoint = values[cut - 1]
        return gain, self.ratio(bags, weight, gain), midpoint

    def grow(self, rows):
        counts = self.table(rows)
        leaf = Node(None, None, counts)
        if greater(2 * self.min_leaf, counts.sum()) or equal(counts.sum(), counts.max()):
            return leaf
        found = [self.best_of_column(rows, j) for j in range(self.X.shape[1])]
        many = 0.3 * self.repeats.sum()
        few = [v == 0 or greater(many, v) for v in self.n_values]
        gains = [f[0] for f, ok in zip(found, few, strict=True) if f and (ok or not any(few))]
        if not gains:
            return leaf
        feature, best = None, 0.0
        for j, f in enumerate(found):
            if f and f[0] >= sum(gains) / len(gains) - 1e-3 and greater(f[1], best):
                feature, best = j, f[1]
        if feature is None:
            return leaf
        threshold = found[feature][2]
        if threshold is not None:
            snapped = -np.inf
            for value in self.X[:, feature]:
                if at_most(value, threshold) and greater(value, snapped):
                    snapped = value
            threshold = snapped
        node = Node(feature, threshold, self.table(rows, feature, threshold))
        parts = self.split(rows, feature, threshold, node.shares)
        node.sons = [self.grow(part) for part in parts]
        return node

    # ---- pruning ------------------------------------------------------------------------------
    def training_errors(self, node):
        return sum(map(self.training_errors, node.sons)) if node.sons else node.errors

    def collapse(self, node):
        if not node.sons:
            return
        if self.training_errors(node) >= node.errors - 1e-3:
            node.become_leaf()
        for son in node.sons:
            self.collapse(son)

    def added_errors(self, n, e):
        if e < 1:
            base = n * (1 - self.confidence ** (1 / n))
            return base if e == 0 else base + e * (self.added_errors(n, 1.0) - base)
        if e + 0.5 >= n:
            return max(n - e, 0.0)
        z = ndtri(1 - self.confidence)
        f = (e + 0.5) / n
        r = f + z**2 / (2 * n) + z * math.sqrt(f / n - f**2 / n + z**2 / (4 * n**2))
        return r / (1 + z**2 / n) * n - e

    def estimate(self, counts):
        n, e = counts.sum(), counts.sum() - counts.max()
        return 0.0 if equal(n, 0) else e + self.added_errors(n, e)

    def tree_estimate(self, node):
        return sum(map(self.tree_estimate, node.sons)) if node.sons else self.estimate(node.counts)

    def branch_estimate(self, node, rows):
        if not node.sons:
            return self.estimate(self.table(rows)[0])
        bags = self.table(rows, node.feature, node.threshold)
        parts = self.split(rows, node.feature, node.threshold, bags.sum(1) / bags.sum())
        return sum(map(self.branch_estimate, node.sons, parts))

    def redistribute(self, node, rows):
        node.bags = self.table(rows, node.feature, node.threshold)
        if node.sons:
            parts = self.split(rows, node.feature, node.threshold, node.shares)
            for son, part in zip(node.sons, parts, strict=True):
                self.redistribute(son, part)

    def prune(self, node, rows):
        if not node.sons:
            return
        parts = self.split(rows, node.feature, node.threshold, node.shares)
        for son, part in zip(node.sons, parts, strict=True):
            self.prune(son, part)
        largest, weight = 0, 0.0
        for v, bag in enumerate(node.bags.sum(axis=1)):
            if at_least(bag, weight):
                largest, weight = v, bag
        branch = node.sons[largest]
        leaf_errors, tree_errors = self.estimate(node.counts), self.tree_estimate(node)
        branch_errors = self.branch_estimate(branch, rows) if self.raising else np.inf
        if at_most(leaf_errors, tree_errors + 0.1) and at_most(leaf_errors, branch_errors + 0.1):
            node.become_leaf()
        elif at_most(branch_errors, tree_errors + 0.1):
            node.feature, node.threshold, node.sons = branch.feature, branch.threshold, branch.sons
            self.redistribute(node, rows)
            self.prune(node, rows)

    # ---- prediction ---------------------------------------------------------------------------
    def fractions(self, x, node=None, weight=1.0):
        node = node or self.root
        if not node.sons:
            return weight * node.counts / node.total
        value = x[node.feature]
        if np.isnan(value):
            pairs = zip(node.sons, node.shares, strict=True)
            return sum(self.fractions(x, s, weight * p) for s, p in pairs if not equal(s.total, 0))
        if self.n_values[node.feature]:
            v = int(value)
        else:
            v = 0 if at_most(value, node.threshold) else 1
        if v >= len(node.sons) or equal(node.sons[v].total, 0):
            return weight * node.counts / node.total
        return self.fractions(x, node.sons[v], weight)


def read_only_transpose(X):
    """Return the columns of X as the kernels take them."""
    XT = np.array(X.T, order="C")
    XT.flags.writeable = False
    return XT


def all_columns(X):
    """Return the numbers of all columns."""
    return np.arange(X.shape[1], dtype=np.int32)


def sort_all(X, y, n_classes, n_values=None, weight=None):
    """Return the sorted columns of a table."""
    XT = read_only_transpose(X)
    n_values = np.zeros(len(XT), np.int32) if n_values is None else n_values
    return SortedColumns(XT, argsort_columns(XT), y, n_classes, n_values, weight, {})


def fit(X, y, n_classes, n_values=None, weight=None, **options):
    """Return the tree of a table."""
    return fit_tree(sort_all(X, y, n_classes, n_values, weight), all_columns(X), **options)


def fractions(tree, X):
    """Return the class fractions of the rows of X."""
    return predict_fractions(tree, read_only_transpose(X))
