"""AUCs of rows that come in streams: a mergeable sketch with a bound of its error."""

from mauc.auc.sketch.pair_auc_sketch import PairAUCSketch

__all__ = ["PairAUCSketch"]
