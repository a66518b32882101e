"""How much a feature tells about a sub-problem: one file a measure.

A relevance is a function ``(problem, decomposition, chosen) -> scores`` that returns an
array of shape (n_chosen, n_subproblems) for a slice or list of columns; larger is better.
"""

from mauc.relevance.auc import auc_relevance, feature_pair_auc

RELEVANCES = {"auc": auc_relevance}

__all__ = ["RELEVANCES", "auc_relevance", "feature_pair_auc"]
