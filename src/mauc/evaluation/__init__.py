"""MAUC of classifiers on ranked features, and how many features to keep."""

from mauc.evaluation.evaluate import (
    FoldEvaluator,
    Measurement,
    TunedScores,
    evaluate_ranking,
    evaluate_tuned_svm,
)
from mauc.evaluation.select_k import SizeCurve, select_k

__all__ = [
    "FoldEvaluator",
    "Measurement",
    "SizeCurve",
    "TunedScores",
    "evaluate_ranking",
    "evaluate_tuned_svm",
    "select_k",
]
