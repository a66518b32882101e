"""The classifiers of the paper, one file each."""

from mauc.classifiers.c45 import C45

__all__ = ["C45"]
