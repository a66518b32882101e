"""Fits on a Dask cluster: workers read their own columns, and small results come back."""

from mauc.cluster.cluster import Cluster, join_cluster

__all__ = ["Cluster", "join_cluster"]
