"""Rows sketched instead of columns read: when commands do so, and what they say."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mauc.cli.common import echo_stderr
from mauc.cli.streaming import Plan
from mauc.exceptions import MaucError
from mauc.memory import format_bytes

if TYPE_CHECKING:
    from mauc.datasets import Dataset

# Bytes per row in addition to the column, for its sort and the labels, of a pass over columns.
_ROW_BYTES = 48
_COLUMN_COPIES = 3  # of a column: the one at work and two stripes
# Of a read of one column in one part of the rows: from a file here (13-23 microseconds on a table
# of 200,000 x 100 in row groups of 200 and 2,000 rows), and from another machine.
_CHUNK_SECONDS, _REQUEST_SECONDS = 2e-5, 2e-3
_READ_SPEED = 1e9  # bytes per second of a file
_MAX_FACTOR, _MIN_SECONDS = 10.0, 60.0  # what exactness is worth: times a sketch, and in any case
_SKETCH_BYTES = 3 * 1024 * 8  # per column and class

SketchOption = Annotated[
    bool,
    typer.Option(
        "--sketch",
        help="Read the rows once and sketch the AUCs (methods mdfs and maucd), whose largest "
        "error is told; by default only where columns would take too much memory or time.",
    ),
]


def choose_rows(plan: Plan, selector: Any, dataset: "Dataset") -> bool:
    """Choose whether the rows are sketched or the columns read, and say so.

    Parameters
    ----------
    plan : Plan
    selector : RankingSelector
        One without a ``fit_sketch`` reads columns.
    dataset : Dataset
        As it was opened.
    """
    if not plan.is_streamed or not hasattr(selector, "fit_sketch"):
        return False
    from mauc.data.columns import factorize

    source = dataset.X
    if plan.is_sketched:
        echo_stderr(f"{dataset.name}: sketched by rows, as --sketch says")
        _say_divided_parts(dataset)
        return True
    n_rows, n_columns = source.shape
    choose = partial(
        choose_strategy, n_rows, n_columns, source.n_bytes / (n_rows * n_columns), source.memory,
        n_parts=len(source.row_parts()), waits=source.waits,
    )  # fmt: skip
    is_by_rows, why = choose(n_classes=1)
    if is_by_rows:  # classes only make a sketch larger: for columns they are not counted
        is_by_rows, why = choose(n_classes=len(factorize(dataset.y)[0]))
    echo_stderr(f"{dataset.name}: {why}")
    if is_by_rows:
        _say_divided_parts(dataset)
    return is_by_rows


def choose_strategy(
    n_rows: int, n_columns: int, bytes_per_cell: float, memory: int, *, n_parts: int = 1,
    waits: bool = False, n_classes: int = 2,
) -> tuple[bool, str]:  # fmt: skip
    """Return whether rows are sketched, rather than columns read for exact AUCs, and why.

    Columns are read if a column fits into the memory with its sort, and in a minute, or at most ten
    times the time that a sketch takes: all data at 1 GB/s, and of every part of the rows each
    column with 0.02 ms from a file and 2 ms where reads wait for another machine; for a sketch each
    part once.

    >>> choose_strategy(10**6, 200, 4, 10**9)
    (False, 'read by columns: exact; 800 MB read once')
    >>> choose_strategy(10**9, 200, 4, 10**9)[1]
    'sketched by rows: one pass over 800.0 GB; a column and its sort would take 60.0 GB ...'
    """
    n_bytes = n_rows * n_columns * bytes_per_cell
    total, n_reads = format_bytes(n_bytes), n_parts * n_columns
    needed = n_rows * (_COLUMN_COPIES * bytes_per_cell + _ROW_BYTES)
    if needed > memory:
        return True, (
            f"sketched by rows: one pass over {total}; a column and its sort would take "
            f"{format_bytes(needed)} of memory, {format_bytes(memory)} may be used"
        )
    per_read = _REQUEST_SECONDS if waits else _CHUNK_SECONDS
    by_columns, by_rows = (n_bytes / _READ_SPEED + per_read * n for n in (n_reads, n_parts))
    is_slow = by_columns > max(_MAX_FACTOR * by_rows, _MIN_SECONDS)
    if is_slow and n_columns * n_classes * _SKETCH_BYTES <= memory:
        return True, (
            f"sketched by rows: one pass over {total}; by columns it would be {n_reads:,} reads, "
            f"about {by_columns / by_rows:,.0f} times as long"
        )
    return False, f"read by columns: exact; {total} read once"


def _say_divided_parts(dataset: "Dataset") -> None:
    """Say if rows that are stored together take so much memory that they are read in parts."""
    from mauc.sketch.rows import parts_of_rows

    stored, read = len(dataset.X.row_parts()), len(parts_of_rows(dataset.X))
    if read > stored:
        echo_stderr(
            f"{dataset.name}: to stay within --memory, {stored:,} row group{'s' * (stored > 1)} "
            f"must be read in {read:,} parts, which takes longer; smaller ones are read at once"
        )


def check_sketch(sketch: bool, selector: Any, engine: str) -> None:
    """Refuse ``--sketch`` where there is none, before anything is read."""
    if not sketch:
        return
    if not hasattr(selector, "fit_sketch"):
        raise MaucError(
            f"--sketch goes with the methods mdfs and maucd, which rank by the AUCs of features, "
            f"not with {type(selector).__name__}."
        )
    if engine == "dask":
        raise MaucError("--sketch goes with --engine local: it reads the rows here, in parts.")
