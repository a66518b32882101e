"""The stability of feature selection: how alike several selections are, with an interval."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from mauc.checks import check_level
from mauc.exceptions import MaucError

Array = np.ndarray


@dataclass(frozen=True)
class Stability:
    """Stability of selections, with a confidence interval from the normal distribution."""

    value: float  #: 1 if all selections are the same, about 0 if they are made at random
    variance: float  #: of the estimate
    lower: float
    upper: float  #: at most 1


#: of selections that hold all features, or none
UNKNOWN = Stability(np.nan, np.nan, np.nan, np.nan)


def stability(
    selections: Iterable[ArrayLike], n_features: int, *, alpha: float = 0.05
) -> Stability:
    r"""Measure how alike selections of features are (Nogueira, Sechidis and Brown).

    Parameters
    ----------
    selections : sequence of array-like of int
        Column numbers of at least 2 selections, in any order; sizes may differ.
    n_features : int
        Number of features to choose from.
    alpha : float, default=0.05
        The interval covers the stability with probability 1 - alpha.

    Returns
    -------
    stability : Stability
        NaN if every selection holds all features, or none: there was nothing to choose.

    Notes
    -----
    With d features, M selections of mean size :math:`\bar k` and :math:`\hat p_f` the part of
    the selections that holds feature f (Definition 4 of [1]_),

    .. math::

        \hat\Phi = 1 - \frac{\frac{1}{d} \sum_f \frac{M}{M-1} \hat p_f (1 - \hat p_f)}
                            {\frac{\bar k}{d} (1 - \frac{\bar k}{d})}

    For selections of one size this is the index of Kuncheva [2]_, averaged over pairs of
    selections. docs/methods/measures.md has its variance (Theorem 7), by which the interval is
    made. It takes selections as independent; those of cross-validation share training samples.

    References
    ----------
    .. [1] S. Nogueira, K. Sechidis, G. Brown, "On the Stability of Feature Selection
       Algorithms", JMLR 18(174), 2018.
    .. [2] L. I. Kuncheva, "A Stability Index for Feature Selection", AIA 2007.

    Examples
    --------
    >>> from mauc.stats import stability
    >>> round(stability([[0, 1], [0, 1], [0, 2]], n_features=4).value, 4)
    0.3333
    """
    z = float(stats.norm.isf(check_level("alpha", alpha) / 2))
    sets = [_check_selection(selection, n_features) for selection in selections]
    n_sets = len(sets)
    if n_sets < 2:
        raise MaucError(f"stability needs at least 2 selections to compare, got {n_sets}.")
    sizes = np.array([len(chosen) for chosen in sets])
    # Integers throughout: equal selections then give exactly 1.
    held = np.bincount(np.concatenate(sets), minlength=n_features)
    total = int(sizes.sum())
    spread = total * (n_sets * n_features - total)  # k/d (1 - k/d), times (M d)^2
    if spread == 0:
        return UNKNOWN
    observed = int((held * (n_sets - held)).sum())  # sum of p (1 - p), times M^2
    value = 1 - observed * n_sets * n_features / ((n_sets - 1) * spread)

    chance = total / (n_sets * n_features)
    parts = sizes / n_features
    shared = np.array([held[chosen].sum() for chosen in sets]) / (n_sets * n_features)
    influence = shared - parts * chance + value / 2 * (2 * parts * chance - parts - chance + 1)
    influence /= chance * (1 - chance)
    variance = 4 / n_sets**2 * float(((influence - influence.mean()) ** 2).sum())
    half = z * np.sqrt(variance)
    lower, upper = np.clip((value - half, value + half), min(value, 0.0), 1.0)
    return Stability(value, variance, float(lower), float(upper))


def _check_selection(selection: ArrayLike, n_features: int) -> Array:
    chosen = np.asarray(selection)
    if chosen.ndim != 1 or (chosen.dtype.kind not in "iu" and len(chosen)):
        raise MaucError(f"a selection must list column numbers, got {selection!r}.")
    chosen = chosen.astype(np.int64)
    if len(chosen) and not (chosen.min() >= 0 and chosen.max() < n_features):
        raise MaucError(
            f"a selection must hold columns of [0, {n_features}) (n_features), "
            f"got {chosen.min()} to {chosen.max()}."
        )
    if len(np.unique(chosen)) != len(chosen):
        raise MaucError(f"a selection must hold a feature once, got {chosen.tolist()}.")
    return chosen
