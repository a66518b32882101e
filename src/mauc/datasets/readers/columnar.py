"""Read Parquet and Feather (Arrow IPC) files: columns with types in, a data frame out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mauc.datasets.readers.files import content_error, read_beginning
from mauc.datasets.readers.table import Table, check_precision, check_unique
from mauc.exceptions import MaucError


def read_parquet(path: Path) -> Table:
    """Read a Parquet file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    table : Table
    """
    import pyarrow.parquet as parquet

    if read_beginning(path, 4) not in (b"PAR1", b"PARE"):
        raise content_error(path, "a Parquet file")
    return _read(path, "a Parquet file", lambda: parquet.ParquetFile(path).read())


def read_feather(path: Path) -> Table:
    """Read a Feather file, which is an Arrow IPC file; or an Arrow IPC stream.

    Parameters
    ----------
    path : Path

    Returns
    -------
    table : Table
    """
    import pyarrow.ipc as ipc

    beginning = read_beginning(path, 8)
    if beginning.startswith(b"FEA1"):
        raise MaucError(f"{path} is a Feather file of version 1; save it again as version 2.")
    if beginning.startswith(b"ARROW1"):
        opener = ipc.open_file
    elif beginning.startswith(b"\xff\xff\xff\xff"):
        opener = ipc.open_stream
    else:
        raise content_error(path, "a Feather (Arrow IPC) file")

    def read() -> Any:
        with path.open("rb") as file:
            return opener(file).read_all()

    return _read(path, "a Feather (Arrow IPC) file", read)


def _read(path: Path, wanted: str, read: Callable[[], Any]) -> Table:
    import pyarrow as arrow
    import pyarrow.compute as compute

    try:
        columns = read()
        stored = [str(name) for name in columns.column_names]
        check_unique(path, stored)
        frame = columns.to_pandas()
    except (arrow.ArrowException, OSError) as error:
        raise MaucError(f"{path} cannot be read as {wanted}: {error}") from error
    if frame.shape[0] == 0:
        raise MaucError(f"{path} has columns but no rows.")
    names = [str(name) for name in frame.columns]

    def check_column(place: int) -> None:
        # Missing values turn integers into floats on the way to pandas, so Arrow's are checked.
        if names[place] not in stored:
            return
        column = columns.column(stored.index(names[place]))
        if arrow.types.is_integer(column.type):
            ends = compute.min_max(column).as_py().values()
            check_precision(path, names[place], [end for end in ends if end is not None])

    return Table(path, frame.set_axis(names, axis=1), names, check_column=check_column)
