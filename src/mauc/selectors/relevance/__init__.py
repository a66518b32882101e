"""How much a feature tells about a sub-problem: one file a measure.

A relevance in `RELEVANCES` is a function ``(problem, decomposition, chosen) -> scores`` that
returns an array of shape (n_chosen, n_subproblems) for a slice or list of columns; larger is
better. ReliefF and the greedy filters (mRMR, JMI, ARCO, FCBF, GreedyMAUC) look at all features at
once and are no such function.
"""

from collections.abc import Callable

import numpy as np

from mauc.selectors.relevance.auc import auc_relevance, feature_pair_auc
from mauc.selectors.relevance.contingency import chi2_relevance, ig_relevance, su_relevance
from mauc.selectors.relevance.fast import fast_relevance
from mauc.selectors.relevance.fisher import anova_relevance, fisher_relevance
from mauc.selectors.relevance.fsdd import fsdd_relevance

RELEVANCES: dict[str, Callable[..., np.ndarray]] = {
    "auc": auc_relevance,
    "chi2": chi2_relevance,
    "su": su_relevance,
    "ig": ig_relevance,
    "fsdd": fsdd_relevance,
    "fisher": fisher_relevance,
    "anova": anova_relevance,
    "fast": fast_relevance,
}
#: relevances that take sample weights, nominal columns, and infinite values
WEIGHTED = ("auc", "fsdd", "fisher", "anova")
NOMINAL = ("chi2", "su", "ig")
UNBOUNDED = ("auc",)

__all__ = ["NOMINAL", "RELEVANCES", "UNBOUNDED", "WEIGHTED", "auc_relevance", "feature_pair_auc"]
