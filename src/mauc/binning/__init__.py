"""Discretise columns and count bins against classes."""

from mauc.binning.discretizer import MDLDiscretizer

__all__ = ["MDLDiscretizer"]
