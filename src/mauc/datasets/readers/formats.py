"""Choose the reader of a file: by its extension, by its content, or as the caller says."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mauc.checks import check_choice
from mauc.datasets.readers.arff import read_arff
from mauc.datasets.readers.columnar import read_feather, read_parquet
from mauc.datasets.readers.cube import read_envi
from mauc.datasets.readers.delimited import read_delimited
from mauc.datasets.readers.excel import read_xlsx
from mauc.datasets.readers.files import check_file
from mauc.datasets.readers.matlab import read_mat
from mauc.datasets.readers.npz import read_npz
from mauc.datasets.readers.sniff import sniff_format
from mauc.datasets.readers.svmlight import read_svmlight
from mauc.datasets.readers.table import Table
from mauc.exceptions import MaucError


def _read_tsv(path: Path, **options: Any) -> Table:
    return read_delimited(path, **{"separator": "\t", **options})


def _read_sniffed(path: Path, **options: Any) -> Table:
    """Read a file of text, or of whatever its content says."""
    given = {option: value for option, value in options.items() if option not in _SILENT}
    name, found = sniff_format(path, options.get("encoding", "utf-8"))
    return read_table(path, name, **{**found, **given}, **_silent(options))


def _silent(options: dict[str, Any]) -> dict[str, Any]:
    return {option: value for option, value in options.items() if option in _SILENT}


@dataclass(frozen=True)
class _Format:
    read: Callable[..., Table]
    extensions: tuple[str, ...]
    options: tuple[str, ...] = ()
    may_be_compressed: bool = False


# What `load_dataset` tells every reader; formats that store the types of their columns ignore it.
_SILENT = ("label", "texts")
_TEXT_OPTIONS = (
    "decimal", "encoding", "header", "missing", "separator", "thousands", *_SILENT,
)  # fmt: skip
_FORMATS = {
    "arff": _Format(read_arff, (".arff",), ("encoding",), may_be_compressed=True),
    "csv": _Format(read_delimited, (".csv",), _TEXT_OPTIONS, may_be_compressed=True),
    "envi": _Format(read_envi, (".hdr", ".bsq", ".bil", ".bip")),
    "feather": _Format(read_feather, (".feather", ".arrow", ".ipc", ".arrows")),
    "mat": _Format(read_mat, (".mat",)),
    "npz": _Format(read_npz, (".npz",)),
    "parquet": _Format(read_parquet, (".parquet", ".pq")),
    "svmlight": _Format(read_svmlight, (".svm", ".svmlight", ".libsvm"), may_be_compressed=True),
    "tsv": _Format(_read_tsv, (".tsv", ".tab"), _TEXT_OPTIONS, may_be_compressed=True),
    "txt": _Format(_read_sniffed, (".txt",), (*_TEXT_OPTIONS, "sheet"), may_be_compressed=True),
    "xlsx": _Format(read_xlsx, (".xlsx", ".xlsm"), ("missing", "sheet", "label")),
}
FORMATS = tuple(_FORMATS)


def find_format(path: str | Path, format: str | None = None) -> str:
    """Return the name of the format of a file.

    Parameters
    ----------
    path : str or Path
    format : str, optional
        One of `FORMATS`; by default the extension of the path decides, ``.gz`` apart.

    Returns
    -------
    format : str

    Examples
    --------
    >>> from mauc.datasets.readers import find_format
    >>> find_format("data.csv.gz")
    'csv'
    """
    if format is not None:
        return str(check_choice("format", format, FORMATS))
    path = Path(path)
    is_compressed = path.suffix.lower() == ".gz"
    extension = Path(path.stem if is_compressed else path.name).suffix.lower()
    for name, known in _FORMATS.items():
        if extension in known.extensions:
            if is_compressed and not known.may_be_compressed:
                raise MaucError(
                    f"{path}: {name} files are not read compressed; decompress it (gunzip)."
                )
            return name
    if extension in (".tif", ".tiff", ".lan"):
        raise MaucError(
            f"{path}: TIFF and Erdas images are not read; convert it to ENVI, for example with "
            f"`gdal_translate -of ENVI {path.name} {path.stem}`, and give {path.stem}.hdr."
        )
    endings = sorted(ending for known in _FORMATS.values() for ending in known.extensions)
    raise MaucError(
        f"{path}: the extension {extension!r} tells no format. Known ones: {', '.join(endings)}; "
        f"or say the format, such as format='csv'."
    )


def is_data_path(path: str | Path) -> bool:
    """Whether a path has the extension of a format."""
    try:
        return bool(find_format(path))
    except MaucError:
        return False


def read_table(path: str | Path, format: str | None = None, **options: Any) -> Table:
    """Read a file of any format.

    Parameters
    ----------
    path : str or Path
    format : str, optional
        One of `FORMATS`; by default the extension decides.
    **options
        ``encoding`` for csv, tsv, txt and arff; ``separator``, ``decimal``, ``thousands``,
        ``header`` and ``missing`` for csv, tsv and txt; ``missing`` and ``sheet`` for xlsx. An
        option of None is left out.

    Returns
    -------
    table : Table
    """
    path = Path(path)
    check_file(path)
    name = find_format(path, format)
    return _FORMATS[name].read(path, **_check_options(path, name, options))


def find_text_options(
    path: str | Path, format: str | None = None, **options: Any
) -> dict[str, Any] | None:
    """Return what `read_delimited` is told of a file, None if it is no rows of text.

    Parameters as of `read_table`.
    """
    path = Path(path)
    check_file(path)
    name = find_format(path, format)
    wanted = _check_options(path, name, options)
    if name == "tsv":
        return {"separator": "\t", **wanted}
    if name == "txt":
        name, found = sniff_format(path, wanted.get("encoding", "utf-8"))
        wanted = {**found, **_check_options(path, name, wanted)}
    return wanted if name == "csv" else None


def _check_options(path: Path, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are given; raise if one does not go with the format."""
    known = _FORMATS[name]
    wanted = {option: value for option, value in options.items() if value is not None}
    for option in _SILENT:
        if option not in known.options:
            wanted.pop(option, None)
    for option in wanted:
        if option not in known.options:
            takers = [other for other, taker in _FORMATS.items() if option in taker.options]
            raise MaucError(
                f"{path}: {option} goes with {', '.join(takers)} files, not with {name}."
            )
    return wanted
