"""The classifiers of the paper, one file each."""

from mauc.classifiers.c45 import C45
from mauc.classifiers.methods import CLASSIFIERS, make_classifier
from mauc.classifiers.naive_bayes import NormalNaiveBayes
from mauc.classifiers.nearest_neighbor import NearestNeighbor
from mauc.classifiers.svm import RBFSVM
from mauc.classifiers.svm_tuning import TuningResult, tune_rbf_svm

__all__ = [
    "C45",
    "CLASSIFIERS",
    "RBFSVM",
    "NearestNeighbor",
    "NormalNaiveBayes",
    "TuningResult",
    "make_classifier",
    "tune_rbf_svm",
]
