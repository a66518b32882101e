"""How much a feature tells about a sub-problem: one file per measure.

A relevance is a function ``(problem, decomposition, chosen) -> scores`` that returns an array of
shape (n_chosen, n_subproblems) for a slice or list of columns; larger is better. It has an entry
in `mauc.registry`. ReliefF and the greedy filters look at all features at once and are
no such function.
"""

from mauc.registry import RELEVANCES

__all__ = ["RELEVANCES"]
