"""Which features could take the place of a chosen one: a model in, losses of predicted MAUC out.

Let S be the chosen set, R the correlations and M = R_SS^-1. For a chosen f and any other g, with
w_p = M d_p(S) and a = M r_g the coefficients of g on S,

    D_p^2(S - f)     = D_p^2(S) - w_p(f)^2 / M_ff,
    D_p^2(S - f + g) = D_p^2(S - f) + (e_p(g) + a_f w_p(f) / M_ff)^2 / (v(g) + a_f^2 / M_ff),

e_p(g) and v(g) being what S does not explain of g: nothing is solved again. Predicted MAUC is the
mean of Phi(D_p / sqrt 2), a concave function of D_p^2. Its tangent at S - f bounds what g brings,
by a few matrix products for all g at once, and only those whose bound is near enough are counted.

Among them are features that replace f because they are as good, not because they do the same. An
alternative is one beside which f is hardly needed: to S - f + g it adds less than half of what it
adds to S - f.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtr

from mauc.selectors.greedy_mauc.judging.model import cholesky_of
from mauc.selectors.greedy_mauc.searching.correlations import MIN_VARIANCE

MAX_LOSS = 0.001  # of predicted MAUC that an exchange may cost
MIN_SHARE = 0.5  # of what the chosen feature adds, that an alternative takes over
MAX_ALTERNATIVES = 5  # of a chosen feature
MIN_ADDED = 1e-9  # of predicted MAUC: a feature that adds less adds nothing
_MAX_COUNTED = 64  # candidates that are looked at, those most like the feature
_BLOCK = 64  # chosen features whose bounds are held at once
_MAX_SLOPE = 1e6  # of the tangent: it is vertical at a separation of 0
_DECIMALS = 9  # losses that agree in so many are equal


class Exchange(NamedTuple):
    """One feature that could take the place of a chosen one."""

    feature: int  #: the chosen column
    alternative: int  #: the column that could replace it
    loss: float  #: of predicted MAUC, by the exchange; below 0 if it gains
    loss_without: float  #: of predicted MAUC, if the feature were left out and not replaced
    share: float  #: of that loss which the feature no longer prevents once the other is chosen
    correlation: float  #: of the two within the classes, shrunk as in the search


class _Chosen(NamedTuple):
    """The chosen set; arrays of shape (k, ...)."""

    inverse: np.ndarray  # (k, k): of the Cholesky factor
    precisions: np.ndarray  # (k,): M_ff
    own: np.ndarray  # (k, n_pairs): w_p(f) / M_ff
    separations: np.ndarray  # (k, n_pairs): D_p^2 without f
    whole: np.ndarray  # (n_pairs,): D_p^2 of the whole set
    mauc: float  # of the whole set


def find_exchanges(state, ranking):
    """Return the features that could replace each chosen one.

    Parameters
    ----------
    state : SearchState
        Its effects are brought up to date, in place.
    ranking : ndarray of shape (k,), int64
        The chosen features. The constant ones, which come last, have no alternatives.

    Returns
    -------
    exchanges : list of list of Exchange
        For each chosen feature at most 5 that cost at most 0.001 of predicted MAUC and take over
        half or more of what it adds; those that take over most come first, equal ones by column.
    """
    chosen = ranking[state.varies[ranking]][: len(state.slopes)]
    found: list[list[Exchange]] = [[] for _ in ranking]
    is_free = state.varies.copy()
    is_free[chosen] = False
    others = np.flatnonzero(is_free)
    if len(chosen) == 0 or len(others) == 0:
        return found
    known = _describe(state, chosen)
    residuals, variances = _residuals(state, len(chosen), others)
    places = {int(f): place for place, f in enumerate(ranking)}
    for start in range(0, len(chosen), _BLOCK):
        block = slice(start, min(start + _BLOCK, len(chosen)))
        # Coefficients of all others on the chosen features of the block.
        coefficients = known.inverse[:, block].T @ state.factors[: len(chosen), others]
        bounds = _loss_bounds(known, block, residuals, variances, coefficients)
        for row, f in enumerate(chosen[block]):
            at = start + row
            best = _nearest(known, at, bounds[row], residuals, variances, coefficients[row])
            without = known.mauc - _mauc(known.separations[at])
            found[places[int(f)]] = [
                Exchange(int(f), g, loss, without, share, _correlation(state, chosen, at, g))
                for loss, share, g in ((loss, share, int(others[i])) for loss, share, i in best)
            ]
    return found


def _describe(state, chosen):
    k = len(chosen)
    slopes = state.slopes[:k]
    inverse = solve_triangular(cholesky_of(state, chosen), np.eye(k), lower=True)
    precisions = (inverse**2).sum(axis=0)
    own = (inverse.T @ slopes) / precisions[:, np.newaxis]
    separations = (slopes**2).sum(axis=0) - own**2 * precisions[:, np.newaxis]
    whole = (slopes**2).sum(axis=0)
    return _Chosen(inverse, precisions, own, np.maximum(separations, 0.0), whole, _mauc(whole))


def _residuals(state, k, others):
    """Return the residual effects and variances of features, given the first k chosen ones."""
    factors, steps = state.factors, np.arange(len(state.factors))[:, np.newaxis]
    updated = state.n_updates[others]
    # Steps that are still missing are subtracted, those beyond the first k are added again.
    signs = (steps >= updated).astype(np.int8) * (steps < k) - (steps < updated) * (steps >= k)
    residuals = state.effects
    if len(others) < len(residuals):
        residuals = residuals[others]
    residuals = residuals - (signs * factors[:, others]).T @ state.slopes
    variances = np.maximum(1.0 - (factors[:k, others] ** 2).sum(axis=0), MIN_VARIANCE)
    return residuals, variances


def _mauc(separations):
    return float(ndtr(np.sqrt(separations / 2.0)).mean())


def _loss_bounds(known, block, residuals, variances, coefficients):
    """Return what the exchange of each chosen feature of a block for each other costs at least."""
    before = known.separations[block]
    roots = np.sqrt(np.maximum(before, 1e-300))
    slopes = np.exp(-before / 4.0) / (math.sqrt(2.0 * math.pi) * 2.0 * math.sqrt(2.0) * roots)
    slopes = np.minimum(slopes, _MAX_SLOPE) / before.shape[1]
    own = known.own[block]
    # The sum over the pairs of slope (e + a h)^2
    squares = slopes @ (residuals**2).T
    squares += 2.0 * coefficients * ((slopes * own) @ residuals.T)
    squares += coefficients**2 * (slopes * own**2).sum(axis=1)[:, np.newaxis]
    gains = squares / _variances(known, block, variances, coefficients)
    maucs = np.array([_mauc(row) for row in before])
    return known.mauc - maucs[:, np.newaxis] - gains


def _variances(known, block, variances, coefficients):
    """Return the variances of the others, given the chosen features but one."""
    precisions = np.atleast_1d(known.precisions[block])
    return variances + coefficients**2 / precisions[:, np.newaxis]


def _nearest(known, at, bounds, residuals, variances, coefficients):
    """Return the losses, shares and places of the best candidates, the nearest first."""
    near = np.flatnonzero(bounds <= MAX_LOSS)
    given = variances[near] + coefficients[near] ** 2 / known.precisions[at]
    # The squared correlation of both, given the rest of the chosen set.
    likeness = coefficients[near] ** 2 / given
    part = np.argsort(-likeness, kind="stable")[:_MAX_COUNTED]
    near, given = near[part], given[part, np.newaxis]
    effects = residuals[near] + coefficients[near, np.newaxis] * known.own[at]
    after = known.separations[at] + effects**2 / given
    replaced = ndtr(np.sqrt(after / 2.0)).mean(axis=1)
    after = known.whole + residuals[near] ** 2 / variances[near, np.newaxis]
    with_both = ndtr(np.sqrt(after / 2.0)).mean(axis=1)
    adds = max(known.mauc - _mauc(known.separations[at]), MIN_ADDED)
    shares = 1.0 - (with_both - replaced) / adds
    losses = (known.mauc - replaced).round(_DECIMALS)
    kept = np.flatnonzero((losses <= MAX_LOSS) & (shares >= MIN_SHARE))
    kept = kept[np.lexsort((near[kept], -shares[kept].round(_DECIMALS)))][:MAX_ALTERNATIVES]
    return [(float(losses[i]), float(shares[i]), int(near[i])) for i in kept]


def _correlation(state, chosen, at, g):
    """Return the correlation of a chosen feature with another one, as it was in the search."""
    lower = state.factors[: at + 1, chosen[at]].copy()
    lower[at] = math.sqrt(max(1.0 - float((lower[:at] ** 2).sum()), MIN_VARIANCE))
    return float(lower @ state.factors[: at + 1, g])
