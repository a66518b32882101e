# ruff: noqa: I001
# What type checkers and editors see instead of the lazy imports of __init__.py.
from mauc.evaluation.best import BestSubset, best_subset
from mauc.binning import MDLDiscretizer
from mauc.data.source import ColumnSource
from mauc.difficulty import siren_study
from mauc.evaluation.doctor import Diagnosis, diagnose
from mauc.evaluation import SizeCurve, select_k
from mauc.experiments import load_run
from mauc.io.load import open_columns
from mauc.metrics.compare import MAUCComparison, compare_mauc
from mauc.metrics.interval import MAUCInterval, mauc_interval
from mauc.metrics.mauc import (
    PairAUCReport, auc_mu_score, make_mauc_scorer, mauc_score, mauc_scorer, pair_auc_scores,
)  # fmt: skip
from mauc.precompile import WarmupSummary, warmup
from mauc.selectors import (
    ARCO, FCBF, FSDD, JMI, MAUCD, MDFS, MRMR, AnovaF, ChiSquare, ConsensusSelector,
    FisherScore, GreedyMAUC, InformationGain, ReliefF, SpreadFx, SubproblemSelector,
    SymmetricalUncertainty,
)  # fmt: skip
from mauc.measure.pair_auc import feature_pair_auc
from mauc.measure.pair_tests import PairTests, pair_tests
from mauc.sketch import PairAUCSketch, sketch_rows

__version__: str
__all__ = [
    "ARCO", "FCBF", "FSDD", "JMI", "MAUCD", "MDFS", "MRMR", "AnovaF", "BestSubset",
    "ChiSquare", "ColumnSource", "ConsensusSelector", "Diagnosis", "FisherScore", "GreedyMAUC",
    "InformationGain", "MAUCComparison", "MAUCInterval", "MDLDiscretizer", "PairAUCReport",
    "PairAUCSketch", "PairTests", "ReliefF", "SizeCurve", "SpreadFx", "SubproblemSelector",
    "SymmetricalUncertainty", "WarmupSummary", "__version__", "auc_mu_score", "best_subset",
    "compare_mauc", "diagnose", "feature_pair_auc", "load_run", "make_mauc_scorer",
    "mauc_interval", "mauc_score", "mauc_scorer", "open_columns", "pair_auc_scores", "pair_tests",
    "select_k", "siren_study", "sketch_rows", "warmup",
]  # fmt: skip
