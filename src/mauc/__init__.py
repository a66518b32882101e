"""Feature selection for a high multi-class AUC (MAUC)."""

from importlib.metadata import version

from mauc.discretize import MDLDiscretizer
from mauc.evaluation import SizeCurve, select_k
from mauc.experiments import load_run, siren_study
from mauc.metrics import (
    MAUCInterval,
    PairAUCReport,
    mauc_interval,
    mauc_score,
    mauc_scorer,
    pair_auc_scores,
)
from mauc.relevance import feature_pair_auc
from mauc.selectors import (
    ARCO,
    FAST,
    FCBF,
    FSDD,
    JMI,
    MAUCD,
    MDFS,
    MRMR,
    AnovaF,
    ChiSquare,
    FisherScore,
    GreedyMAUC,
    InformationGain,
    ReliefF,
    SpreadFx,
    SubproblemSelector,
    SymmetricalUncertainty,
)

__version__ = version("mauc")

__all__ = [
    "ARCO",
    "FAST",
    "FCBF",
    "FSDD",
    "JMI",
    "MAUCD",
    "MDFS",
    "MRMR",
    "AnovaF",
    "ChiSquare",
    "FisherScore",
    "GreedyMAUC",
    "InformationGain",
    "MAUCInterval",
    "MDLDiscretizer",
    "PairAUCReport",
    "ReliefF",
    "SizeCurve",
    "SpreadFx",
    "SubproblemSelector",
    "SymmetricalUncertainty",
    "__version__",
    "feature_pair_auc",
    "load_run",
    "mauc_interval",
    "mauc_score",
    "mauc_scorer",
    "pair_auc_scores",
    "select_k",
    "siren_study",
]
