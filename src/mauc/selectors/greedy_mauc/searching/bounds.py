"""Upper bounds of the gains of all features: which of them need not be rated in a step.

The gain of f is sum_p w_p (1 - exp(-rate e_p^2 / v)), see `step.py`. Let it
have been u when the variance was v0 and the weights were w0, and let a_tp be the slopes of the
features chosen since and l_t the factors of f: its effects are now e_p - sum_t a_tp l_t, and its
variance is v = v0 - sum_t l_t^2. For all positive c

    (e_p - y_p)^2 <= (1 + c) e_p^2 + (1 + 1/c) y_p^2,    y_p = sum_t a_tp l_t,

1 - exp(-x) is concave and at most x, and sum_p w_p y_p^2 <= m (v0 - v) with m the largest
eigenvalue of the matrix sum_p w_p a_sp a_tp. With the best c the gain is at most h^2 / v, where

    h = sqrt(v0 u max_p (w_p / w0_p)) + sqrt(rate m (v0 - v)).

Correlations are small for most features, so that a bound stays useful for many steps.
"""

import math

import numpy as np
from numba import njit, uintp

from mauc.selectors.greedy_mauc.searching.correlations import MIN_VARIANCE

MIN_EFFECTS = 1 << 17  # with fewer, rating all features takes less time than finding bounds
_MAX_WINDOW = 64  # steps before all bounds are renewed
# What rounding may take from a bound or add to a gain: much more than it does.
SLACK, MARGIN = 1.0 + 1e-6, 1e-11


class GainBounds:
    """Bounds of the gains of all features.

    Parameters
    ----------
    n_features : int
    weights : ndarray of shape (n_pairs,), float64
        Before the first step.
    rate : float

    Attributes
    ----------
    limits : ndarray of shape (n_features,), float64
        What the gain of each feature does not exceed in this step.
    reaches, variances : ndarray of shape (n_features,), float64
        sqrt(v0 u) and v0 of each feature.
    places : ndarray of shape (n_features,), int64
        The step that they are of, counted from the first of the window.
    place : int
        This step, counted in the same way.
    """

    def __init__(self, n_features, weights, rate):
        # The matrix of a window takes a small part of the time that rating all features would.
        window = min(_MAX_WINDOW, 2 + math.isqrt(n_features))
        self.limits = np.full(n_features, np.inf)  # nothing is known before the first step
        self.reaches = np.full(n_features, np.inf)
        self.variances = np.ones(n_features)
        self.places = np.zeros(n_features, np.int64)
        self.place = 0
        self._rate, self._first, self._spread = rate, 0, 0.0
        self._weights_at = np.empty((window + 1, len(weights)))
        self._weights_at[0] = weights
        self._growths = np.ones(window + 1)
        self._is_full = False
        self._is_worthwhile = n_features * len(weights) >= MIN_EFFECTS

    def advance(self, step, slopes, weights):
        """Prepare the bounds of the next step.

        Parameters
        ----------
        step : int
            Features chosen so far.
        slopes : ndarray of shape (n_wanted, n_pairs), float64
        weights : ndarray of shape (n_pairs,), float64
        """
        if not self._is_worthwhile:
            return
        if self._is_full:
            self._weights_at[0] = self._weights_at[-1]
            self._first += len(self._weights_at) - 1
        n_since = step - self._first
        self._weights_at[n_since] = weights
        with np.errstate(over="ignore"):  # an infinite bound is a bound
            ratios = weights / self._weights_at[: n_since + 1]
        self._growths[: n_since + 1] = np.sqrt(ratios.max(axis=1))
        recent = slopes[self._first : step]
        matrix = (recent * weights) @ recent.T
        # Of its fourth power, the root of the sum of squares is not below the largest eigenvalue,
        # and near it.
        scale = max(np.abs(matrix).max(), 1e-300)
        power = matrix / scale
        power = power @ power
        power = power @ power
        largest = scale * float((power * power).sum()) ** 0.125
        self._spread = math.sqrt(self._rate * largest)
        self._is_full = n_since == len(self._weights_at) - 1
        self.place = 0 if self._is_full else n_since

    def update(self, block, variances):
        """Fill in the limits of a range of features, given their variances."""
        if not self._is_worthwhile:
            self.limits[slice(*block)] = np.inf
            return
        bound_block(
            *block, variances, self._growths, self._spread, self._is_full,
            self.variances, self.places, self.reaches, self.limits,
        )  # fmt: skip


@njit(cache=True, nogil=True)
def bound_block(
    first, last, variances, growths, spread, is_full, old_variances, places, reaches, limits
):
    """Fill in limits; if the window is full, they become the start of the next one.

    Parameters
    ----------
    first, last : int
    variances : ndarray of shape (n_features,), float64
    growths : ndarray of float64
        sqrt(max_p w_p / w0_p) for every step of the window.
    spread : float
        sqrt(rate m)
    is_full : bool
    old_variances, places, reaches, limits
        As in `GainBounds`.
    """
    for f in range(uintp(first), uintp(last)):
        v = variances[f]
        reach = reaches[f] * growths[uintp(places[f])]
        reach += spread * math.sqrt(max(old_variances[f] - v, 0.0) + MARGIN)
        # At the floor, a variance no longer tells the sum of squared factors.
        reach = reach if v > MIN_VARIANCE else np.inf
        limits[f] = reach * reach * SLACK / v + MARGIN
        if is_full:
            reaches[f], old_variances[f], places[f] = reach, v, 0
