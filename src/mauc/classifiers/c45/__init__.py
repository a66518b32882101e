"""C4.5 decision trees."""

from mauc.classifiers.c45.c45 import C45

__all__ = ["C45"]
