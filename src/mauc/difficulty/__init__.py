"""Which class pairs are hard, and which selectors neglect them."""

from mauc.difficulty.measures import SirenStudy, siren_index
from mauc.difficulty.siren import siren_study

__all__ = ["SirenStudy", "siren_index", "siren_study"]
