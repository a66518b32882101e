"""The classifiers of the paper, one folder each."""

from mauc.classifiers.bayes import NormalNaiveBayes
from mauc.classifiers.c45.estimator import C45
from mauc.classifiers.nearest import NearestNeighbor
from mauc.classifiers.svm import RBFSVM
from mauc.classifiers.svm_tuning import TuningResult, tune_rbf_svm
from mauc.registry import CLASSIFIERS, make_classifier

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
