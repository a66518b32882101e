"""Greedy choice for the separation of all class pairs."""

from mauc.selectors.greedy_mauc.greedy_mauc import GreedyMAUC

__all__ = ["GreedyMAUC"]
