"""Write a data set to a file of any format: all of it or nothing, and never over another file."""

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from mauc.data.columns import is_frame, is_polars
from mauc.data.source import ColumnSource, write_arrow
from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.files import open_atomic
from mauc.io.arff import write_arff
from mauc.io.arrays import FrameSource
from mauc.io.binary import NOTE
from mauc.io.dataset import MAX_DENSE_CELLS, Dataset, check_numeric
from mauc.io.files import ARCHIVES, ending
from mauc.io.formats import FORMATS, find_format
from mauc.io.lines import is_number
from mauc.io.load import assemble
from mauc.io.options import ReadOptions
from mauc.io.table import Table, check_unique
from mauc.io.words import MISSING, MISSING_LABELS
from mauc.memory import check_memory
from mauc.progress import track
from mauc.results import short_name

if TYPE_CHECKING:
    import pandas as pd

# Characters that a format does not bring back, as lone surrogates in all.
_NOT_HELD = {"csv": r"\0\r", "tsv": r"\0\r", "xlsx": r"\0-\x08\x0b-\x1f"}
_COPIES = 4  # of a part of the rows: as it is read, as a frame, as Arrow and as it is written


def write_table(
    data: Any,
    path: str | Path,
    *,
    target: str | None = None,
    format: str | None = None,
    force: bool = False,
) -> Path:
    """Write a data set, such as one reduced by ``dataset.take(ranking)``, to a file.

    Parameters
    ----------
    data : Dataset or pandas DataFrame
    path : str or Path
        The extension decides on the format; ``.gz`` behind that of a text format compresses it.
    target : str, optional
        The column of a data frame with the labels; needed for a frame, and only for a frame.
    format : {"arff", "csv", "feather", "npz", "parquet", "svmlight", "tsv", "xlsx"}, optional
        Instead of the extension.
    force : bool, default=False
        Whether an existing file may be replaced.

    Notes
    -----
    The file is written under another name beside its place and renamed when it is complete.
    Numbers keep all their digits, 16 in xlsx files. Tables have the labels as their last column;
    npz files have arrays ``X``, ``y``, ``feature_names`` and ``classes``; svmlight files note the
    names in a comment that `load_dataset` reads. An arff file declares labels as nominal, so that
    labels which are numbers come back as text.

    Examples
    --------
    >>> import tempfile
    >>> from mauc.datasets import load_dataset, write_table
    >>> wine = load_dataset("wine").take([6, 12, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load_dataset(write_table(wine, f"{folder}/small.csv"), "class")
    >>> again.feature_names
    ['flavanoids', 'proline', 'alcohol']
    >>> again.fingerprint() == wine.fingerprint()
    True
    """
    path = Path(path)
    name = find_format(path, format)
    check_writable(path, name)
    dataset = _as_dataset(data, target, path)
    if dataset.target_name in dataset.feature_names:
        raise MaucError(
            f"{path}: the labels and a feature both have the name {dataset.target_name!r}; "
            f"rename one of them."
        )
    _check_held(name, [*dataset.feature_names, dataset.target_name])
    if isinstance(dataset.X, ColumnSource) and name not in _IN_PARTS:
        dataset = _in_memory(dataset, path)
    with open_atomic(path, force=force) as file, ExitStack() as stack:
        if path.suffix.lower() == ".gz":
            # No time stamp and no name, so that equal tables give equal files.
            packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
            file = cast(IO[bytes], stack.enter_context(packed))
        _WRITERS[name](dataset, file)
    return path


def check_writable(path: Path, name: str) -> None:
    """Raise if files of a format, or with this ending, are only read."""
    is_read_only = ending(path) in {*ARCHIVES, *FORMATS["xlsx"].endings} - {".gz", ".xlsx"}
    if name not in _WRITERS or is_read_only:
        kind = ending(path)[1:] if is_read_only else name
        raise MaucError(f"{path}: {kind} files are only read; write one of {', '.join(WRITABLE)}.")


def _as_dataset(data: Any, target: str | None, path: Path) -> Dataset:
    if isinstance(data, Dataset):
        if target is not None:
            raise MaucError("target goes with a data frame; a Dataset has its labels.")
        return data
    if not is_frame(data) or is_polars(data):
        raise MaucError(f"data must be a Dataset or a pandas DataFrame, got {type(data).__name__}.")
    names = [str(name) for name in data.columns]
    if target is None or target not in names:
        raise MaucError(
            f"target must name the column of the data frame with the labels, got {target!r}."
        )
    check_unique(path, names)
    source = FrameSource(data.set_axis(names, axis=1), str(path))
    return assemble(Table(path, source, names), ReadOptions(target=target, keep_ids=True), "")


def _in_memory(dataset: Dataset, path: Path) -> Dataset:
    """Return a data set whose columns were all read; raise if they take more than is free."""
    n, m = dataset.X.shape
    check_memory(
        _COPIES * dataset.X.n_bytes,
        f"{path}: {n:,} rows x {m:,} columns, written at once,",
        "write parquet, feather, csv or tsv, which are written in parts",
    )
    read = _read_rows(dataset, 0, n)
    X = read.X if read.nominal_features else np.column_stack([read.X[name] for name in read.X])
    return replace(read, X=X)


def _read_rows(dataset: Dataset, start: int, stop: int) -> Dataset:
    import pandas

    columns = dataset.X.read_rows(start, stop, np.arange(dataset.n_features))
    frame = pandas.DataFrame(dict(zip(dataset.feature_names, columns, strict=True)), copy=False)
    return replace(dataset, X=frame, y=dataset.y[start:stop])


def _parts(dataset: Dataset) -> Iterator["pd.DataFrame"]:
    """Yield rows with their labels as data frames."""
    source = dataset.X
    if not isinstance(source, ColumnSource):
        yield _as_frame(dataset)
        return
    ranges = source.parts_within(source.memory // _COPIES)
    width = sum(kind.itemsize for kind in source.types)
    sizes = [width * (stop - start) for start, stop in ranges]
    for start, stop in track(ranges, "parts of the rows", n_bytes=sizes):
        yield _as_frame(_read_rows(dataset, start, stop))


def _as_frame(dataset: Dataset) -> "pd.DataFrame":
    """Return features and labels in memory as one data frame."""
    import pandas

    X = dataset.X
    if sparse.issparse(X):
        if X.shape[0] * X.shape[1] > MAX_DENSE_CELLS:
            raise MaucError(
                f"{dataset.name}: a sparse table of {X.shape[0]} x {X.shape[1]} is too large to be "
                f"made dense; write svmlight (.svm) or arff, which leave out zeros."
            )
        X = X.toarray()
    if not is_frame(X):
        if X.dtype.kind == "b":  # numbers 0 and 1 here, but a nominal column when read
            X = X.astype("uint8")
        X = pandas.DataFrame(X, columns=dataset.feature_names)
    labels = pandas.Series(dataset.y, index=X.index, name=dataset.target_name)
    frame: pd.DataFrame = pandas.concat([X, labels], axis=1)
    return frame


def _write_text(dataset: Dataset, file: IO[bytes], separator: str = ",") -> None:
    """Write a csv or tsv file: UTF-8, a header line, nothing for a missing value."""
    for number, frame in enumerate(_parts(dataset)):
        _check_texts(dataset, frame, "csv")
        # The shortest text of a float32 stands for another float64, and text is read as float64.
        narrow = {name: "float64" for name in frame.columns if str(frame[name].dtype) == "float32"}
        frame.astype(narrow).to_csv(
            file,
            index=False,
            sep=separator,
            lineterminator="\n",
            encoding="utf-8",
            header=number == 0,
        )


def _check_held(format: str, texts: Iterable[str]) -> None:
    """Raise if a name or value would be read again as another one."""
    unheld = re.compile(rf"[\ud800-\udfff{_NOT_HELD.get(format, '')}]")
    for text in texts:
        if unheld.search(text) or (format == "xlsx" and len(text) > 32_767):
            raise MaucError(
                f"{format} cannot hold '{short_name(text)}'; rename it, or write parquet."
            )


def _check_texts(dataset: Dataset, frame: "pd.DataFrame", format: str) -> None:
    """Raise if a text of a csv or xlsx file would be read as a missing value, or altered."""
    for name in [*dataset.nominal_features, dataset.target_name]:
        values = [str(value) for value in frame[name].dropna().unique()]
        _check_held(format, values)
        texts = set(map(str.strip, values))
        gaps = texts & set(MISSING)
        if name == dataset.target_name and not all(map(is_number, texts - gaps)):
            gaps = texts & set(MISSING_LABELS)  # the other words are names among names
        if gaps:
            raise MaucError(
                f"{dataset.name}: column {name!r} has the value {min(gaps)!r}, "
                f"which stands for a missing value in a csv file; write parquet or arff."
            )


def _write_excel(dataset: Dataset, file: IO[bytes]) -> None:
    import pandas

    optional_import("openpyxl", "Excel files")
    (frame,) = _parts(dataset)
    _check_texts(dataset, frame, "xlsx")
    try:
        writer = pandas.ExcelWriter(file, engine="openpyxl")
        frame.to_excel(writer, index=False)
        for cell in chain.from_iterable(writer.book.active.iter_rows()):
            if cell.data_type in "ef":  # taken for a formula, or for an error such as #N/A
                cell.data_type, cell.quotePrefix = "s", True
        writer.close()
    except ValueError as error:
        raise MaucError(f"{dataset.name} does not fit into a sheet: {error}") from error


def _write_arrow(dataset: Dataset, file: IO[bytes], *, is_parquet: bool) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    open_writer = partial(parquet.ParquetWriter if is_parquet else arrow.ipc.new_file, file)
    if isinstance(dataset.X, ColumnSource):
        write_arrow(dataset.X, open_writer, dataset.y, dataset.target_name)
        return
    table = arrow.Table.from_pandas(_as_frame(dataset), preserve_index=False)
    with open_writer(table.schema) as writer:
        writer.write_table(table)


def _write_npz(dataset: Dataset, file: IO[bytes]) -> None:
    """Write arrays ``X``, ``y``, ``feature_names`` and, for labels of text, ``classes``."""
    check_numeric(dataset, "an npz file")
    X = dataset.X
    if sparse.issparse(X):
        X = _as_frame(dataset).iloc[:, :-1].to_numpy()
    arrays: dict[str, Any] = {"X": X, "feature_names": np.array(dataset.feature_names, dtype=str)}
    arrays["y"], classes = _codes(dataset)
    if classes is not None:
        arrays["classes"] = np.array(classes, dtype=str)
    np.savez_compressed(file, **arrays)


def _write_svmlight(dataset: Dataset, file: IO[bytes]) -> None:
    """Write rows ``label place:value ...`` with places from 1, below a note of the names."""
    check_numeric(dataset, "an svmlight file")
    X = sparse.csr_array(dataset.X)
    X.sum_duplicates()
    X.sort_indices()
    codes, classes = _codes(dataset)
    note = json.dumps({"features": dataset.feature_names, "classes": classes})
    file.write(f"# {NOTE}{note}\n".encode())
    numbers = X.data.astype(np.uint8) if X.dtype.kind == "b" else X.data
    values = [repr(value) for value in numbers.tolist()]
    for row, code in enumerate(codes.tolist()):
        stored = range(X.indptr[row], X.indptr[row + 1])
        items = [f"{X.indices[at] + 1}:{values[at]}" for at in stored]
        file.write((" ".join([str(code), *items]) + "\n").encode())


def _codes(dataset: Dataset) -> tuple[np.ndarray[Any, Any], list[str] | None]:
    """Return labels that are integers as they are, others as codes of their classes."""
    if dataset.y.dtype.kind in "iu":
        return dataset.y, None
    classes, codes = np.unique(dataset.y.astype(str), return_inverse=True)
    return codes, classes.tolist()


_WRITERS: dict[str, Callable[[Dataset, IO[bytes]], None]] = {
    "arff": write_arff,
    "csv": _write_text,
    "feather": partial(_write_arrow, is_parquet=False),
    "npz": _write_npz,
    "parquet": partial(_write_arrow, is_parquet=True),
    "svmlight": _write_svmlight,
    "tsv": partial(_write_text, separator="\t"),
    "xlsx": _write_excel,
}
#: the formats that `write_table` writes
WRITABLE = tuple(_WRITERS)
_IN_PARTS = ("csv", "feather", "parquet", "tsv")  # the others need all rows at once
