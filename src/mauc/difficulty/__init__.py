"""Which class pairs are hard, and which selectors neglect them."""

from mauc.difficulty.doctor import Diagnosis, Finding, diagnose
from mauc.difficulty.siren import SirenStudy, siren_index, siren_study

__all__ = ["Diagnosis", "Finding", "SirenStudy", "diagnose", "siren_index", "siren_study"]
