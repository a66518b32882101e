"""ReliefF: nearest hits and misses."""

from mauc.selectors.relieff.relieff import ReliefF

__all__ = ["ReliefF"]
