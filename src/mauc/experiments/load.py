"""Read a run back: its folder in, a data frame of all rows out."""

from pathlib import Path
from typing import Any

from mauc.exceptions import IncompleteRunWarning, MaucError, warn_user
from mauc.experiments.rows import import_pyarrow, schema
from mauc.experiments.store import RunFolder


def load_run(path: str | Path, *, frame: str = "pandas") -> Any:
    """Read the rows of a run, one per measurement.

    Parameters
    ----------
    path : str or Path
        The run folder.
    frame : {"pandas", "polars", "arrow"}, default="pandas"

    Returns
    -------
    rows : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Columns of `mauc.experiments.Row`, in the order of the plan whatever order the cells ran
        in. Rows of failed combinations have status "failed", their error, and MAUC NaN.

    Raises
    ------
    MaucError
        If a shard is damaged; it names the file. Running the plan again computes it anew.

    Warns
    -----
    IncompleteRunWarning
        If cells of the plan are not there yet.

    Notes
    -----
    The shards are plain Parquet, for DuckDB too:
    ``SELECT selector, avg(mauc) FROM 'run/cells/*/*.parquet' GROUP BY selector``.
    """
    if frame not in ("pandas", "polars", "arrow"):
        raise MaucError(f'frame must be "pandas", "polars" or "arrow", got {frame!r}.')
    pa = import_pyarrow()
    folder = RunFolder(path)
    plan = folder.read_plan()
    order = {spec.name: place for place, spec in enumerate(plan.datasets)}
    cells = sorted(plan.cells(), key=lambda cell: (order[cell.dataset], cell.repeat, cell.fold))
    present = [cell for cell in cells if folder.has(cell)]
    if len(present) < len(cells):
        warn_user(
            f"{folder.path} has {len(present)} of {len(cells)} cells; run its plan again to go on.",
            IncompleteRunWarning,
        )
    tables = [folder.read(cell) for cell in present]
    table = pa.concat_tables(tables) if tables else schema().empty_table()
    if frame == "arrow":
        return table
    if frame == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return table.to_pandas()
