"""Selectors by mutual information of discretised features: mRMR, JMI and FCBF."""

from mauc.selectors.information.fcbf import FCBF
from mauc.selectors.information.jmi import JMI
from mauc.selectors.information.mrmr import MRMR

__all__ = ["FCBF", "JMI", "MRMR"]
