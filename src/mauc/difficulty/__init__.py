"""Which class pairs are hard, and which selectors neglect them."""

from mauc.difficulty.measures import siren_index
from mauc.difficulty.siren import siren_study
from mauc.difficulty.study import SirenStudy

__all__ = ["SirenStudy", "siren_index", "siren_study"]
