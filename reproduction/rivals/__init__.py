"""Feature selectors that people use otherwise, as selectors of a plan.

Each class ranks all features, best first, in ``ranking_``; ``scores_`` falls along the ranking,
which is what `mauc.experiments` ranks an imported selector by. Plans name them by import path, with
this folder's parent on the Python path: ``method = "rivals.trees.RandomForestImportance"``.
"""
