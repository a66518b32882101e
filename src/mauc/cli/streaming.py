"""Whether a command reads its data whole, by columns in blocks, or sketches their rows."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauc.cli.common import echo_stderr
from mauc.cli.reading import Reading
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.cli.fitting import Fitting
    from mauc.datasets import Dataset
    from mauc.registry import Accepts

# What reading a file whole takes at its peak, measured on tables of numbers: the columns as Arrow,
# pandas and NumPy have them; the text, its lines and the numbers.
_COLUMNAR_COPIES, _TEXT_COPIES = 4, 3
# Bytes per row in addition to the column, for its sort and the labels, of a pass over columns.
_ROW_BYTES = 48
_COLUMN_COPIES = 3  # of a column: the one at work and two stripes
# Of a read of one column in one part of the rows: from a file here (13-23 microseconds on a table
# of 200,000 x 100 in row groups of 200 and 2,000 rows), and from another machine.
_CHUNK_SECONDS, _REQUEST_SECONDS = 2e-5, 2e-3
_READ_SPEED = 1e9  # bytes per second of a file
_MAX_FACTOR, _MIN_SECONDS = 10.0, 60.0  # what exactness is worth: times a sketch, and in any case
_SKETCH_BYTES = 3 * 1024 * 8  # per column and class


def memory_for(
    fitting: "Fitting",
    reading: Reading,
    data: str,
    k: str | None,
    report: Path | None,
    accepts: "Accepts",
) -> dict[str, Any]:
    """Return nothing if data are read whole, otherwise the memory for reading them by columns."""
    from mauc.io.files import is_collection
    from mauc.io.formats import FORMATS, find_format, is_data_path, split_array
    from mauc.memory import format_bytes, free_memory, parse_bytes

    limit = None if fitting.memory is None else parse_bytes(fitting.memory, "--memory")
    why = {
        "--memory": "with --memory the columns are read in blocks" if limit else "",
        "--engine dask": "workers of Dask read the columns in blocks" * (fitting.engine == "dask"),
        "--sketch": "a sketch reads the rows in parts" * fitting.sketch,
    }
    asked = [name for name, reason in why.items() if reason]
    if asked:
        _check_streamable(data, reading, asked[0])
        reason = why[asked[0]]
    elif is_collection(split_array(data)[0]) and "sql" not in reading.options:
        reason = f"{data} may stand for many files, whose columns are read in blocks"
    elif is_data_path(data) and FORMATS[find_format(data)].has_arrays:
        reason = f"{data} is an array whose columns are read in blocks"
    else:
        needed, free = _needed_bytes(data, reading), free_memory()
        if needed is None or free is None or needed <= free:
            return {}
        reason = (
            f"{data} would take about {format_bytes(needed)} of memory, of which "
            f"{format_bytes(free)} are free, so that its columns are read in blocks"
        )
        echo_stderr(f"{reason} (--memory says how much they may take).")
    if not accepts.sources:
        raise MaucError(
            f"--method {fitting.name} compares rows with rows and needs all data in memory, but "
            f"{reason}; choose another method, such as --method greedy."
        )
    if k == "auto":
        raise MaucError(
            f"-k auto (cross-validation) needs all data in memory, but {reason}; say how many by "
            f"-k, or say -k predicted with greedy."
        )
    if report is not None:
        raise MaucError(
            f"--report needs all data in memory, but {reason}; write the chosen columns (--output "
            f"reduced.parquet) and report on these."
        )
    return {"memory": limit}


def _check_streamable(data: str, reading: Reading, name: str) -> None:
    """Refuse data of which an option that reads columns or rows in parts cannot read parts."""
    from mauc.datasets import BUNDLED
    from mauc.io.files import is_collection, is_stream
    from mauc.io.formats import FORMATS, find_format, is_data_path, split_array
    from mauc.io.registry import find_dataset

    files = "files, folders and addresses"
    if data in BUNDLED:
        raise MaucError(
            f"{name} goes with {files}, not with the bundled data set {data!r}, which is small; "
            f"leave it out."
        )
    if is_stream(data):
        raise MaucError(
            f"{name} goes with {files}, which can be read more than once, got {data}; write the "
            f"stream to a file first."
        )
    if is_collection(split_array(data)[0]):
        return
    path = data if is_data_path(data) else find_dataset(data)
    found = find_format(path, reading.options.get("format"))
    if not FORMATS[found].streams:
        takers = ", ".join(other for other, known in FORMATS.items() if known.streams)
        raise MaucError(
            f"{path}: {found} files are read whole; {name} goes with {takers}. Leave it out, or "
            f"convert the file."
        )


def _needed_bytes(data: str, reading: Reading) -> int | None:
    """Return about how much memory reading a file whole takes; None where that is not known."""
    from mauc.io.files import split_archive
    from mauc.io.formats import find_format

    path = Path(data)
    try:
        name = find_format(path, reading.options.get("format"))
        size = path.stat().st_size
    except (MaucError, OSError):
        return None
    if name in ("csv", "tsv", "txt"):
        return _TEXT_COPIES * size * (10 if split_archive(data)[1] else 1)
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


def is_by_rows(fitting: "Fitting", selector: Any, dataset: "Dataset") -> bool:
    """Choose whether the rows are sketched or the columns read, and say so."""
    if not hasattr(selector, "fit_sketch"):
        return False
    from mauc.data.labels import factorize

    source = dataset.X
    if fitting.sketch:
        is_by_rows, why = True, "sketched by rows, as --sketch says"
    else:
        n_rows, n_columns = source.shape
        choose = partial(
            choose_strategy,
            n_rows,
            n_columns,
            source.n_bytes / (n_rows * n_columns),
            source.memory,
            n_parts=len(source.row_parts()),
            waits=source.waits,
        )
        is_by_rows, why = choose(n_classes=1)
        if is_by_rows:  # classes only make a sketch larger: for columns they are not counted
            is_by_rows, why = choose(n_classes=len(factorize(dataset.y)[0]))
    echo_stderr(f"{dataset.name}: {why}")
    if is_by_rows:
        from mauc.sketch.rows import parts_of_rows

        stored, read = len(source.row_parts()), len(parts_of_rows(source))
        if read > stored:
            echo_stderr(
                f"{dataset.name}: to stay within --memory, {stored:,} row "
                f"group{'s' * (stored > 1)} must be read in {read:,} parts, which takes longer; "
                f"smaller ones are read at once"
            )
    return is_by_rows


def choose_strategy(
    n_rows: int,
    n_columns: int,
    bytes_per_cell: float,
    memory: int,
    *,
    n_parts: int = 1,
    waits: bool = False,
    n_classes: int = 2,
) -> tuple[bool, str]:
    """Return whether rows are sketched, where columns do not fit or take far longer, and why."""
    from mauc.memory import format_bytes

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
