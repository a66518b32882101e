"""Sketch whatever holds rows: a source, a Dask data frame, or parts that come one by one."""

from collections.abc import Iterator

import numpy as np

from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError, MaucTypeError
from mauc.progress import track
from mauc.sketch.dask_rows import is_dask_frame, sketch_dask_frame
from mauc.sketch.pair_auc_sketch import PairAUCSketch


def sketch_rows(data, y=None, *, n_bins=1024, classes=None, n_jobs=None):
    """Read rows once, part by part, and return a sketch of the AUCs of all class pairs.

    Memory is that of the sketch and of two parts, whatever the number of rows; of a source, both
    parts together take half of its `memory`.

    Parameters
    ----------
    data : ColumnSource, Dask data frame, or iterable of (X, y)
        A source is read in parts of its rows, within its memory, the next one while the last is
        counted. The partitions of a Dask data frame are sketched where they lie, and the sketches
        merged in a tree; the result does not depend on workers nor on the order in which they
        finish. Whatever else yields pairs of rows and labels, as `PairAUCSketch.update` takes them.
    y : array-like of shape (n_rows,), or str, optional
        Labels of a source; those of a Dask data frame, or the name of its column.
    n_bins, classes, n_jobs
        As in `PairAUCSketch`.

    Returns
    -------
    sketch : PairAUCSketch

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import MDFS, sketch_rows
    >>> X, y = load_iris(return_X_y=True)
    >>> parts = ((X[i::3], y[i::3]) for i in range(3))
    >>> MDFS(2, random_state=0).fit_sketch(sketch_rows(parts)).ranking_
    array([2, 3])
    """
    sketch = PairAUCSketch(n_bins, classes=classes, n_jobs=n_jobs)
    if is_dask_frame(data):
        return sketch_dask_frame(data, y, sketch)
    if isinstance(data, ColumnSource):
        if y is None:
            raise MaucError(f"y must hold a label for every row of {data.name}, got None.")
        return sketch.update(data, y)
    if y is not None:
        raise MaucTypeError(
            f"data must be a source or a Dask data frame where y is given, got "
            f"{type(data).__name__}; rows in memory are sketched by PairAUCSketch().update(X, y)."
        )
    for part in track(_pairs(data), "parts"):
        sketch.update(*part)
    return sketch


def _pairs(data) -> Iterator[tuple]:
    if not hasattr(data, "__iter__") or isinstance(data, np.ndarray | str):
        raise MaucTypeError(
            f"data must be a source, a Dask data frame or an iterable of (X, y), "
            f"got {type(data).__name__}."
        )
    for number, part in enumerate(data):
        if not isinstance(part, tuple | list) or len(part) != 2:
            raise MaucTypeError(f"part {number} of data must be a pair (X, y), got {part!r:.80}.")
        yield tuple(part)
