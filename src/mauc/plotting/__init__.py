"""Displays: they hold the numbers, `.plot(ax)` draws them, `.frame()` hands them out."""

from mauc.plotting.pair_map import PairMapDisplay
from mauc.plotting.tree import TreeDisplay

__all__ = ["PairMapDisplay", "TreeDisplay"]
