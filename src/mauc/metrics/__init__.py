"""MAUC of classifier scores: the value, the report behind it, and a scikit-learn scorer."""

from mauc.metrics.mauc import PairAUCReport, mauc_score, pair_auc_scores
from mauc.metrics.scorer import mauc_scorer

__all__ = ["PairAUCReport", "mauc_score", "mauc_scorer", "pair_auc_scores"]
