"""Displays: they hold the numbers, `.plot(ax)` draws them, `.frame()` hands them out."""

from mauc.plotting.pair_map import PairMapDisplay

__all__ = ["PairMapDisplay"]
