"""Evaluation: how well classifiers do on ranked features."""

from mauc.evaluation.evaluate import FoldEvaluator, Measurement, evaluate_ranking
from mauc.evaluation.tuned_svm import TunedScores, evaluate_tuned_svm

__all__ = [
    "FoldEvaluator",
    "Measurement",
    "TunedScores",
    "evaluate_ranking",
    "evaluate_tuned_svm",
]
