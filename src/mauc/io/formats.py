"""The formats of files: names, endings, readers, and the options that each of them takes."""

from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path

from mauc.checks import check_choice
from mauc.exceptions import MaucError, option
from mauc.io.files import (
    MAX_GROWN,
    FileSystem,
    check_file,
    content_size,
    ending,
    is_address,
    is_collection,
    split_archive,
    unreadable_error,
    zip_members,
)
from mauc.io.options import ReadOptions
from mauc.io.table import Table
from mauc.memory import check_memory


@dataclass(frozen=True)
class Format:
    """What is known of a format before a file is read."""

    opener: str  #: ``module:function`` of `mauc.io`, see `mauc.io.table`
    endings: tuple[str, ...]
    options: tuple[str, ...] = ()  #: those that not all formats take
    streams: bool = False  #: whether columns can be read when they are needed
    may_be_compressed: bool = False
    has_addresses: bool = False  #: whether folders, patterns and addresses are read
    has_arrays: bool = False  #: whether files hold named arrays, as in ``data.h5::X``
    growth: int = 2  #: bytes of memory from a byte of a file that is read whole, about


_CELLS = ("decimal", "missing", "thousands")
_CODED = (*_CELLS, "encoding")
_LINES = (*_CODED, "header", "separator", "skip_rows")
_REMOTE = ("storage_options",)
_text = partial(Format, "text:open_text", streams=True, may_be_compressed=True)
_frame = partial(Format, "frames:open_frame", growth=8)
FORMATS = {
    "arff": Format("arff:open_arff", (".arff",), ("encoding",), may_be_compressed=True, growth=8),
    "csv": _text((".csv", ".data"), _LINES),
    "dta": _frame((".dta",), _CELLS, may_be_compressed=True),
    "feather": Format(
        "arrow:open_feather", (".feather", ".arrow", ".ipc"), _REMOTE, True, has_addresses=True
    ),
    "hdf5": Format("arrays:open_hdf5", (".h5", ".hdf5", ".he5"), streams=True, has_arrays=True),
    "json": _frame((".json", ".jsonl", ".ndjson"), _CODED, may_be_compressed=True),
    "mat": Format("binary:open_mat", (".mat",)),
    "npy": Format("arrays:open_npy", (".npy",), streams=True),
    "npz": Format("binary:open_npz", (".npz",)),
    "parquet": Format(
        "parquet:open_parquet", (".parquet", ".parq", ".pq"), _REMOTE, True, has_addresses=True
    ),
    "sas": _frame((".xpt", ".sas7bdat"), _CODED, may_be_compressed=True),
    "sav": _frame((".sav", ".zsav"), _CELLS),
    "sql": _frame((".sqlite", ".sqlite3", ".db"), (*_CELLS, "sql"), has_addresses=True),
    "svmlight": Format(
        "binary:open_svmlight", (".svm", ".svmlight", ".libsvm"), may_be_compressed=True, growth=4
    ),
    "tsv": _text((".tsv", ".tab"), _LINES),
    "txt": _text((".txt",), (*_LINES, "sheet")),
    "xlsx": Format(
        "frames:open_sheet",
        (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
        (*_CELLS, "sheet", "skip_rows"),
        growth=20,
    ),
    "zarr": Format(
        "arrays:open_zarr", (".zarr",), _REMOTE, True, has_addresses=True, has_arrays=True
    ),
}
_BY_ENDING = {end: name for name, known in FORMATS.items() for end in known.endings}
#: formats of rows of text
TEXT_FORMATS = ("csv", "tsv", "txt")
#: options that go with files of some formats only
SPECIAL = {name for known in FORMATS.values() for name in known.options}


def find_format(path: str | Path, format: str | None = None) -> str:
    """Return the name of the format of a file; by default its ending decides, archives apart."""
    if format is not None:
        return str(check_choice(option("format"), format, FORMATS))
    file, archive = split_archive(split_array(str(path))[0])
    extension = ending(file)
    if archive == ".zip" and extension not in _BY_ENDING:
        extension = ending("".join(zip_members(path)[:1])) or extension
    name = _BY_ENDING.get(extension)
    if name is None:
        raise MaucError(
            f"{path}: the extension {extension!r} is not a known format. Known ones: "
            f"{', '.join(sorted(_BY_ENDING))}; or name the format, such as "
            f"{option('format', 'csv')}."
        )
    if archive and not FORMATS[name].may_be_compressed:
        raise MaucError(f"{path}: {name} files are not read compressed; decompress it.")
    return name


def is_data_path(path: str | Path) -> bool:
    """Whether a path has the extension of a format."""
    try:
        return bool(find_format(path))
    except MaucError:
        return False


def split_array(address: str) -> tuple[str, str | None]:
    """Return a path and what follows it after ``::``, the name of an array in the file."""
    path, mark, array = address.rpartition("::")
    name = _BY_ENDING.get(ending(path)) if mark and "://" not in array else None
    return (path, array) if name is not None and FORMATS[name].has_arrays else (address, None)


def open_table(address: str, options: ReadOptions, memory: int | None = None) -> Table:
    """Open data of any format: a file, or a folder, pattern or address of some formats."""
    path, _ = split_array(address)
    name = options.format
    if options.sql is not None and is_address(path):
        name = "sql"
    elif not is_collection(path):
        check_file(Path(path))
    elif name is None and ending(path) not in _BY_ENDING:
        name = _collection_format(path, options)
    name = find_format(address, name)
    known = FORMATS[name]
    if is_collection(path) and not known.has_addresses:
        if is_address(path):
            raise MaucError(f"{address}: {name} files are read from a disk; copy it there.")
        raise MaucError(f"{address}: {name} files are read one by one; name a single file.")
    check_options(address, name, options)
    if not known.streams and not is_collection(path):
        n_bytes = known.growth * content_size(Path(path), MAX_GROWN // known.growth)
        what = f"{path}: the rows of a {name} file, which are read at once,"
        check_memory(n_bytes, what, "convert it to parquet, which is read by columns")
    module, _, function = known.opener.partition(":")
    opener = getattr(import_module(f"mauc.io.{module}"), function)
    data = address if known.has_addresses else Path(address)
    try:
        table: Table = opener(data, replace(options, format=name), memory)
        return table
    except (MaucError, ImportError, Warning):
        raise
    except Exception as error:  # readers of other libraries fail in many ways, deep in the parsing
        raise unreadable_error(address, error, f" as {name}") from error


def check_options(address: str | Path, name: str, options: ReadOptions) -> None:
    """Raise if an option is given that does not go with the format."""
    for given in options.given():
        if given in SPECIAL and given not in FORMATS[name].options:
            takers = [other for other, taker in FORMATS.items() if given in taker.options]
            raise MaucError(
                f"{address}: {option(given)} goes with {', '.join(takers)} files, not with {name}."
            )


def _collection_format(path: str, options: ReadOptions) -> str:
    """Return the format of the files of a folder, pattern or address, by their endings."""
    if any((Path(path) / name).is_file() for name in ("zarr.json", ".zarray", ".zgroup")):
        return "zarr"
    found = {
        _BY_ENDING.get(ending(file)) for file in FileSystem(path, options.storage_options).find()
    }
    formats = sorted(name for name in found if name is not None and FORMATS[name].has_addresses)
    if len(formats) != 1:
        raise MaucError(
            f"{path} must hold files of one format (.parquet, .feather and the like), got "
            f"{', '.join(formats) or 'none of a known ending'}; name them by a pattern, such as "
            f"*.parquet, or their format ({option('format', 'parquet')})."
        )
    return formats[0]
