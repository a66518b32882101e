"""Write a table to a file of any format: all of it or nothing, and never over another file."""

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from mauc.data.columns import is_frame, is_polars
from mauc.datasets.assemble import assemble
from mauc.datasets.dataset import Dataset, is_source
from mauc.datasets.readers.formats import find_format
from mauc.datasets.readers.table import Table, check_unique
from mauc.datasets.writers.arff import write_arff
from mauc.datasets.writers.arrays import write_npz, write_svmlight
from mauc.datasets.writers.frames import write_csv, write_feather, write_parquet, write_tsv
from mauc.datasets.writers.parts import (
    in_memory,
    write_feather_parts,
    write_parquet_parts,
    write_text_parts,
)
from mauc.exceptions import MaucError
from mauc.files import open_atomic

_WRITERS: dict[str, Callable[[Dataset, IO[bytes]], None]] = {
    "arff": write_arff,
    "csv": write_csv,
    "feather": write_feather,
    "npz": write_npz,
    "parquet": write_parquet,
    "svmlight": write_svmlight,
    "tsv": write_tsv,
}
WRITABLE = tuple(_WRITERS)
# Of data sets that are not in memory; the other formats need all rows at once.
_PART_WRITERS: dict[str, Callable[[Dataset, IO[bytes]], None]] = {
    "csv": write_text_parts,
    "feather": write_feather_parts,
    "parquet": write_parquet_parts,
    "tsv": partial(write_text_parts, separator="\t"),
}


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
    format : {"arff", "csv", "feather", "npz", "parquet", "svmlight", "tsv"}, optional
        Instead of the extension.
    force : bool, default=False
        Whether an existing file may be replaced.

    Returns
    -------
    path : Path

    Notes
    -----
    The file is written under another name beside its place and renamed when it is complete.
    Numbers keep all their digits. Tables have the labels as their last column; npz files have
    arrays ``X``, ``y``, ``feature_names`` and ``classes``; svmlight files note the names in a
    comment that `load_dataset` reads. An arff file declares labels as nominal, so that labels
    which are numbers come back as text.

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
    if name not in _WRITERS:
        raise MaucError(f"{path}: {name} files are only read; write one of {', '.join(WRITABLE)}.")
    dataset = _as_dataset(data, target, path)
    if dataset.target_name in dataset.feature_names:
        raise MaucError(
            f"{path}: the labels and a feature both have the name {dataset.target_name!r}; "
            f"rename one of them."
        )
    writer = _WRITERS[name]
    if is_source(dataset.X):
        if name in _PART_WRITERS:
            writer = _PART_WRITERS[name]
        else:
            dataset = in_memory(dataset, str(path))
    with _opened(path, force) as file:
        writer(dataset, file)
    return path


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
    return assemble(Table(path, data.set_axis(names, axis=1), names), target)


@contextmanager
def _opened(path: Path, force: bool) -> Iterator[IO[bytes]]:
    with open_atomic(path, force=force) as file:
        if path.suffix.lower() == ".gz":
            # No time stamp and no name, so that equal tables give equal files.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed:
                yield cast(IO[bytes], compressed)
        else:
            yield file
