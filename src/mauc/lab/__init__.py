"""The laboratory of the paper: WEKA's C4.5 and the tuned support vector machine."""

from mauc.lab.c45.estimator import C45
from mauc.lab.svm_tuning import TuningResult, tune_rbf_svm
from mauc.lab.tuned_scores import TunedScores, evaluate_tuned_svm

__all__ = ["C45", "TunedScores", "TuningResult", "evaluate_tuned_svm", "tune_rbf_svm"]
