"""Choose how data that do not fit into memory are read: by columns, exactly, or by rows."""

from typing import NamedTuple

from mauc.memory import format_bytes

# Bytes per row beside the column itself, for its sort and the labels: those of a pass over columns.
_ROW_BYTES = 48
_COLUMN_COPIES = 3  # of a column: the one at work and two stripes
_SKETCH_BYTES = 8  # per bin and class
# Of a read of one column in one part of the rows: from a file here (13-23 microseconds on a table
# of 200,000 x 100 in row groups of 200 and 2,000 rows), and where each is a request to another
# machine or a task of a scheduler.
_CHUNK_SECONDS, _REQUEST_SECONDS = 2e-5, 2e-3
_READ_SPEED = 1e9  # bytes per second of a file
_TRANSPOSE_PASSES = 3  # over data that lie by rows: read, written by columns, read again
_MAX_FACTOR = 10.0  # exactness is worth this many times the time of a sketch,
_MIN_SECONDS = 60.0  # and a minute in any case


class Way(NamedTuple):
    """A way to read data and what it costs."""

    name: str  #: "columns" or "rows"
    sentence: str  #: for whoever waits


def choose_way(
    n_rows, n_columns, bytes_per_cell, memory, *, is_columnar=True, n_parts=1, waits=False,
    disk=None, n_classes=2, n_bins=1024,
):  # fmt: skip
    """Choose between columns, which gives exact AUCs, and rows, which gives a sketch of them.

    Columns are chosen if all data fit into memory, or if they can be read within the memory, on the
    disk there is, and in a minute, or at most ten times the time that a sketch takes.

    Parameters
    ----------
    n_rows, n_columns : int
    bytes_per_cell : float
        Bytes of a value in memory.
    memory : int
        Bytes that may be used.
    is_columnar : bool, default=True
        Whether columns can be read without the others. If not, they are written by columns first.
    n_parts : int, default=1
        Parts of the rows that are stored apart: row groups of all files, or partitions.
    waits : bool, default=False
        Whether every read waits for another machine, or for a scheduler.
    disk : int, optional
        Free bytes for columns that must be written first; not limited if None. 0 where they cannot
        be written.
    n_classes : int, default=2
    n_bins : int, default=1024

    Returns
    -------
    way : Way

    Notes
    -----
    With D the bytes of all values, reading takes D / (1 GB/s). By columns every column is read from
    every part, with 0.02 ms each from a file and 2 ms where reads wait, and data that lie by rows
    are read, written and read again: 3 D. By rows D is read once, with as much per part. A column
    needs three times its bytes in memory and 48 bytes per row for its sort; a sketch needs 8 bytes
    per feature, class and bin and two parts.

    Examples
    --------
    >>> from mauc.sketch import choose_way
    >>> choose_way(10**6, 200, 4, 10**9).name
    'columns'
    >>> choose_way(10**9, 200, 4, 10**9).sentence
    'sketched by rows: one pass over 800.0 GB; a column and its sort would take 60.0 GB ...'
    """
    n_bytes = n_rows * n_columns * bytes_per_cell
    per_column = n_rows * (_COLUMN_COPIES * bytes_per_cell + _ROW_BYTES)
    passes = 1 if is_columnar else _TRANSPOSE_PASSES
    n_requests = n_parts * n_columns if is_columnar else 2 * n_parts
    seconds = _REQUEST_SECONDS if waits else _CHUNK_SECONDS
    by_columns = passes * n_bytes / _READ_SPEED + seconds * n_requests
    by_rows = n_bytes / _READ_SPEED + seconds * n_parts
    sketch = n_columns * n_classes * n_bins * _SKETCH_BYTES
    total = format_bytes(n_bytes)
    if not is_columnar and _COLUMN_COPIES * n_bytes + n_rows * _ROW_BYTES <= memory:
        return Way("columns", f"read by columns: exact; {total} fit into memory")
    reason = None
    is_forced = per_column > memory or (not is_columnar and disk is not None and n_bytes > disk)
    if per_column > memory:
        reason = (
            f"a column and its sort would take {format_bytes(per_column)} of memory, "
            f"{format_bytes(memory)} may be used"
        )
    elif is_forced:
        reason = (
            f"to write columns would take {format_bytes(n_bytes)} of disk, "
            f"{format_bytes(disk)} are free"
        )
    elif by_columns > max(_MAX_FACTOR * by_rows, _MIN_SECONDS):
        reason = (
            f"by columns it would be {n_requests:,} reads, about {by_columns / by_rows:,.0f} "
            f"times as long"
        )
    if reason is not None and (is_forced or sketch <= memory):
        return Way("rows", f"sketched by rows: one pass over {total}; {reason}")
    if is_columnar:
        return Way("columns", f"read by columns: exact; {total} read once")
    return Way("columns", f"read by columns: exact; {total} written by columns first")
