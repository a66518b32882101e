"""
Which feature separates which pair of classes?
==============================================

A map of the AUC of every chosen feature on every pair of classes.
"""

from sklearn.datasets import load_wine

from mauc import GreedyMAUC
from mauc.plotting import PairMapDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
selector = GreedyMAUC(5).fit(X, y)
PairMapDisplay.from_selector(selector)
