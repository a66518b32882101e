"""Why a pair of classes is hard: what was measured on it in, a kind and a sentence out."""

import math
from dataclasses import dataclass
from typing import Any

from scipy import stats

SEPARATED = 0.99  # AUC from which a pair is not called hard
MIN_SAMPLES = 10  # of a class; with fewer an AUC says little
MIN_GAP = 0.05  # of AUC, by which a feature is better than the best of the chosen
MIN_GAIN = 0.005  # of cross-validated AUC, by which one more feature must raise it
MIN_RISE = 0.25  # part of the distance to AUC 1 that all features together must gain
WEAK = 0.8  # AUC below which a single feature does not separate two classes

TITLES = {
    "separated": "Well separated",
    "few": "Too few samples",
    "left_out": "A better feature is left out",
    "more": "More features would help",
    "none": "No feature separates them",
    "limit": "More features do not help",
}


@dataclass(frozen=True)
class PairFacts:
    """What is known about a pair of classes.

    Parameters
    ----------
    names : tuple of str
    counts : tuple of int
        Samples of the two classes.
    n_features : int
        Of the data.
    chosen_auc, best_auc : float
        Largest AUC of a single chosen feature, and of any feature; measured on all samples.
    best_feature : str
        The feature that has `best_auc`.
    set_auc, every_auc, added_auc : float or None
        Cross-validated AUC of Naive Bayes with the chosen features, with all features, and with
        the chosen ones and `best_feature`.
    """

    names: tuple[str, str]
    counts: tuple[int, int]
    n_features: int
    chosen_auc: float
    best_auc: float
    best_feature: str
    set_auc: float | None = None
    every_auc: float | None = None
    added_auc: float | None = None


def diagnose(pair: PairFacts) -> tuple[str, str]:
    """Return what would help a pair of classes.

    Returns
    -------
    kind : str
        A key of `TITLES`.
    sentence : str
        With the numbers that speak for it.

    Examples
    --------
    >>> from mauc.report.html.diagnose import PairFacts, diagnose
    >>> diagnose(PairFacts(("u", "v"), (50, 60), 8, 0.71, 0.93, "width", 0.75, 0.94, 0.92))
    ('left_out', 'width alone has an AUC of 0.930 here, the best chosen feature 0.710; with it \
Naive Bayes gets from 0.750 to 0.920.')
    """
    if pair.set_auc is not None and pair.set_auc >= SEPARATED:
        return "separated", "The chosen features tell them apart; nothing needs to be done."
    small = min(pair.counts)
    if small < MIN_SAMPLES:
        who = " and ".join(
            f"{name} has {count}"
            for name, count in zip(pair.names, pair.counts, strict=True)
            if count < MIN_SAMPLES
        )
        return "few", f"{who}: more samples are needed before any feature can be judged."
    chance = chance_auc(pair.counts, pair.n_features)
    if pair.best_auc < chance and chance > WEAK:
        return "few", (
            f"The best of {pair.n_features:,} features has an AUC of {pair.best_auc:.3f}, and "
            f"with {pair.counts[0]:,} and {pair.counts[1]:,} samples chance alone may give "
            f"{chance:.3f}: more samples are needed to tell which feature helps."
        )
    if _is_left_out(pair):
        gain = ""
        if pair.added_auc is not None and pair.set_auc is not None:
            gain = f"; with it Naive Bayes gets from {pair.set_auc:.3f} to {pair.added_auc:.3f}"
        return "left_out", (
            f"{pair.best_feature} alone has an AUC of {pair.best_auc:.3f} here, the best chosen "
            f"feature {pair.chosen_auc:.3f}{gain}."
        )
    if pair.set_auc is not None and pair.every_auc is not None:
        rise = pair.every_auc - pair.set_auc
        if rise > max(MIN_GAIN, MIN_RISE * (1 - pair.set_auc)):
            return "more", (
                f"Naive Bayes with all {pair.n_features:,} features reaches {pair.every_auc:.3f} "
                "here: several features together separate them better."
            )
    if pair.best_auc < max(WEAK, chance):
        return "none", (
            f"The best of all {pair.n_features:,} features has an AUC of {pair.best_auc:.3f} "
            "here: other measurements are needed, not another choice."
        )
    every = ""
    if pair.every_auc is not None:
        every = f", and Naive Bayes with all {pair.n_features:,} gets {pair.every_auc:.3f}"
    return "limit", (
        f"Alone the best of all features has an AUC of {pair.best_auc:.3f} here{every}: try "
        "another classifier or other measurements."
    )


def _is_left_out(pair: PairFacts) -> bool:
    is_better = pair.best_auc - pair.chosen_auc >= MIN_GAP
    if pair.added_auc is None or pair.set_auc is None:
        return is_better
    return is_better and pair.added_auc - pair.set_auc > MIN_GAIN


def chance_auc(counts: tuple[int, int], n_features: int, alpha: float = 0.05) -> float:
    """Return the AUC that the best of many features without information exceeds rarely.

    By the normal approximation of the Mann-Whitney statistic, with Bonferroni's correction for
    the number of features.

    Examples
    --------
    >>> from mauc.report.html.diagnose import chance_auc
    >>> round(chance_auc((20, 20), 5000), 2), round(chance_auc((500, 500), 20), 2)
    (0.91, 0.56)
    """
    first, second = counts
    deviation = math.sqrt((first + second + 1) / (12 * first * second))
    z: Any = stats.norm.isf(alpha / (2 * n_features))
    return min(1.0, 0.5 + float(z) * deviation)
