"""Read Parquet and Feather (Arrow IPC) files: columns with types in, a data frame out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mauc.datasets.dataset import WIDEST_INTEGER
from mauc.datasets.readers.files import read_beginning, refuse_content
from mauc.datasets.readers.table import Table, refuse_digits, refuse_twins
from mauc.exceptions import MaucError
from mauc.extras import optional_import


def read_parquet(path: Path) -> Table:
    """Read a Parquet file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    table : Table
    """
    parquet = optional_import("pyarrow.parquet", "Parquet files")
    if read_beginning(path, 4) not in (b"PAR1", b"PARE"):
        raise refuse_content(path, "a Parquet file")
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
    ipc = optional_import("pyarrow.ipc", "Feather files")
    beginning = read_beginning(path, 8)
    if beginning.startswith(b"FEA1"):
        raise MaucError(f"{path} is a Feather file of version 1; save it again as version 2.")
    if beginning.startswith(b"ARROW1"):
        opener = ipc.open_file
    elif beginning.startswith(b"\xff\xff\xff\xff"):
        opener = ipc.open_stream
    else:
        raise refuse_content(path, "a Feather (Arrow IPC) file")

    def read() -> Any:
        with path.open("rb") as file:
            return opener(file).read_all()

    return _read(path, "a Feather (Arrow IPC) file", read)


def _read(path: Path, wanted: str, read: Callable[[], Any]) -> Table:
    arrow = optional_import("pyarrow", wanted)
    optional_import("pandas", wanted)
    try:
        columns = read()
        stored = [str(name) for name in columns.column_names]
        refuse_twins(path, stored)
        frame = columns.to_pandas()
    except (arrow.ArrowException, OSError) as error:
        raise MaucError(f"{path} cannot be read as {wanted}: {error}") from error
    if frame.shape[0] == 0:
        raise MaucError(f"{path} has columns but no rows.")
    names = [str(name) for name in frame.columns]

    def check_column(place: int) -> None:
        # Missing values turn integers into floats on the way to pandas, so the digits are
        # looked at before.
        if names[place] in stored:
            _check_digits(path, names[place], columns.column(stored.index(names[place])))

    return Table(path, frame.set_axis(names, axis=1), names, check_column=check_column)


def _check_digits(path: Path, name: str, column: Any) -> None:
    arrow = optional_import("pyarrow", "column types")
    compute = optional_import("pyarrow.compute", "column types")
    if arrow.types.is_integer(column.type):
        ends = compute.min_max(column).as_py()
        for value in (ends["min"], ends["max"]):
            if value is not None and abs(value) > WIDEST_INTEGER:
                raise refuse_digits(path, name, value)
