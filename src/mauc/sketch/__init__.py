"""AUCs of rows that come in streams: a mergeable sketch with a bound of its error."""

from mauc.sketch.fitting import choose_strategy, dask_strategy, is_dask_frame, sketch_rows
from mauc.sketch.pair_auc_sketch import PairAUCSketch

__all__ = ["PairAUCSketch", "choose_strategy", "dask_strategy", "is_dask_frame", "sketch_rows"]
