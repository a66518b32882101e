"""Feature selection for a high multi-class AUC (MAUC)."""

from importlib.metadata import version

from mauc.discretize import MDLDiscretizer
from mauc.experiments import load_run, siren_study
from mauc.metrics import PairAUCReport, mauc_score, mauc_scorer, pair_auc_scores
from mauc.relevance import feature_pair_auc
from mauc.selectors import (
    FSDD,
    MAUCD,
    MDFS,
    MRMR,
    ChiSquare,
    ReliefF,
    SpreadFx,
    SubproblemSelector,
    SymmetricalUncertainty,
)

__version__ = version("mauc")

__all__ = [
    "FSDD",
    "MAUCD",
    "MDFS",
    "MRMR",
    "ChiSquare",
    "MDLDiscretizer",
    "PairAUCReport",
    "ReliefF",
    "SpreadFx",
    "SubproblemSelector",
    "SymmetricalUncertainty",
    "__version__",
    "feature_pair_auc",
    "load_run",
    "mauc_score",
    "mauc_scorer",
    "pair_auc_scores",
    "siren_study",
]
