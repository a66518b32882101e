"""The nearest neighbour."""

from mauc.classifiers.nearest_neighbor.nearest_neighbor import NearestNeighbor

__all__ = ["NearestNeighbor"]
