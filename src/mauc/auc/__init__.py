"""The engine: AUCs of all features on all class pairs, and of classifier scores."""

from mauc.auc.pair_auc import feature_pair_auc
from mauc.auc.sketch import PairAUCSketch, sketch_rows

__all__ = ["PairAUCSketch", "feature_pair_auc", "sketch_rows"]
