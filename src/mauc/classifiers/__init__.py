"""Classifiers that share their work among the first features of a ranking."""

from mauc.classifiers.bayes import NormalNaiveBayes
from mauc.classifiers.nearest import NearestNeighbor
from mauc.classifiers.svm import RBFSVM
from mauc.registry import CLASSIFIERS, make_classifier

__all__ = ["CLASSIFIERS", "RBFSVM", "NearestNeighbor", "NormalNaiveBayes", "make_classifier"]
