"""Which class pairs are hard, and which selectors neglect them."""

from mauc.difficulty.siren import SirenStudy, siren_index, siren_study

__all__ = ["SirenStudy", "siren_index", "siren_study"]
