"""The support vector machine with a Gaussian kernel, and its tuning."""

from mauc.classifiers.svm.svm import RBFSVM
from mauc.classifiers.svm.tuning import TuningResult, tune_rbf_svm

__all__ = ["RBFSVM", "TuningResult", "tune_rbf_svm"]
