"""A panel of judges: classifiers of four kinds that say what a set of features can do.

Naive Bayes does not see what several features tell together, a linear discriminant no shapes, a
nearest neighbour is lost among features without information, trees are coarse with few samples. A
statement about the features is one about the best of them.
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import log_softmax
from sklearn.pipeline import Pipeline

from mauc.classifiers.base import Indicators, find_categories
from mauc.classifiers.likelihood import MIN_SPREAD, nested_log_probabilities
from mauc.data.arguments import Classifier
from mauc.data.problem import Problem

#: the judges by short name
JUDGES = {
    "nb": "Naive Bayes",
    "lda": "a linear discriminant",
    "nn": "a nearest-neighbour rule",
    "trees": "a forest of extra trees",
}
N_TREES = 50
# Rows that are judged: enough for the third decimal of MAUC, in the time of a few fits.
MAX_ROWS = 10_000
MAX_VALUES = 10_000_000  # rows x features; of larger tables a part of the rows is judged
MIN_ROWS = 1_000  # that wide tables keep whatever their width
_MIN_PER_CLASS = 20
_MIN_CATEGORY = 5  # training rows of a category; densities of rarer ones are overconfident
_MIN_SHRINKAGE = 1e-4  # keeps correlations of copied columns invertible
_FAR = 10.0  # standard deviations below the mean, where trees find missing values
_DISTANCES = 2**21  # at a time, 16 MB
_MAX_WIDTH = 2_000  # columns beyond which a linear discriminant works in the space of the rows

Array = np.ndarray


class Split(NamedTuple):
    """Both parts of a fold, columns by rank: indicators or standardised numbers, NaN if missing."""

    train: Array  #: (n_train, n_columns)
    test: Array  #: (n_test, n_columns)
    codes: Array  #: classes of the training rows, counted from 0
    weights: Array  #: of the training rows
    n_classes: int
    ends: Array  #: (n_features + 1,): the first k features are the columns before ``ends[k]``
    n_jobs: int | None = None  #: threads in which trees grow


def judges_of(classifier: Classifier | None = None) -> dict[str, str]:
    """Return who judges, in words by short name: the panel, or a classifier alone."""
    if classifier is None:
        return JUDGES
    last = classifier.steps[-1][1] if isinstance(classifier, Pipeline) else classifier
    return {"classifier": type(last).__name__}


def judged_rows(problem: Problem) -> Array:
    """Return the rows that are judged: all, or a stratified part of a large table."""
    return stratified_rows(
        problem.codes, min(MAX_ROWS, max(MIN_ROWS, MAX_VALUES // problem.n_features))
    )


def stratified_rows(codes: Array, limit: int) -> Array:
    """Return all rows or, of more than `limit`, some of every class, by a fixed seed."""
    if len(codes) <= limit:
        return np.arange(len(codes))
    generator, kept = np.random.default_rng(0), []
    for members in np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1]):
        wanted = max(round(limit * len(members) / len(codes)), _MIN_PER_CLASS)
        kept.append(generator.permutation(members)[:wanted])
    return np.sort(np.concatenate(kept))


def split_fold(
    problem: Problem, columns: Array, train: Array, test: Array, n_jobs: int | None = None
) -> Split:
    """Return the training and test rows of a problem on some columns."""
    X = np.array(problem.columns.floats(columns).T, dtype=np.float64, order="C")
    X[np.isinf(X)] = np.nan  # outside any density: treated as missing
    known, unknown, ends = X[train], X[test], np.arange(X.shape[1] + 1)
    nominal = np.flatnonzero(problem.is_nominal[columns])
    if len(nominal):
        indicators = Indicators(X.shape[1], find_categories(known, nominal, _MIN_CATEGORY))
        known, unknown, ends = (
            indicators.expand(known),
            indicators.expand(unknown),
            indicators.starts,
        )
    weights = np.ones(len(train))
    if problem.sample_weight is not None:  # only their ratios matter
        weights = problem.sample_weight[train] / problem.sample_weight[train].max()
    is_known = ~np.isnan(known)
    totals = np.maximum(weights @ is_known, 1e-300)
    center = weights @ np.where(is_known, known, 0.0) / totals
    scale = np.sqrt(weights @ np.where(is_known, known - center, 0.0) ** 2 / totals)
    scale[scale == 0.0] = 1.0
    trained = np.unique(problem.codes[train])
    codes = np.searchsorted(trained, problem.codes[train]).astype(problem.codes.dtype)
    return Split(
        (known - center) / scale,
        (unknown - center) / scale,
        codes,
        weights,
        len(trained),
        ends,
        n_jobs,
    )


def score_fold(judge: str, split: Split, sizes: Sequence[int]) -> list[Array]:
    """Return log-probabilities, or scores of trees, (n_test, n_classes), by the first k features.

    Sizes k are ascending.
    """
    return list(_SCORES[judge](split, sizes))


def _bayes_scores(split: Split, sizes: Sequence[int]) -> Iterator[Array]:
    return nested_log_probabilities(
        split.train,
        split.codes,
        split.test,
        split.n_classes,
        split.ends[list(sizes)].tolist(),
        split.weights,
    )


def _linear_scores(split: Split, sizes: Sequence[int]) -> Iterator[Array]:
    r"""Yield the scores of a linear discriminant, those of many sizes by one Cholesky factor.

    With R the correlations within the classes, shrunk towards 0, and R = L L', the discriminant of
    class c is :math:`\log P(c) - |L^{-1} (x - \mu_c)|^2 / 2`, and its first k terms are those of
    the first k columns. The shrinkage is that of Chen et al. (2010, oracle approximating).
    """
    Z, Q = np.nan_to_num(split.train), np.nan_to_num(split.test)
    weights = split.weights / split.weights.mean()
    members = np.eye(split.n_classes)[split.codes].T * weights
    totals = members.sum(axis=1)
    means = members @ Z / totals[:, np.newaxis]
    within = (Z - means[split.codes]) * np.sqrt(weights)[:, np.newaxis]
    spread = np.maximum(np.sqrt((within * within).mean(axis=0)), MIN_SPREAD)
    within, means, Q = within / spread, means / spread, Q / spread
    prior, ends = np.log(totals / totals.sum()), split.ends[list(sizes)]
    n_nested = int(np.searchsorted(ends, max(_MAX_WIDTH, len(Z)), "right"))
    yield from _discriminants(within, means, Q, prior, ends[:n_nested])
    for end in ends[n_nested:]:
        # Means and centred rows lie in the space that they span; what is outside cancels.
        space = np.concatenate([within[:, :end], means[:, :end]])
        axes = np.linalg.svd(space, full_matrices=False)[2].T
        rows, centers, asked = (part[:, :end] @ axes for part in (within, means, Q))
        yield from _discriminants(rows, centers, asked, prior, [axes.shape[1]], end)


def _discriminants(
    within: Array,
    means: Array,
    Q: Array,
    prior: Array,
    ends: Sequence[int] | Array,
    n_columns: int | None = None,
) -> Iterator[Array]:
    """Yield log-probabilities by the columns before each end; they are rotated `n_columns`."""
    if len(ends) == 0:
        return
    within, means, Q = (part[:, : ends[-1]] for part in (within, means, Q))
    n_free = max(len(within) - len(prior), 1)
    R = _shrink(within.T @ within / len(within), n_free, n_columns or ends[-1])
    factor = np.linalg.cholesky(R)
    whitened, centers = (solve_triangular(factor, part.T, lower=True) for part in (Q, means))
    joint, start = np.tile(prior, (len(Q), 1)), 0
    for end in ends:
        part = slice(start, end)
        joint += whitened[part].T @ centers[part] - (centers[part] ** 2).sum(axis=0) / 2
        yield log_softmax(joint, axis=1)
        start = end


def _shrink(R: Array, n_free: int, n_columns: int) -> Array:
    """Return correlations moved towards the identity; `n_columns` is the size of the whole one."""
    squares, trace = float((R * R).sum()), float(np.trace(R))
    above = (1.0 - 2.0 / n_columns) * squares + trace**2
    below = (n_free + 1.0 - 2.0 / n_columns) * (squares - trace**2 / n_columns)
    shrinkage = 1.0 if below <= 0.0 else min(1.0, max(above / below, _MIN_SHRINKAGE))
    return (1.0 - shrinkage) * R + shrinkage * np.eye(len(R))


def _nearest_scores(split: Split, sizes: Sequence[int]) -> Iterator[Array]:
    """Yield log-probabilities of densities by the nearest training row of each class.

    With d the distance to it and k columns the density is as d^-k over the rows of the class, so
    that the probability of a class is as d^-k.
    """
    order = np.argsort(split.codes, kind="stable")
    starts = np.searchsorted(split.codes[order], np.arange(split.n_classes))
    Z, Q = np.nan_to_num(split.train[order]), np.nan_to_num(split.test)
    ends = split.ends[list(sizes)]
    nearest = np.empty((len(sizes), len(Q), split.n_classes))
    width = max(1, _DISTANCES // len(Z))
    for first in range(0, len(Q), width):
        rows = slice(first, first + width)
        distances, start = np.zeros((len(Q[rows]), len(Z))), 0
        for step, end in enumerate(ends):
            z, q = Z[:, start:end], Q[rows, start:end]
            distances += (z * z).sum(axis=1) - 2.0 * (q @ z.T) + (q * q).sum(axis=1)[:, np.newaxis]
            nearest[step, rows] = np.minimum.reduceat(distances, starts, axis=1)
            start = end
    for step, end in enumerate(ends):
        # Rounding leaves copies a little apart, or at a negative distance.
        logs = np.log(np.maximum(nearest[step], 1e-9 * end))
        yield log_softmax(-0.5 * end * logs, axis=1)


def _tree_scores(split: Split, sizes: Sequence[int]) -> Iterator[Array]:
    from sklearn.ensemble import ExtraTreesClassifier

    Z, Q = (np.nan_to_num(part, nan=-_FAR).astype(np.float32) for part in split[:2])
    for end in split.ends[list(sizes)]:
        trees = ExtraTreesClassifier(N_TREES, random_state=0, n_jobs=split.n_jobs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of many classes: y was checked
            trees.fit(Z[:, :end], split.codes, split.weights)
        yield trees.predict_proba(Q[:, :end])


_FUNCTIONS = _bayes_scores, _linear_scores, _nearest_scores, _tree_scores
_SCORES = dict(zip(JUDGES, _FUNCTIONS, strict=True))
