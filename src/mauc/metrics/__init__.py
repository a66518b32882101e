"""MAUC of classifier scores: value, interval, a test of two, the report behind it, a scorer."""

from mauc.metrics.compare import MAUCComparison, compare_mauc
from mauc.metrics.interval import MAUCInterval, mauc_interval
from mauc.metrics.mauc import (
    PairAUCReport,
    auc_mu_score,
    make_mauc_scorer,
    mauc_score,
    mauc_scorer,
    pair_auc_scores,
)

__all__ = [
    "MAUCComparison",
    "MAUCInterval",
    "PairAUCReport",
    "auc_mu_score",
    "compare_mauc",
    "make_mauc_scorer",
    "mauc_interval",
    "mauc_score",
    "mauc_scorer",
    "pair_auc_scores",
]
