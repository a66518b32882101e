"""Upper bounds on the number of wrong features in a stability selection."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from mauc.checks import check_real
from mauc.layout import plain_layout
from mauc.results import Result, number, rows_to_columns

_SHOWN = (0.6, 0.7, 0.8, 0.9, 1.0)  # thresholds of the table
_MIN_SHIFT, _MAX_SHIFT = 1e-5, 1e5  # of the extreme distributions: steepest and flattest


class ErrorBound(NamedTuple):
    """Bounds on the expected number of wrong features among those of high frequency."""

    threshold: float  #: the frequency that they reach, a multiple of 1 / n_resamples
    n_features: int  #: features that reach it
    worst_case: float  #: bound without any assumption; NaN where there is none
    unimodal: float  #: bound for unimodal frequencies; NaN where it is not known
    r_concave: float  #: bound for r-concave frequencies


@dataclass(frozen=True, repr=False)
class ErrorControl(Result):
    r"""Upper bounds on the expected number of wrong features, for thresholds of the frequency.

    A feature is *wrong* if its probability to be chosen from a half of the samples is at most that
    of a choice of q of p features at random, q / p; docs/methods/consensus.md has the bounds.
    """

    frequencies: np.ndarray  #: (n_features,): share of the halves that chose a feature
    n_chosen: int  #: q, the features that each half chose
    n_pairs: int  #: complementary pairs of halves

    def at(self, threshold: float) -> ErrorBound:
        """Return the bounds for a threshold in (0.5, 1], rounded up to a possible frequency."""
        threshold = check_real("threshold", threshold, 0.5, 1.0, is_low_open=True)
        p, n_halves = len(self.frequencies), 2 * self.n_pairs
        # Frequencies are fractions of n_halves; 0.6 of 50 is 30, not 31.
        threshold = math.ceil(round(threshold * n_halves, 9)) / n_halves
        n_reaching = int((self.frequencies >= threshold - 1e-9).sum())
        share = self.n_chosen / p
        return ErrorBound(
            threshold,
            n_reaching,
            worst_case(share, threshold) * p,
            unimodal(share, threshold, self.n_pairs) * p,
            r_concave(share, threshold, self.n_pairs) * p,
        )

    def __iter__(self) -> Iterator[ErrorBound]:
        return (self.at(threshold) for threshold in _SHOWN)

    def frame_columns(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame`: those of `ErrorBound` for thresholds of 0.6 to 1."""
        return rows_to_columns(self, ErrorBound._fields)

    def printed_parts(self) -> list[Any]:
        """Return the lines and tables to be printed, in order."""
        heads = ("frequency", "features", "worst case", "unimodal", "r-concave")
        rows = [
            [f">= {one.threshold:.2f}", str(one.n_features), *(number(v, ".2f") for v in one[2:])]
            for one in self
        ]
        line = (
            f"expected number of wrong features, at most (wrong: chosen from half of the samples "
            f"with a probability of at most {self.n_chosen}/{len(self.frequencies)}):"
        )
        return [line, plain_layout(heads, rows, right=heads[1:])]


def worst_case(share: float, threshold: float) -> float:
    """Return the bound of Theorem 1 as a share of all features, at most 1."""
    return min(1.0, share * share / (2.0 * threshold - 1.0))


def unimodal(share: float, threshold: float, n_pairs: int) -> float:
    """Return the bound of Theorem 2 as a share of all features, at most 1; NaN outside of it."""
    least = min(0.5 + share**2, 0.5 + 1.0 / (2 * n_pairs) + 0.75 * share**2)
    if share > 1.0 / math.sqrt(3.0) or threshold <= least:
        return math.nan
    if threshold <= 0.75:
        gap = 2.0 * threshold - 1.0 - 1.0 / (2 * n_pairs)
        return min(1.0, share * share / (2.0 * gap)) if gap > 0.0 else math.nan
    factor = 4.0 * (1.0 - threshold + 1.0 / (2 * n_pairs)) / (1.0 + 1.0 / n_pairs)
    return min(1.0, factor * share * share)


def r_concave(share: float, threshold: float, n_pairs: int) -> float:
    """Return the bound for r-concave frequencies as a share of all features, at most 1."""
    n_reached = round(threshold * 2 * n_pairs)
    both = concave_tail(share * share, n_reached - n_pairs, n_pairs, -0.5)
    single = concave_tail(share, n_reached, 2 * n_pairs, -0.25)
    # fmin, as there may be no bound for unimodal frequencies.
    known = np.fmin(worst_case(share, threshold), unimodal(share, threshold, n_pairs))
    return min(both, single, float(known))


def concave_tail(mean: float, t: int, n: int, r: float) -> float:
    """Return the largest P(X >= t) of an r-concave X on 0, 1, ..., n of expectation `mean` * n."""
    total, power = mean * n, 1.0 / r
    if mean <= 0.0:
        return 0.0 if t > 0 else 1.0
    first = math.ceil(2.0 * total) + 1
    if t < first or first > n:
        return 1.0
    flattest = _shift(first, total, power, _MAX_SHIFT)
    if first == n:  # no terms remain after it
        terms = (flattest + np.arange(n + 1.0)) ** power
        return float(terms[t:].sum() / terms.sum())
    highest = 0.0
    for k in range(first, n):
        steepest = _shift(k + 1, total, power, flattest)
        if t <= k + 1:
            found = minimize_scalar(
                lambda shift, k=k: -_tail(shift, k, t, total, power),
                bounds=(steepest, flattest),
                method="bounded",
                options={"xatol": 1e-9},
            )
            ends = [_tail(shift, k, t, total, power) for shift in (steepest, flattest)]
            highest = max(highest, -found.fun, *ends)
        flattest = steepest
    return min(1.0, highest)


def _shift(k: int, total: float, power: float, most: float) -> float:
    """Return the a for which the probabilities (a + i)^power on 0 ... k have the mean `total`."""
    values = np.arange(k + 1.0)

    def excess(log_shift: float) -> float:
        """Return how far the mean is above the wanted one."""
        terms = (math.exp(log_shift) + values) ** power
        return float((values * terms).sum() / terms.sum()) - total

    low, high = math.log(_MIN_SHIFT), math.log(most)
    if excess(high) <= 0.0:
        return most
    if excess(low) >= 0.0:
        return _MIN_SHIFT
    return math.exp(brentq(excess, low, high, xtol=1e-12))


def _tail(shift: float, k: int, t: int, total: float, power: float) -> float:
    """Return P(X >= t) of the distribution with a rest at k + 1."""
    terms = (shift + np.arange(k + 1.0)) ** power
    scale = (k + 1 - total) / float(((k + 1.0 - np.arange(k + 1.0)) * terms).sum())
    return 1.0 - scale * float(terms[:t].sum())
