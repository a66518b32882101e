"""The classifiers of the paper, one folder each."""

from mauc.classifiers.c45.c45 import C45
from mauc.classifiers.naive_bayes.naive_bayes import NormalNaiveBayes
from mauc.classifiers.nearest_neighbor.nearest_neighbor import NearestNeighbor
from mauc.classifiers.svm.svm import RBFSVM
from mauc.classifiers.svm.tuning import TuningResult, tune_rbf_svm
from mauc.registry import CLASSIFIERS, make_classifier

__all__ = [
    "C45", "CLASSIFIERS", "RBFSVM", "NearestNeighbor", "NormalNaiveBayes", "TuningResult",
    "make_classifier", "tune_rbf_svm",
]  # fmt: skip
