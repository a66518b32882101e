"""The normal model of GreedyMAUC for features that are chosen already: effects and correlations.

A search leaves the model behind (`SearchState`); for a ranking that another method made it is
computed here.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from mauc.selectors.greedy_mauc.measuring.measure import measure
from mauc.selectors.greedy_mauc.searching.correlations import (
    MIN_VARIANCE,
    update_block,
    within_scales,
)
from mauc.selectors.greedy_mauc.searching.shrinkage import estimate_shrinkage


class Model(NamedTuple):
    """What GreedyMAUC measures of a problem, with its options."""

    effects: np.ndarray  #: (n_features, n_pairs)
    scores: Any  #: NormalScores
    shrinkage: float
    rate: float  #: the error of a pair is exp(-rate D_p^2)
    prior: np.ndarray | None = None  #: (n_features,): weights of the gains in a search


class SearchState(NamedTuple):
    """Effects and factors of all features, given some or all of the chosen ones.

    With S the first t chosen features, the residual effect of f given them is
    ``effects[f] - sum_u slopes[u] factors[u, f]``, u from ``n_updates[f]`` to t - 1, and its
    residual variance ``1 - sum_u factors[u, f]^2``, u < t.
    """

    effects: np.ndarray  #: (n_features, n_pairs)
    n_updates: np.ndarray  #: (n_features,): the chosen features that the effects are given
    slopes: np.ndarray  #: (n_chosen, n_pairs): effects of the chosen over the root of the variance
    factors: np.ndarray  #: (n_chosen, n_features): rows of the Cholesky factor
    varies: np.ndarray  #: (n_features,): False for constant features

    @property
    def n_bytes(self):
        """Bytes of the arrays."""
        return sum(part.nbytes for part in self)


def measure_model(selector, problem, n_jobs=None):
    """Measure effects and correlations of a problem with the options of a `GreedyMAUC`.

    A prior, which takes no part in separations, is left to whoever searches.
    """
    options = selector.check_options()
    effects, scores = measure(
        problem, noise_correction=options.noise_correction, max_samples=options.max_samples,
        n_jobs=n_jobs,
    )  # fmt: skip
    is_auto = options.shrinkage is None
    shrinkage = estimate_shrinkage(scores) if is_auto else options.shrinkage
    return Model(effects, scores, shrinkage, options.alpha / 8.0)


class Conditioning:
    """Variances, factors and separations, given chosen features that are added one by one.

    Parameters
    ----------
    model : Model
    n_wanted : int
        How many features will be added at most.

    Attributes
    ----------
    step : int
        Features added so far.
    separations : ndarray of shape (n_pairs,), float64
        D_p^2 of them.
    variances : ndarray of shape (n_features,), float64
    factors : ndarray of shape (n_wanted, n_features), float64
    slopes : ndarray of shape (n_wanted, n_pairs), float64
    lower : ndarray of shape (n_wanted, n_wanted), float64
        Cholesky factor of the correlations of the added features.
    is_left : ndarray of shape (n_features,), bool
        Features that vary and were not added.
    """

    def __init__(self, model, n_wanted):
        n_features, n_pairs = model.effects.shape
        self._scores, self._shrinkage = model.scores, model.shrinkage
        self._centers, self._scales = within_scales(model.scores)
        self.step, self.separations = 0, np.zeros(n_pairs)
        self.variances = np.ones(n_features)
        self.factors = np.zeros((n_wanted, n_features))
        self.slopes, self.lower = np.zeros((n_wanted, n_pairs)), np.zeros((n_wanted, n_wanted))
        self.is_left = model.scores.varies.copy()

    def add(self, s, residual):
        """Add feature s, whose residual effects are known; a constant one explains nothing."""
        step, padded = self.step, self._scores.padded
        root = math.sqrt(self.variances[s])
        self.slopes[step] = residual / root
        self.separations += self.slopes[step] ** 2
        self.lower[step, :step], self.lower[step, step] = self.factors[:step, s], root
        self.is_left[s] = False
        update_block(
            padded, padded[s].astype(np.int16), self._centers, self._scales, self._shrinkage, s,
            step, np.append(self.factors[:step, s], np.zeros(len(self.factors) - step)), root,
            0, len(self.variances), self.is_left, self.factors, self.variances,
        )  # fmt: skip
        self.step = step + 1


def condition_on(model, ranking):
    """Return the conditioning on the features of a ranking that vary, in their order."""
    chosen = ranking[model.scores.varies[ranking]]
    given = Conditioning(model, max(1, len(chosen)))
    for step, s in enumerate(chosen):
        given.add(s, model.effects[s] - given.factors[:step, s] @ given.slopes[:step])
    return given


def state_of(model, given):
    """Return what a search that chose these features would have left behind."""
    return SearchState(
        model.effects, np.zeros(len(model.effects), np.int64), given.slopes[: given.step],
        given.factors[: given.step], model.scores.varies,
    )  # fmt: skip


def cholesky_of(state, chosen):
    """Return the Cholesky factor of the correlations of the chosen features, from their factors."""
    lower = np.tril(state.factors[: len(chosen)][:, chosen].T, -1)
    left = np.maximum(1.0 - (lower**2).sum(axis=1), MIN_VARIANCE)
    lower[np.diag_indices(len(chosen))] = np.sqrt(left)
    return lower
