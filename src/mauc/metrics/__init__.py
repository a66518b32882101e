"""MAUC of classifier scores: the value, its interval, the report behind it, and a scorer."""

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
    "MAUCInterval", "PairAUCReport", "auc_mu_score", "make_mauc_scorer", "mauc_interval",
    "mauc_score", "mauc_scorer", "pair_auc_scores",
]  # fmt: skip
