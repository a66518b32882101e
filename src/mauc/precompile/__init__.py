"""Compile the kernels of all methods before they are needed, in parallel processes."""

from mauc.precompile.processes import WarmupSummary, warmup

__all__ = ["WarmupSummary", "warmup"]
