"""Selectors by mutual information of discretised features: mRMR, JMI and FCBF."""

from mauc.selectors.information.fcbf import FCBF
from mauc.selectors.information.greedy import JMI, MRMR

__all__ = ["FCBF", "JMI", "MRMR"]
