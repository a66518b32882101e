"""Which class pairs are hard, and which selectors neglect them."""

from mauc.difficulty.siren import siren_study
from mauc.difficulty.study import SirenStudy, siren_index

__all__ = ["SirenStudy", "siren_index", "siren_study"]
