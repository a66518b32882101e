"""The selectors, as scikit-learn transformers: one file each."""

from mauc.selectors.maucd import MAUCD
from mauc.selectors.mdfs import MDFS
from mauc.selectors.subproblem import SubproblemSelector

__all__ = ["MAUCD", "MDFS", "SubproblemSelector"]
