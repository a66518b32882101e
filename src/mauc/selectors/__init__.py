"""The selectors, as scikit-learn transformers: one file each."""

from mauc.registry import PAPER_SELECTORS, SELECTORS, make_selector
from mauc.selectors.anova_f import AnovaF
from mauc.selectors.arco.arco import ARCO
from mauc.selectors.chi_square import ChiSquare
from mauc.selectors.consensus.consensus import ConsensusSelector
from mauc.selectors.fast import FAST
from mauc.selectors.fisher_score import FisherScore
from mauc.selectors.fsdd import FSDD
from mauc.selectors.greedy_mauc.greedy_mauc import GreedyMAUC
from mauc.selectors.information.fcbf import FCBF
from mauc.selectors.information.jmi import JMI
from mauc.selectors.information.mrmr import MRMR
from mauc.selectors.information_gain import InformationGain
from mauc.selectors.maucd import MAUCD
from mauc.selectors.mdfs import MDFS
from mauc.selectors.relieff.relieff import ReliefF
from mauc.selectors.spreadfx import SpreadFx
from mauc.selectors.subproblem import SubproblemSelector
from mauc.selectors.symmetrical_uncertainty import SymmetricalUncertainty

__all__ = [
    "ARCO", "FAST", "FCBF", "FSDD", "JMI", "MAUCD", "MDFS", "MRMR", "PAPER_SELECTORS",
    "SELECTORS", "AnovaF", "ChiSquare", "ConsensusSelector", "FisherScore", "GreedyMAUC",
    "InformationGain", "ReliefF", "SpreadFx", "SubproblemSelector", "SymmetricalUncertainty",
    "make_selector",
]  # fmt: skip
