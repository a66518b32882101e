"""Experiments: how well classifiers do on ranked features."""

from mauc.experiments.evaluate import FoldEvaluator, evaluate_ranking
from mauc.experiments.tuned_svm import TunedScores, evaluate_tuned_svm

__all__ = ["FoldEvaluator", "TunedScores", "evaluate_ranking", "evaluate_tuned_svm"]
