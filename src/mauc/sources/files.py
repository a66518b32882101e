"""The files of a source: a path, pattern, folder or address in, files with their stamps out."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import has_magic
from typing import Any
from urllib.parse import unquote

from mauc.exceptions import MaucError
from mauc.extras import MissingExtraError, optional_import

#: the format by the ending of a file
ENDINGS = {
    ".parquet": "parquet", ".parq": "parquet", ".pq": "parquet",
    ".feather": "feather", ".arrow": "feather", ".ipc": "feather",
}  # fmt: skip
NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class File:
    """One file of a source.

    Parameters
    ----------
    path : str
        As its file system calls it.
    name : str
        As errors call it: the path, or the address.
    stamp : tuple
        Its size and when it was written, as far as the file system tells.
    parts : tuple of (str, str)
        Columns and values in the names of its folders, as in ``year=2024/``.
    """

    path: str
    name: str
    stamp: tuple[Any, ...]
    parts: tuple[tuple[str, str], ...] = ()


class FileSystem:
    """Local files, or those of an address by way of fsspec.

    Parameters
    ----------
    address : str
        A path, or the address of a file, folder or pattern.
    storage_options : mapping, optional
        Options of fsspec's file system.

    Attributes
    ----------
    is_local : bool
    root : str
        The path of `address` in the file system.
    """

    def __init__(self, address: str, storage_options: Mapping[str, Any] | None = None) -> None:
        self.is_local = not is_address(address)
        self.address = address
        self.storage_options = dict(storage_options or {})
        if self.is_local:
            self.root = address
            if self.storage_options:
                raise MaucError(f"storage_options go with addresses such as s3://, not {address}.")
        else:
            self._fs, self.root = _open_system(address, self.storage_options)

    def open(self, file: File) -> Any:
        """Return what pyarrow opens: a path, or an open file of fsspec."""
        return file.path if self.is_local else self._fs.open(file.path, "rb")

    def arrow_system(self) -> Any:
        """Return the file system for functions of pyarrow, None for local files."""
        return None if self.is_local else self._fs

    def stamp(self, path: str) -> tuple[Any, ...]:
        """Return the size of a file and when it was written; raise FileNotFoundError."""
        if self.is_local:
            found = os.stat(path)
            return found.st_size, found.st_mtime_ns
        self._fs.invalidate_cache(path)
        info = self._fs.info(path)
        marks = ("mtime", "LastModified", "last_modified", "updated", "created", "ETag", "etag")
        return info.get("size"), *(str(info[mark]) for mark in marks if mark in info)

    def find(self) -> list[str]:
        """Return the paths of the files that the address stands for, in their order."""
        if has_magic(self.root) and not self._is_file(self.root):
            return sorted(path for path in self._glob(self.root) if self._is_file(path))
        if self._is_folder(self.root):
            return sorted(path for path in self._walk(self.root) if not self._is_hidden(path))
        if not self._exists(self.root):
            raise MaucError(f"{self.address} does not exist.")
        return [self.root]

    def name(self, path: str) -> str:
        """Return how errors call a file."""
        return path if self.is_local else self._fs.unstrip_protocol(path)

    def parts(self, path: str) -> tuple[tuple[str, str], ...]:
        """Return columns and values that are written in the names of the folders of a file."""
        below = path[len(self.root) :] if path.startswith(self.root) else path
        pieces = below.replace(os.sep, "/").split("/")[:-1]
        pairs = (piece.partition("=") for piece in pieces if "=" in piece)
        return tuple((unquote(key), unquote(value)) for key, _, value in pairs)

    def _is_hidden(self, path: str) -> bool:
        pieces = path[len(self.root) :].replace(os.sep, "/").split("/")
        return any(piece.startswith((".", "_")) and "=" not in piece for piece in pieces)

    def _is_file(self, path: str) -> bool:
        return os.path.isfile(path) if self.is_local else bool(self._fs.isfile(path))

    def _is_folder(self, path: str) -> bool:
        return os.path.isdir(path) if self.is_local else bool(self._fs.isdir(path))

    def _exists(self, path: str) -> bool:
        return os.path.exists(path) if self.is_local else bool(self._fs.exists(path))

    def _glob(self, pattern: str) -> list[str]:
        if self.is_local:
            from glob import glob

            return glob(pattern, recursive=True)
        return list(self._fs.glob(pattern))

    def _walk(self, folder: str) -> list[str]:
        if self.is_local:
            return [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names]
        return list(self._fs.find(folder))


def find_files(
    system: FileSystem, format: str | None = None
) -> tuple[str | None, tuple[File, ...]]:
    """Return the format and the files that the address of a file system stands for.

    Parameters
    ----------
    system : FileSystem
    format : str, optional
        By default the ending of the files decides; None is returned for an ending of no format of
        this package.
    """
    paths = system.find()
    if not paths:
        raise MaucError(
            f"{system.address} has no file: a file, or a folder or pattern of Parquet or Feather "
            f"files is wanted."
        )
    if format is None:
        known = {path: ENDINGS[ending(path)] for path in paths if ending(path) in ENDINGS}
        formats = sorted(set(known.values()))
        if len(formats) > 1:
            raise MaucError(
                f"{system.address} holds files of several formats ({', '.join(formats)}); name one "
                f"of them by a pattern, such as *.parquet, or by format."
            )
        if formats:
            format, paths = formats[0], list(known)
    return format, tuple(stamped(system, path) for path in paths)


def stamped(system: FileSystem, path: str) -> File:
    """Return a file with its stamp."""
    try:
        return File(path, system.name(path), system.stamp(path), system.parts(path))
    except OSError as error:
        raise unreadable_error(system.name(path), error) from error


def unreadable_error(name: str, error: OSError) -> MaucError:
    """Return the error for a file that the system does not let us read."""
    if isinstance(error, FileNotFoundError):
        return MaucError(f"{name} does not exist (any more).")
    if isinstance(error, PermissionError):
        return MaucError(f"{name} cannot be read: you have no permission to.")
    return MaucError(f"{name} cannot be read: {error.strerror or error}.")


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


def ending(path: str) -> str:
    """Return the ending of a path in lower case, with its dot."""
    return os.path.splitext(path)[1].lower()


def is_address(text: str) -> bool:
    """Whether a text is the address of a file rather than a path."""
    return "://" in text


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
