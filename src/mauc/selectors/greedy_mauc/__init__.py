"""Greedy choice for the separation of all class pairs."""

from mauc.selectors.greedy_mauc.estimator import GreedyMAUC

__all__ = ["GreedyMAUC"]
