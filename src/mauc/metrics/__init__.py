"""MAUC of classifier scores: the value, its interval, the report behind it, and a scorer."""

from mauc.metrics.interval import MAUCInterval, mauc_interval
from mauc.metrics.mauc import PairAUCReport, mauc_score, pair_auc_scores
from mauc.metrics.scorer import MAUCScorer, mauc_scorer

__all__ = [
    "MAUCInterval", "MAUCScorer", "PairAUCReport", "mauc_interval", "mauc_score", "mauc_scorer",
    "pair_auc_scores",
]  # fmt: skip
