"""Sketch whole data sets: a source, a Dask data frame, or batches that come one by one."""

from typing import Any

import numpy as np

from mauc.data.source import ColumnSource, default_memory
from mauc.exceptions import MaucError, MaucTypeError
from mauc.extras import optional_import
from mauc.io.dask import home_of, part_lengths
from mauc.memory import format_bytes
from mauc.sketch.pair_auc_sketch import PairAUCSketch
from mauc.sketch.rows import is_of_dask

_BRANCHES = 8  # sketches that are merged in one task
_COLUMNAR = ("ReadParquet", "FromPandas", "FromArray")  # expressions of Dask
# Bytes per row in addition to the column, for its sort and the labels, of a pass over columns.
_ROW_BYTES = 48
_COLUMN_COPIES = 3  # of a column: the one at work and two stripes
# Of a read of one column in one part of the rows: from a file here (13-23 microseconds on a table
# of 200,000 x 100 in row groups of 200 and 2,000 rows), and where each is a request to another
# machine or a task of a scheduler.
_CHUNK_SECONDS, _REQUEST_SECONDS = 2e-5, 2e-3
_READ_SPEED = 1e9  # bytes per second of a file
_MAX_FACTOR, _MIN_SECONDS = 10.0, 60.0  # what exactness is worth: times a sketch, and in any case


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
        finish. An iterable yields pairs of rows and labels for `PairAUCSketch.update`.
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
        return _sketch_partitions(data, y, sketch)
    if isinstance(data, ColumnSource):
        if y is None:
            raise MaucError(f"y must hold a label for every row of {data.name}, got None.")
        return sketch.update(data, y)
    if y is not None:
        raise MaucTypeError(
            f"data must be a source or a Dask data frame where y is given, got "
            f"{type(data).__name__}; rows in memory are sketched by PairAUCSketch().update(X, y)."
        )
    if not hasattr(data, "__iter__") or isinstance(data, np.ndarray | str):
        raise MaucTypeError(
            f"data must be a source, a Dask data frame or an iterable of (X, y), "
            f"got {type(data).__name__}."
        )
    for number, part in enumerate(data):
        if not isinstance(part, tuple | list) or len(part) != 2:
            raise MaucTypeError(f"part {number} of data must be a pair (X, y), got {part!r:.80}.")
        sketch.update(*part)
    return sketch


def is_dask_frame(data: Any) -> bool:
    """Whether data are a Dask data frame; Dask is not imported."""
    return is_of_dask(data) and hasattr(data, "columns")


def _sketch_partitions(frame, y, sketch):
    """Add all rows of a Dask data frame to an empty sketch, with the scheduler that is active.

    Two passes make the result independent of workers and of the order in which they finish. The
    first takes evenly spaced rows of every partition, and bins are fixed by all of them.
    In the second every partition is counted in these bins, and such counts add up exactly.
    """
    dask = optional_import("dask", "Dask data frames")
    parts, home = _label_parts(frame, y), home_of(frame)
    n_each = max(1, -(-sketch.n_first_rows(len(frame.columns)) // len(parts)))
    take, count, merge = (dask.delayed(f, pure=True) for f in (take_rows, count_rows, merge_all))
    samples = dask.compute(*(take(part, labels, n_each) for part, labels in parts), scheduler=home)
    for sample in samples:
        if len(sample[1]):
            sketch.update(*sample)
    if sketch.n_features is None:
        raise MaucError(f"the Dask data frame has no rows in its {len(parts)} partitions.")
    empty = dask.delayed(sketch.empty_like(), traverse=False)
    made = [count(empty, part, labels) for part, labels in parts]
    while len(made) > 1:
        made = [merge(made[at : at + _BRANCHES]) for at in range(0, len(made), _BRANCHES)]
    return dask.compute(made[0], scheduler=home)[0]


def _label_parts(frame, y):
    """Return the partitions as (rows, labels), delayed; labels may be the name of a column."""
    if isinstance(y, str) and y not in frame.columns:
        raise MaucError(f"y must name a column of the Dask data frame, got {y!r}.")
    rows = frame.to_delayed()
    if isinstance(y, str):
        return [(part, y) for part in rows]
    if y is None:
        raise MaucError("y must hold the labels or name their column, got None.")
    if hasattr(y, "to_delayed"):
        labels = list(np.asarray(y.to_delayed()).ravel())
        if len(labels) != len(rows):
            raise MaucError(
                f"y must have the partitions of X: X has {len(rows)}, y has {len(labels)}; "
                f"name the column of the labels, or repartition y."
            )
        return list(zip(rows, labels, strict=True))
    values, lengths = np.asarray(y), part_lengths(frame)
    if sum(lengths) != len(values):
        raise MaucError(
            f"the Dask data frame has {sum(lengths)} rows, but y has {len(values)} labels."
        )  # fmt: skip
    return list(zip(rows, np.split(values, np.cumsum(lengths)[:-1]), strict=True))


def take_rows(part, labels, n_wanted):
    """Return evenly spaced rows of a partition, and their labels."""
    X, y = _split_labels(part, labels)
    step = max(1, -(-len(y) // n_wanted))
    return X.iloc[::step], y[::step]


def count_rows(empty, part, labels):
    """Return a sketch of the rows of a partition."""
    X, y = _split_labels(part, labels)
    return empty.copy().update(X, y) if len(y) else empty


def merge_all(sketches):
    """Return one sketch of the rows of several."""
    made = sketches[0].copy()
    for other in sketches[1:]:
        made.merge(other)
    return made


def _split_labels(part, labels):
    """Return the features of a partition, a pandas frame, and its labels."""
    if isinstance(labels, str):
        return part.drop(columns=labels), np.asarray(part[labels])
    labels = np.asarray(labels)
    if len(labels) != len(part):
        raise MaucError(
            f"y must have the partitions of X, got one with {len(labels)} labels for "
            f"{len(part)} rows."
        )
    return part, labels


def dask_strategy(frame: Any) -> tuple[bool, str]:
    """Return `choose_strategy` of a Dask data frame; one column is computed for its size."""
    lengths, n_columns = part_lengths(frame), len(frame.columns)
    width = sum(getattr(kind, "itemsize", 8) for kind in frame.dtypes) / max(n_columns, 1)
    return choose_strategy(
        sum(lengths), n_columns, width, default_memory(), is_columnar=reads_columns(frame),
        n_parts=len(lengths), waits=True,
    )  # fmt: skip


def reads_columns(frame: Any) -> bool:
    """Whether one column of a Dask data frame is computed without the others.

    True where the simplified expression of a column reads that column alone, from Parquet files or
    from memory. Text is parsed as a whole for any column, and functions of whole partitions are
    computed for all columns.
    """
    try:
        expression = frame[[frame.columns[0]]].simplify().expr
        leaves = [node for node in expression.walk() if not node.dependencies()]
        return all(
            type(leaf).__name__.startswith(_COLUMNAR) and len(leaf.columns) <= 1 for leaf in leaves
        )
    except (AttributeError, NotImplementedError, TypeError):  # an older kind of frame
        return False


def choose_strategy(
    n_rows: int, n_columns: int, bytes_per_cell: float, memory: int, *, is_columnar: bool = True,
    n_parts: int = 1, waits: bool = False, n_classes: int = 2, n_bins: int = 1024,
) -> tuple[bool, str]:  # fmt: skip
    """Return whether rows are sketched, rather than columns read for exact AUCs, and why.

    Columns are read if a column fits into the memory with its sort, and in a minute, or at most ten
    times the time that a sketch takes: all data at 1 GB/s, and of every part of the rows each
    column with 0.02 ms from a file and 2 ms where reads wait for another machine or a scheduler;
    for a sketch each part once. Where columns cannot be read without the others (not
    `is_columnar`), all data must fit.

    >>> choose_strategy(10**6, 200, 4, 10**9)
    (False, 'read by columns: exact; 800 MB read once')
    >>> choose_strategy(10**9, 200, 4, 10**9)[1]
    'sketched by rows: one pass over 800.0 GB; a column and its sort would take 60.0 GB ...'
    """
    n_bytes = n_rows * n_columns * bytes_per_cell
    total, n_reads = format_bytes(n_bytes), n_parts * n_columns
    needed = n_rows * (_COLUMN_COPIES * bytes_per_cell + _ROW_BYTES)
    what = "a column and its sort"
    if not is_columnar:
        needed, what = _COLUMN_COPIES * n_bytes + n_rows * _ROW_BYTES, "all columns"
    if needed > memory:
        return True, (
            f"sketched by rows: one pass over {total}; {what} would take {format_bytes(needed)} "
            f"of memory, {format_bytes(memory)} may be used"
        )
    if not is_columnar:
        return False, f"read by columns: exact; {total} fit into memory"
    per_read = _REQUEST_SECONDS if waits else _CHUNK_SECONDS
    by_columns, by_rows = (n_bytes / _READ_SPEED + per_read * n for n in (n_reads, n_parts))
    is_slow = by_columns > max(_MAX_FACTOR * by_rows, _MIN_SECONDS)
    if is_slow and n_columns * n_classes * n_bins * 8 <= memory:
        return True, (
            f"sketched by rows: one pass over {total}; by columns it would be {n_reads:,} reads, "
            f"about {by_columns / by_rows:,.0f} times as long"
        )
    return False, f"read by columns: exact; {total} read once"
