"""AUCs of rows that come in streams: a mergeable sketch with a bound of its error."""

from mauc.sketch.pair_auc_sketch import PairAUCSketch
from mauc.sketch.rows import sketch_rows
from mauc.sketch.ways import Way, choose_way

__all__ = ["PairAUCSketch", "Way", "choose_way", "sketch_rows"]
