"""Fits on a Dask cluster: workers read their own columns, and small results come back."""

from mauc.cluster.cluster import Cluster, join_cluster
from mauc.cluster.states import RangeStates

__all__ = ["Cluster", "RangeStates", "join_cluster"]
