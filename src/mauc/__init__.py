"""Feature selection for a high multi-class AUC (MAUC)."""

from importlib.metadata import version

from mauc.metrics import PairAUCReport, mauc_score, mauc_scorer, pair_auc_scores
from mauc.relevance import feature_pair_auc
from mauc.selectors import MAUCD, MDFS, SubproblemSelector

__version__ = version("mauc")

__all__ = [
    "MAUCD",
    "MDFS",
    "PairAUCReport",
    "SubproblemSelector",
    "__version__",
    "feature_pair_auc",
    "mauc_score",
    "mauc_scorer",
    "pair_auc_scores",
]
