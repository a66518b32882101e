"""AUCs of rows that come in streams: a mergeable sketch with a bound of its error."""

from mauc.sketch.pair_auc_sketch import PairAUCSketch, sketch_rows

__all__ = ["PairAUCSketch", "sketch_rows"]
