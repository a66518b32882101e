"""Data that are not read into memory: when commands do so, and how."""

import warnings
from dataclasses import dataclass, replace
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mauc.cli.common import echo_stderr
from mauc.cli.reading import Reading, as_options
from mauc.cli.show import watched
from mauc.exceptions import LeftOutWarning, MaucError

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

    def load(self, *, settle: bool = False) -> "Dataset":
        """Load the data, or open them; columns that may be no features are read with `settle`."""
        if not self.is_streamed:
            return self.reading.load(self.data, self.target)
        self.reading.check_words()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LeftOutWarning)  # it is in the notes
            try:
                dataset = watched(open_dataset, f"opening {self.data}")(self, settle=settle)
            except MaucError as error:
                raise type(error)(as_options(str(error))) from error
        return replace(dataset, notes=tuple(map(as_options, dataset.notes)))


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
        _check_streamable(data, target, reading, option)
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


def is_collection(data: str) -> bool:
    """Whether data are a folder, a pattern or an address rather than a file or a name.

    Examples
    --------
    >>> from mauc.cli.streaming import is_collection
    >>> [is_collection(data) for data in ("folder/*.parquet", "s3://bucket/big.parquet", "siren")]
    [True, True, False]
    """
    path = Path(data)
    if path.is_file() or data.startswith("/dev/"):
        return False
    return "://" in data or has_magic(data) or path.is_dir()


def is_array(data: str) -> bool:
    """Whether data are a file of arrays that are read by columns, as in ``data.h5::X``."""
    from mauc.sources.kinds import ARRAYS

    return Path(data.partition("::")[0]).suffix.lower() in ARRAYS


def open_dataset(plan: Plan, *, settle: bool = False) -> "Dataset":
    """Open data whose columns are read when they are needed.

    Parameters
    ----------
    plan : Plan
    settle : bool, default=False
        As in `mauc.sources.dataset.assemble_stream`.
    """
    from mauc.sources.dataset import assemble_stream, open_table
    from mauc.sources.encoded import encode_stream

    given = plan.reading.options()
    rules = ("drop", "keep_ids", "skip_unlabelled", "many_classes", "categorical_features")
    chosen: dict[str, Any] = {name: given.pop(name) for name in rules if name in given}
    nominal = given.pop("nominal", "keep")
    source, table, target = open_table(
        _place(plan.data), plan.target, memory=plan.memory,
        texts=chosen.get("categorical_features", ()), **given,
    )  # fmt: skip
    dataset = assemble_stream(source, table, _name(plan.data), target, settle=settle, **chosen)
    return encode_stream(dataset, nominal)


def _place(data: str) -> str:
    """Return the path of a file, also of a data set that is called by its name."""
    from mauc.datasets.find import find_dataset

    return data if is_collection(data) or is_array(data) else str(find_dataset(data))


def _name(data: str) -> str:
    """Return what a data set is called: its file without the extension, as in memory."""
    if has_magic(data) and not Path(data).is_file():
        return data
    name = PurePosixPath(data.partition("://")[2] or data).name.removesuffix(".gz")
    return name.rpartition(".")[0] or name


def _check_streamable(data: str, target: str | None, reading: Reading, option: str) -> None:
    from mauc.datasets import BUNDLED
    from mauc.datasets.find import find_dataset
    from mauc.datasets.readers import find_format
    from mauc.datasets.readers.sample_labels import find_labels
    from mauc.datasets.stream import is_stream
    from mauc.sources.kinds import TEXTS

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
    streamed = ("parquet", "feather", *TEXTS)
    if name not in streamed:
        raise MaucError(
            f"{path}: {name} files are read whole; {option} goes with {', '.join(streamed)}, npy, "
            f"zarr and hdf5. Leave it out, or convert the file."
        )
    if name in TEXTS and target is None and (labels := find_labels(path)) is not None:
        raise MaucError(
            f"{path}: a file whose labels are in another one, {labels.name}, is read whole; leave "
            f"{option} out, or put the labels into a column."
        )


def _needed_bytes(data: str, reading: Reading) -> int | None:
    """Return about how much memory reading a file whole takes; None where that is not known."""
    from mauc.datasets.readers import find_format
    from mauc.sources.kinds import TEXTS

    path = Path(data)
    try:
        name = find_format(path, reading.data_format)
        size = path.stat().st_size
    except (MaucError, OSError):
        return None
    if name in TEXTS:
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
