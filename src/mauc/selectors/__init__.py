"""The selectors, as scikit-learn transformers: one file each."""

from mauc.selectors.chi_square import ChiSquare
from mauc.selectors.fsdd import FSDD
from mauc.selectors.maucd import MAUCD
from mauc.selectors.mdfs import MDFS
from mauc.selectors.methods import PAPER_SELECTORS, SELECTORS, make_selector
from mauc.selectors.mrmr import MRMR
from mauc.selectors.relieff import ReliefF
from mauc.selectors.spreadfx import SpreadFx
from mauc.selectors.subproblem import SubproblemSelector
from mauc.selectors.symmetrical_uncertainty import SymmetricalUncertainty

__all__ = [
    "FSDD",
    "MAUCD",
    "MDFS",
    "MRMR",
    "PAPER_SELECTORS",
    "SELECTORS",
    "ChiSquare",
    "ReliefF",
    "SpreadFx",
    "SubproblemSelector",
    "SymmetricalUncertainty",
    "make_selector",
]
