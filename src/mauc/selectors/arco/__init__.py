"""AUC less rank correlation with what is selected."""

from mauc.selectors.arco.arco import ARCO

__all__ = ["ARCO"]
