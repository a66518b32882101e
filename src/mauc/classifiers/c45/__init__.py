"""C4.5 decision trees."""

from mauc.classifiers.c45.estimator import C45

__all__ = ["C45"]
