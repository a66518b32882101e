"""Check a file before it is read: that it exists, what its first bytes are, how text is encoded."""

import codecs
import gzip
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from mauc.exceptions import MaucError

# How the bytes of a file begin, and what such a file is.
_BEGINNINGS = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "a Feather (Arrow IPC) file"),
    (b"FEA1", "a Feather file of version 1"),
    (b"\x89HDF", "an HDF5 file"),
    (b"PK\x03\x04", "a zip archive (such as .npz or .xlsx)"),
    (b"\x93NUMPY", "a NumPy .npy file"),
    (b"MATLAB 7.3", "a MATLAB file of version 7.3 (HDF5)"),
    (b"MATLAB 5.0", "a MATLAB file"),
    (b"SQLite format 3", "an SQLite data base"),
    (b"\xd0\xcf\x11\xe0", "an old Office document (such as .xls)"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\x1f\x8b", "a gzip archive"),
)
_GZIP = b"\x1f\x8b"


def check_file(path: Path) -> None:
    """Raise unless the path is a readable file that is not empty."""
    if path.is_dir():
        raise MaucError(f"{path} is a folder; a data file is wanted.")
    if not path.is_file():
        raise MaucError(f"{path} does not exist.")
    try:
        with path.open("rb") as file:
            is_empty = not file.read(1)
    except OSError as error:
        raise MaucError(f"{path} cannot be opened: {error.strerror}.") from error
    if is_empty:
        raise MaucError(f"{path} is empty; a data file is wanted.")


def read_beginning(path: Path, n_bytes: int = 4096) -> bytes:
    """Return the first bytes of a file, as they are on disk."""
    with path.open("rb") as file:
        return file.read(n_bytes)


def _describe_content(beginning: bytes) -> str:
    """Return in words what a file with these first bytes is."""
    for start, what in _BEGINNINGS:
        if beginning.startswith(start):
            return what
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "UTF-16 text"
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
    what = _describe_content(read_beginning(path) if beginning is None else beginning)
    return MaucError(
        f"{path} is not {wanted}: by its first bytes it is {what}. "
        f"Give the file its right extension, or say the format."
    )


@contextmanager
def open_binary(path: Path) -> Iterator[BinaryIO]:
    """Open a file of text for reading, as bytes; gzip is decompressed whatever the name."""
    is_compressed = read_beginning(path, 2) == _GZIP
    if path.suffix.lower() == ".gz" and not is_compressed:
        raise content_error(path, "a gzip archive")
    opener: Callable[[Path, str], Any] = gzip.open if is_compressed else open
    try:
        with opener(path, "rb") as opened:
            yield opened
    except (EOFError, gzip.BadGzipFile) as error:
        raise MaucError(f"{path} is a broken gzip archive: {error}.") from error


@contextmanager
def open_text(path: Path, encoding: str, newline: str | None = "") -> Iterator[io.TextIOWrapper]:
    """Open a file of text; a byte order mark is skipped, wrong bytes are named by offset."""
    with open_binary(path) as binary:
        text = io.TextIOWrapper(binary, encoding=skip_mark(encoding), newline=newline)
        try:
            yield text
        except UnicodeError as error:
            raise encoding_error(path, encoding) from error
        finally:
            text.detach()


def skip_mark(encoding: str) -> str:
    """Return the codec that skips a byte order mark at the beginning."""
    try:
        name = codecs.lookup(encoding).name
    except LookupError as error:
        raise MaucError(
            f"encoding must be one that Python knows, such as utf-8, latin-1 or cp1252, "
            f"got {encoding!r}."
        ) from error
    return "utf-8-sig" if name == "utf-8" else encoding


def check_text(path: Path, wanted: str, encoding: str) -> None:
    """Raise if the first bytes of a file are no text."""
    skip_mark(encoding)
    with open_binary(path) as file:
        beginning = file.read(4096)
    if not beginning:
        raise MaucError(f"{path} is empty (after decompression); {wanted} is wanted.")
    what = _describe_content(beginning)
    if what == "UTF-16 text" and not codecs.lookup(encoding).name.startswith("utf-16"):
        raise MaucError(f"{path} is UTF-16 text; say encoding='utf-16'.")
    if what == "a binary file of an unknown kind" and not _is_wide_encoding(encoding):
        raise content_error(path, wanted, beginning)
    if what not in ("text", "UTF-16 text", "a binary file of an unknown kind", wanted):
        raise content_error(path, wanted, beginning)


def is_ascii_based(encoding: str) -> bool:
    """Whether an encoding keeps ASCII characters as they are, one byte each."""
    name = codecs.lookup(encoding).name
    return name.startswith(("utf-8", "ascii", "iso8859", "cp125", "latin"))


def _is_wide_encoding(encoding: str) -> bool:
    return codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))


def encoding_error(path: Path, encoding: str) -> MaucError:
    """Return the error that names the first byte which the encoding does not know."""
    decoder = codecs.getincrementaldecoder(skip_mark(encoding))()
    offset = line = 0
    with open_binary(path) as file:
        while True:
            chunk = file.read(1 << 20)
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeError as error:
                place = getattr(error, "start", 0)
                start = max(0, place - pending)
                byte = chunk[start : start + 1].hex() or "the end"
                line += chunk[:start].count(b"\n")
                return MaucError(
                    f"{path} is not {encoding.upper()} text: byte 0x{byte} at offset "
                    f"{offset + place - pending} (line {line + 1}) does not fit. "
                    f"Say its encoding, such as encoding='latin-1' or encoding='cp1252', or save "
                    f"it as UTF-8."
                )
            if not chunk:
                return MaucError(f"{path} cannot be read as {encoding.upper()} text.")
            offset += len(chunk)
            line += chunk.count(b"\n")
