"""The selectors, as scikit-learn transformers: one file each."""

from mauc.registry import PAPER_SELECTORS, SELECTORS, make_selector
from mauc.selectors.arco import ARCO
from mauc.selectors.consensus import ConsensusSelector
from mauc.selectors.filters import (
    FAST,
    FSDD,
    MAUCD,
    MDFS,
    AnovaF,
    ChiSquare,
    FisherScore,
    InformationGain,
    SpreadFx,
    SubproblemSelector,
    SymmetricalUncertainty,
)
from mauc.selectors.greedy_mauc.estimator import GreedyMAUC
from mauc.selectors.information.fcbf import FCBF
from mauc.selectors.information.jmi import JMI
from mauc.selectors.information.mrmr import MRMR
from mauc.selectors.relieff.relieff import ReliefF

__all__ = [
    "ARCO", "FAST", "FCBF", "FSDD", "JMI", "MAUCD", "MDFS", "MRMR", "PAPER_SELECTORS",
    "SELECTORS", "AnovaF", "ChiSquare", "ConsensusSelector", "FisherScore", "GreedyMAUC",
    "InformationGain", "ReliefF", "SpreadFx", "SubproblemSelector", "SymmetricalUncertainty",
    "make_selector",
]  # fmt: skip
