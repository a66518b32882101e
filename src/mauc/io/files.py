"""Files: a path, pattern, folder or address in, files with their stamps out."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, cast
from urllib.parse import unquote

from mauc.exceptions import MaucError, NotEnoughMemoryError, first_line, option
from mauc.extras import MissingExtraError, optional_import
from mauc.memory import format_bytes

NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"
STDIN = "stdin"  # name of a data set that came through a pipe
# How the bytes of a file begin, what such a file is, and its format.
BEGINNINGS = (
    (b"\x89PNG", "a PNG image", ""),
    (b"\xff\xd8\xff", "a JPEG image", ""),
    (b"GIF8", "a GIF image", ""),
    (b"%PDF", "a PDF document", ""),
    (b"PAR1", "a Parquet file", "parquet"),
    (b"ARROW1", "a Feather (Arrow IPC) file", "feather"),
    (b"FEA1", "a Feather file of version 1", ""),
    (b"\xff\xff\xff\xff", "an Arrow IPC stream (write it as a file)", ""),
    (b"\x89HDF", "an HDF5 file", ""),
    (b"PK\x03\x04", "a zip archive (such as .npz or .xlsx)", ""),
    (b"\x93NUMPY", "a NumPy .npy file", ""),
    (b"MATLAB 7.3", "a MATLAB file of version 7.3 (HDF5)", "mat"),
    (b"MATLAB 5.0", "a MATLAB file", "mat"),
    (b"SQLite format 3", "an SQLite data base", "sql"),
    (b"$FL2", "an SPSS file", "sav"),
    (b"<stata_dta>", "a Stata file", "dta"),
    (b"HEADER RECORD", "a SAS transport file", "sas"),
    (b"\xd0\xcf\x11\xe0", "an old Office document (such as .xls)", "xlsx"),
    (b"BZh", "a bzip2 archive", ""),
    (b"\xfd7zXZ", "an xz archive", ""),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", ""),
    (b"\x1f\x8b", "a gzip archive", ""),
)
#: byte order marks by encoding; that of UTF-32 begins with that of UTF-16
UNICODE_MARKS = {
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
# Archives of data grow 5 to 50 times; those that grow more, and to more than a reader takes in
# seconds, are made to fill the memory. Apache POI draws the line at 100 times, too.
_MAX_GROWTH, MAX_GROWN = 100, 2**26
_COUNTED_BYTES = 2**24  # that are decompressed to estimate how many there are
MAX_LINE = 2**25  # bytes of a line of text
# What file systems call the time or version of a file.
_MARKS = ("mtime", "LastModified", "last_modified", "updated", "created", "ETag", "etag")


@dataclass(frozen=True)
class File:
    """One file of a source."""

    path: str  #: as its file system calls it
    name: str  #: as errors call it: the path, or the address
    stamp: tuple[Any, ...]  #: its size and when it was written, as far as the file system tells
    #: columns and values in the names of its folders, as in ``year=2024/``
    parts: tuple[tuple[str, str], ...] = ()


class FileSystem:
    """Local files, or those of an address by way of fsspec; `root` is the path of `address`."""

    def __init__(self, address: str, storage_options: Mapping[str, Any] | None = None) -> None:
        self.is_local: bool = not is_address(address)
        self.address: str = address
        self.root: str = address
        self.fs: Any = _LocalFiles
        if not self.is_local:
            self.fs, self.root = _open_system(address, dict(storage_options or {}))
        elif storage_options:
            raise MaucError(f"storage_options go with addresses such as s3://, not {address}.")

    def open(self, file: File) -> Any:
        """Return what pyarrow opens: a path, or an open file of fsspec."""
        return file.path if self.is_local else self.fs.open(file.path, "rb")

    def stamp(self, path: str) -> tuple[Any, ...]:
        """Return the size of a file and when it was written; raise FileNotFoundError."""
        if self.is_local:
            found = os.stat(path)
            return found.st_size, found.st_mtime_ns
        self.fs.invalidate_cache(path)
        info = self.fs.info(path)
        return info.get("size"), *(str(info[mark]) for mark in _MARKS if mark in info)

    def find(self) -> list[str]:
        """Return the paths of the files that the address stands for, in their order."""
        if has_magic(self.root) and not self.fs.isfile(self.root):
            found = sorted(path for path in self.fs.glob(self.root) if self.fs.isfile(path))
        elif self.fs.isdir(self.root):
            found = sorted(path for path in self.fs.find(self.root) if not self._is_hidden(path))
        elif self.fs.exists(self.root):
            return [self.root]
        else:
            raise MaucError(f"{self.address} does not exist.")
        if not found:
            raise MaucError(
                f"{self.address} has no file: a file, or a folder or pattern of Parquet or Feather "
                f"files is wanted."
            )
        return found

    def files(self, endings: Sequence[str]) -> tuple[File, ...]:
        """Return the files; of a folder or pattern those with the endings, all if none has one."""
        paths = self.find()
        return tuple(self.file(p) for p in [p for p in paths if ending(p) in endings] or paths)

    def file(self, path: str) -> File:
        """Return a file with its stamp."""
        name = path if self.is_local else self.fs.unstrip_protocol(path)
        pairs = (piece.partition("=") for piece in self._pieces(path)[:-1] if "=" in piece)
        parts = tuple((unquote(key), unquote(value)) for key, _, value in pairs)
        try:
            return File(path, name, self.stamp(path), parts)
        except OSError as error:
            raise unreadable_error(name, error) from error

    def _is_hidden(self, path: str) -> bool:
        pieces = self._pieces(path)
        return any(piece.startswith((".", "_")) and "=" not in piece for piece in pieces)

    def _pieces(self, path: str) -> list[str]:
        return path.removeprefix(self.root).replace(os.sep, "/").split("/")


class _LocalFiles:
    """Files on a disk, with the methods of fsspec."""

    isfile = staticmethod(os.path.isfile)
    isdir = staticmethod(os.path.isdir)
    exists = staticmethod(os.path.exists)
    glob = staticmethod(partial(glob, recursive=True))

    @staticmethod
    def find(folder: str) -> list[str]:
        return [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names]


def unreadable_error(name: str, error: Exception, what: str = "") -> MaucError:
    """Return the error for a file that the system, or the reader of its format, does not read."""
    if isinstance(error, FileNotFoundError):
        return MaucError(f"{name} does not exist (any more).")
    if isinstance(error, PermissionError):
        return MaucError(f"{name} cannot be read: you have no permission to.")
    if isinstance(error, MemoryError):
        return NotEnoughMemoryError(f"{name} needs more memory than is free: {first_line(error)}.")
    if isinstance(error, OSError) and error.strerror:
        return MaucError(f"{name} cannot be read: {error.strerror}.")
    why = f"{first_line(error)} ({type(error).__name__})"
    return MaucError(f"{name} cannot be read{what}, it is truncated or damaged: {why}.")


def check_unchanged(system: FileSystem, files: Sequence[File]) -> None:
    """Raise a `MaucError` that names the first file that is not what it was."""
    for file in files:
        try:
            stamp = system.stamp(file.path)
        except OSError as error:
            raise MaucError(
                f"{file.name} was removed, or cannot be read any more, while it was being read "
                f"({error.strerror or error}); what was computed from it is not valid. Open it "
                f"again."
            ) from error
        if stamp != file.stamp:
            raise MaucError(
                f"{file.name} changed while it was being read (it had {file.stamp[0]:,} bytes and "
                f"has {stamp[0]:,} now, or was written again); what was computed from it is not "
                f"valid. Open it again."
            )


def ending(path: str | Path) -> str:
    """Return the ending of a path in lower case, with its dot."""
    return os.path.splitext(path)[1].lower()


def is_address(text: str) -> bool:
    """Whether a text is the address of a file rather than a path."""
    return "://" in text


def hide_password(text: str) -> str:
    """Return a text with the passwords of its addresses (user:password@host) hidden."""
    return re.sub(r"(://[^:/@\s]*):[^@/\s]+@", r"\1:***@", text)


def is_collection(data: str) -> bool:
    """Whether data are a folder, a pattern or an address rather than a file or a name."""
    path = Path(data)
    if path.is_file() or data.startswith("/dev/"):
        return False
    return is_address(data) or has_magic(data) or path.is_dir()


def _open_system(address: str, options: dict[str, Any]) -> Any:
    core = optional_import("fsspec.core", "addresses of files")
    try:
        return core.url_to_fs(address, **options)
    except ImportError as error:
        raise MissingExtraError(
            f"{address} needs a package that is not installed: {error}"
        ) from error
    except (ValueError, OSError) as error:
        raise MaucError(f"{address} cannot be opened: {error}.") from error


def check_file(path: Path) -> None:
    """Raise unless the path is a readable file that is not empty."""
    if path.is_dir():
        raise MaucError(f"{path} is a folder; a data file is wanted.")
    if not path.is_file():
        raise MaucError(f"{path} does not exist.")
    try:
        is_empty = not read_beginning(path, 1)
    except OSError as error:
        raise MaucError(f"{path} cannot be opened: {error.strerror}.") from error
    if is_empty:
        raise MaucError(f"{path} is empty; a data file is wanted.")


def read_beginning(path: Path, n_bytes: int = 4096) -> bytes:
    """Return the first bytes of a file, as they are on disk."""
    with path.open("rb") as file:
        return file.read(n_bytes)


def describe_content(beginning: bytes) -> str:
    """Return in words what a file with these first bytes is."""
    for start, what, _ in BEGINNINGS:
        if beginning.startswith(start):
            return what
    for name, marks in UNICODE_MARKS.items():
        if beginning.startswith(marks):
            return f"{name.upper()} text"
    if b"\0" in beginning:
        return "a binary file of an unknown kind"
    text = beginning.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.lower().startswith(("<!doctype", "<html", "<?xml")):
        return "an HTML or XML page"
    if any(line.lower().startswith("@relation") for line in text.splitlines()):
        return "an ARFF file"
    return "text"


def content_error(path: Path, wanted: str, beginning: bytes | None = None) -> MaucError:
    """Return the error for a file that is not what its name says."""
    what = describe_content(read_beginning(path) if beginning is None else beginning)
    return MaucError(
        f"{path} is not {wanted}: by its first bytes it is {what}. "
        f"Give the file its right extension, or name the format ({option('format')})."
    )


def zip_members(path: Path | str) -> list[str]:
    """Return the names of the files in a zip archive, but those that macOS adds."""
    if not zipfile.is_zipfile(path):
        return []
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    return [name for name in names if not name.endswith("/") and not name.startswith("__MACOSX/")]


def check_growth(path: Path, n_bytes: int, size: int, limit: int = MAX_GROWN) -> None:
    """Raise if what a file of `size` bytes holds is beyond `limit`, and beyond what data grow."""
    if n_bytes > limit and n_bytes > _MAX_GROWTH * size:
        raise MaucError(
            f"{path} has {format_bytes(size)} and grows to {format_bytes(n_bytes)} or more when it "
            f"is decompressed, over {_MAX_GROWTH} times its size, as files do that are made to "
            f"fill the memory; if you trust it, decompress it and read what comes out."
        )


def _open_zip(file: BinaryIO) -> Any:
    path, members = Path(file.name), zip_members(file.name)
    if len(members) != 1:
        raise MaucError(
            f"{path} must be a zip archive of one file, got {len(members)}: "
            f"{', '.join(members[:5])}; extract the one you mean."
        )
    archive = zipfile.ZipFile(file)
    check_growth(path, archive.getinfo(members[0]).file_size, path.stat().st_size)
    return archive.open(members[0])


def _open_zst(file: BinaryIO) -> Any:
    import pyarrow

    return pyarrow.CompressedInputStream(file, "zstd")


#: how archives of one file are opened, and how they begin, by their endings
ARCHIVES: dict[str, tuple[Callable[[BinaryIO], Any], bytes]] = {
    ".gz": (gzip.open, b"\x1f\x8b"),
    ".bz2": (bz2.open, b"BZh"),
    ".xz": (lzma.open, b"\xfd7zXZ"),
    ".zip": (_open_zip, b"PK\x03\x04"),
    ".zst": (_open_zst, b"\x28\xb5\x2f\xfd"),
}


def split_archive(path: str) -> tuple[str, str]:
    """Return a path without the ending of an archive, and this ending."""
    archive = ending(path) if ending(path) in ARCHIVES else ""
    return path[: len(path) - len(archive)], archive


def find_archive(path: Path) -> str:
    """Return the ending of the kind of archive that a file is by its first bytes, or nothing."""
    beginning = read_beginning(path, 6)
    kinds = [kind for kind, (_, start) in ARCHIVES.items() if beginning.startswith(start)]
    # Workbooks and npz files are zip archives, too.
    return "".join(kind for kind in kinds if kind != ".zip" or ending(path) == ".zip")


class _Content(io.RawIOBase):
    """The bytes of a file, decompressed, as long as they do not grow without end."""

    def __init__(self, path: Path, file: Any, archive: BinaryIO, *, has_lines: bool) -> None:
        super().__init__()
        self._path, self._file, self.archive, self._has_lines = path, file, archive, has_lines
        self._size = path.stat().st_size
        self._n_bytes = self._n_open = 0  # those read so far, and those of the last line

    def readable(self) -> bool:
        """Return True: `RawIOBase` says no."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, see `io.RawIOBase`."""
        n_read: int = self._file.readinto(buffer)
        self._n_bytes += n_read
        check_growth(self._path, self._n_bytes, self._size)
        if self._has_lines:
            part = bytes(buffer[:n_read])
            end = max(part.rfind(b"\n"), part.rfind(b"\r"))
            self._n_open = n_read - end - 1 + (self._n_open if end < 0 else 0)
            if self._n_open > MAX_LINE:
                where = f"{self._path}: the line from byte {self._n_bytes - self._n_open:,} on"
                raise MaucError(f"{where} is longer than the limit, {format_bytes(MAX_LINE)}.")
        return n_read


def content_size(path: Path, limit: int = MAX_GROWN) -> int:
    """Return how many bytes a file has when decompressed, estimated from the first; or raise."""
    n_bytes, size = 0, path.stat().st_size
    if not find_archive(path):
        return size
    with open_binary(path) as file:
        while n_bytes < _COUNTED_BYTES and (part := file.read(2**20)):
            n_bytes += len(part)
        n_bytes = n_bytes * size // cast(Any, file).raw.archive.tell() if part else n_bytes
    check_growth(path, n_bytes, size, limit)
    return n_bytes


@contextmanager
def open_binary(path: Path, *, has_lines: bool = False) -> Iterator[BinaryIO]:
    """Open a file for reading, as bytes; archives are decompressed, lines have an end."""
    kind, (_, wanted) = find_archive(path), split_archive(str(path))
    if wanted and not kind:
        raise content_error(path, describe_content(ARCHIVES[wanted][1]))
    try:
        with path.open("rb") as archive, ExitStack() as stack:
            file = stack.enter_context(ARCHIVES[kind][0](archive)) if kind else archive
            content = _Content(path, file, archive, has_lines=has_lines)
            yield io.BufferedReader(content, 2**18) if kind or has_lines else archive
    except (EOFError, OSError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
        if not kind:
            raise
        raise MaucError(f"{path} is a broken {kind} archive: {error}.") from error


def is_stream(source: str | Path) -> bool:
    """Whether a source is ``-``, or a stream of the process such as /dev/stdin."""
    text = str(source)
    return text == "-" or text.startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/"))


@contextmanager
def stream_as_file(source: str | Path) -> Iterator[Path]:
    """Copy a stream to a temporary file, which errors call by the name of the stream."""
    text = str(source)
    with TemporaryDirectory(prefix="mauc-") as folder:
        path = Path(folder) / STDIN
        if text == "-" and (sys.stdin is None or sys.stdin.isatty()):
            raise MaucError(
                "- reads standard input, which is a terminal here; pipe a file into it, "
                "as in `cat data.csv | mauc select - --target label`."
            )
        try:
            with ExitStack() as stack, path.open("wb") as copy:
                opened = None if text == "-" else stack.enter_context(open(source, "rb"))
                shutil.copyfileobj(opened or sys.stdin.buffer, copy)
        except OSError as error:
            raise MaucError(f"{source} cannot be read: {error.strerror}.") from error
        try:
            yield path
        except MaucError as error:
            shown = "standard input" if text in ("-", "/dev/stdin") else text
            raise type(error)(str(error).replace(str(path), shown)) from error
