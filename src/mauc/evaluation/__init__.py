"""MAUC of classifiers on ranked features, and how many features to keep."""

from mauc.evaluation.evaluate import FoldEvaluator, Measurement, evaluate_ranking
from mauc.evaluation.select_k import SizeCurve, select_k

__all__ = ["FoldEvaluator", "Measurement", "SizeCurve", "evaluate_ranking", "select_k"]
