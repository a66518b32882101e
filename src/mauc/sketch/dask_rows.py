"""Sketch the partitions of a Dask data frame where they lie, and merge the sketches in a tree.

Two passes make the result independent of workers and of the order in which they finish. The first
takes evenly spaced rows of every partition, and bins are chosen by all of them together. In the
second every partition is counted in these bins, and such counts add up exactly.
"""

import numpy as np

from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.sources import as_source
from mauc.sources.dask import home_of, part_lengths

_BRANCHES = 8  # sketches that are merged together
_COLUMNAR = ("ReadParquet", "FromPandas", "FromArray")  # expressions of Dask


def is_dask_frame(data):
    """Whether data are a Dask data frame; Dask is not imported."""
    return _is_of_dask(data) and hasattr(data, "columns")


def by_rows(X):
    """Return a Dask collection as a source, and whatever else as it is.

    Arrays on disk are not made sources: those that lie by rows would be transposed first.
    """
    return as_source(X) if _is_of_dask(X) else X


def _is_of_dask(data):
    return type(data).__module__.partition(".")[0] in ("dask", "dask_expr")


def sketch_dask_frame(frame, y, sketch):
    """Add all rows of a Dask data frame to an empty sketch, with the scheduler that is active.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    y : str, Dask Series or Array, or array-like of shape (n_rows,)
        Name of the column of the labels, or the labels; those of Dask in the same partitions.
    sketch : PairAUCSketch
        Without rows.

    Returns
    -------
    sketch : PairAUCSketch
    """
    dask = optional_import("dask", "Dask data frames")
    parts, home = label_parts(frame, y), home_of(frame)
    n_each = max(1, -(-sketch.n_sampled_of(len(frame.columns)) // len(parts)))
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


def label_parts(frame, y):
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
    values = np.asarray(y)
    lengths = part_lengths(frame)
    if sum(lengths) != len(values):
        raise MaucError(
            f"the Dask data frame has {sum(lengths)} rows, but y has {len(values)} labels."
        )  # fmt: skip
    return list(zip(rows, np.split(values, np.cumsum(lengths)[:-1]), strict=True))


def take_rows(part, labels, n_wanted):
    """Return evenly spaced rows of a partition, and their labels."""
    X, y = split_labels(part, labels)
    step = max(1, -(-len(y) // n_wanted))
    return X.iloc[::step], y[::step]


def count_rows(empty, part, labels):
    """Return a sketch of the rows of a partition."""
    X, y = split_labels(part, labels)
    made = empty.copy()
    return made.update(X, y) if len(y) else made


def merge_all(sketches):
    """Return one sketch of the rows of several."""
    first, *others = sketches
    made = first.copy()
    for other in others:
        made.merge(other)
    return made


def split_labels(part, labels):
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


def dask_shape(frame):
    """Return the size of a Dask data frame as `choose_way` takes it; one column is computed.

    Returns
    -------
    shape : dict
        Columns can be read apart where Dask pushes the choice of columns down to the files, or
        where the frame is in memory; there is no disk to write them to otherwise.
    """
    lengths = part_lengths(frame)
    n_columns = len(frame.columns)
    width = sum(getattr(kind, "itemsize", 8) for kind in frame.dtypes)
    return {
        "n_rows": sum(lengths),
        "n_columns": n_columns,
        "bytes_per_cell": width / max(n_columns, 1),
        "is_columnar": reads_columns(frame),
        "n_parts": len(lengths),
        "waits": True,
        "disk": 0,
    }


def reads_columns(frame):
    """Whether one column of a Dask data frame is computed without the others.

    True where the simplified expression of a column reads that column alone, from Parquet files or
    from memory. Text is parsed as a whole for any column, and so is computed what a function of
    whole partitions gave.
    """
    column = frame[[frame.columns[0]]]
    try:
        expression = column.simplify().expr
        leaves = [node for node in expression.walk() if not node.dependencies()]
        return all(
            type(leaf).__name__.startswith(_COLUMNAR) and len(leaf.columns) <= 1 for leaf in leaves
        )
    except (AttributeError, NotImplementedError, TypeError):  # an older kind of frame
        return False
