"""C4.5 decision trees."""

from mauc.lab.c45.estimator import C45

__all__ = ["C45"]
