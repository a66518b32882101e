"""Relevances of features on sub-problems: one file per measure.

A relevance is a function ``(problem, decomposition, chosen) -> scores`` that returns an array of
shape (n_chosen, n_subproblems) for a slice or list of columns; larger is better. It has an entry
in `mauc.registry`. ReliefF and the greedy selectors look at all features at once and are
no such functions.
"""

from mauc.registry import RELEVANCES

__all__ = ["RELEVANCES"]
