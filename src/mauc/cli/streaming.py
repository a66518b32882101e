"""Data that are not read into memory: when commands do so, and how."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mauc.cli.common import echo_stderr
from mauc.cli.reading import Reading
from mauc.cli.show import watched
from mauc.exceptions import LeftOutWarning, MaucError, spell_options
from mauc.io.files import is_collection
from mauc.io.options import command_line_option

if TYPE_CHECKING:
    from mauc.datasets import Dataset

MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Read the columns in blocks, within this much memory, such as 500MB or 1GB; by "
        "default a file is read whole if there is room for it. The result is the same. Text files "
        "are first copied to a cache by columns, see mauc cache.",
    ),
]
# What reading a file whole takes at its peak, measured on tables of numbers: the columns as Arrow,
# pandas and NumPy have them; the text, its lines and the numbers.
_COLUMNAR_COPIES, _TEXT_COPIES = 4, 3


@dataclass(frozen=True)
class Plan:
    """How the data of a command are read.

    Parameters
    ----------
    data : str
    target : str, optional
    reading : Reading
    memory : int, optional
        Bytes that a pass over the columns may take.
    is_streamed : bool
        Whether columns are read when they are needed; otherwise the file is read whole.
    why : str
        In words, if nobody asked for it; otherwise empty.
    is_sketched : bool
        Whether the rows are sketched, whatever is cheaper.
    """

    data: str
    target: str | None
    reading: Reading
    memory: int | None
    is_streamed: bool
    why: str = ""
    is_sketched: bool = False

    def refuse(self, what: str, advice: str) -> None:
        """Raise if data that are not read into memory are too little for what is asked."""
        if self.is_streamed:
            because = self.why or "with --memory the columns are read in blocks"
            raise MaucError(f"{what} needs all data in memory, but {because}; {advice}.")

    def load(self) -> "Dataset":
        """Load the data, or open them."""
        if not self.is_streamed:
            return self.reading.load(self.data, self.target)
        from mauc.io.load import open_dataset

        self.reading.check_words()
        with warnings.catch_warnings(), spell_options(command_line_option):
            warnings.simplefilter("ignore", LeftOutWarning)  # it is in the notes
            return watched(open_dataset, f"opening {self.data}")(
                self.data, self.target, memory=self.memory, **self.reading.options()
            )


def check_streamed(plan: Plan, k: str | None, report: Path | None = None) -> None:
    """Refuse what cannot be done with data that are not read into memory."""
    if k == "auto":
        plan.refuse(
            "-k auto (cross-validation)", "say how many by -k, or say -k predicted with greedy"
        )
    if report is not None:
        plan.refuse(
            "--report", "write the chosen columns (--output reduced.parquet) and report on these"
        )


def plan_reading(
    data: str,
    target: str | None,
    reading: Reading,
    memory: str | None,
    *,
    engine: str = "local",
    sketch: bool = False,
) -> Plan:
    """Decide whether the data of a command are read into memory; nothing is read yet."""
    from mauc.memory import format_bytes, free_memory, parse_bytes

    limit = None if memory is None else parse_bytes(memory, "--memory")
    asked = {
        "--memory": limit is not None, "--engine dask": engine == "dask", "--sketch": sketch,
    }  # fmt: skip
    if any(asked.values()):
        option = next(option for option, is_asked in asked.items() if is_asked)
        _check_streamable(data, reading, option)
        why = {"--engine dask": "workers of Dask read the columns in blocks",
               "--sketch": "a sketch reads the rows in parts"}.get(option, "")  # fmt: skip
        return Plan(data, target, reading, limit, is_streamed=True, why=why, is_sketched=sketch)
    if is_collection(data) or is_array(data):
        many = "may stand for many files, whose" if is_collection(data) else "is an array whose"
        why = f"{data} {many} columns are read in blocks"
        return Plan(data, target, reading, None, is_streamed=True, why=why)
    needed, free = _needed_bytes(data, reading), free_memory()
    if needed is None or free is None or needed <= free:
        return Plan(data, target, reading, None, is_streamed=False)
    why = (
        f"{data} would take about {format_bytes(needed)} of memory, of which "
        f"{format_bytes(free)} are free, so that its columns are read in blocks"
    )
    echo_stderr(f"{why} (--memory says how much they may take).")
    return Plan(data, target, reading, None, is_streamed=True, why=why)


def is_array(data: str) -> bool:
    """Whether data are a file of arrays that are read by columns, as in ``data.h5::X``."""
    from mauc.io.formats import find_format, is_data_path

    return is_data_path(data) and find_format(data) in ("hdf5", "npy", "zarr")


def _check_streamable(data: str, reading: Reading, option: str) -> None:
    from mauc.datasets import BUNDLED
    from mauc.io.files import is_stream
    from mauc.io.formats import FORMATS, find_format
    from mauc.io.registry import find_dataset

    if data in BUNDLED:
        raise MaucError(
            f"{option} goes with files, folders and addresses, not with the bundled data set "
            f"{data!r}, which is small; leave it out."
        )
    if is_stream(data):
        raise MaucError(
            f"{option} goes with files, folders and addresses, which can be read more than once, "
            f"got {data}; write the stream to a file first."
        )
    if is_collection(data) or is_array(data):
        return
    path = find_dataset(data)
    name = find_format(path, reading.data_format)
    if not FORMATS[name].streams:
        streamed = [known for known, format in FORMATS.items() if format.streams]
        raise MaucError(
            f"{path}: {name} files are read whole; {option} goes with {', '.join(streamed)} files. "
            f"Leave it out, or convert the file."
        )


def _needed_bytes(data: str, reading: Reading) -> int | None:
    """Return about how much memory reading a file whole takes; None where that is not known."""
    from mauc.io.formats import TEXT_FORMATS, find_format

    path = Path(data)
    try:
        name = find_format(path, reading.data_format)
        size = path.stat().st_size
    except (MaucError, OSError):
        return None
    if name in TEXT_FORMATS:
        return _TEXT_COPIES * size * (10 if path.suffix == ".gz" else 1)
    if name != "parquet":
        return None
    try:
        from pyarrow import parquet

        metadata = parquet.read_metadata(path)
    except Exception:  # whatever is wrong with it, reading it will say
        return None
    widths = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4}
    kinds = [metadata.schema.column(j).physical_type for j in range(metadata.num_columns)]
    return _COLUMNAR_COPIES * int(metadata.num_rows) * sum(widths.get(kind, 8) for kind in kinds)
