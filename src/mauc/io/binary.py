"""Open files of arrays that are read whole: npz, mat, svmlight."""

import json
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mauc.data.columns import default_names
from mauc.exceptions import MaucError
from mauc.io.arrays import ArraySource, SparseSource
from mauc.io.files import check_growth, content_error, open_binary, read_beginning
from mauc.io.lines import SVMLIGHT_ROW, check_text
from mauc.io.options import ReadOptions
from mauc.io.table import Table, check_unique, first_few
from mauc.memory import check_memory
from mauc.results import plural

#: how svmlight files of `write_table` begin the note of names that the format has no place for
NOTE = "mauc "
_MAX_PLACE = 10**9  # of svmlight
_MAX_EMPTY = 200_000  # columns of svmlight up to which those that no row has are kept
_MAX_ARRAYS = 2**29  # bytes of arrays in archives that grow more than data do
_NOT_OURS = (ValueError, TypeError, KeyError, RecursionError)  # of notes
# Types of the elements of .mat files.
_MATRIX, _COMPRESSED = 14, 15
_ELEMENTS = {*range(1, 8), 9, 12, 13, _MATRIX, _COMPRESSED, 16, 17, 18}
# Under which names the well-known collections of .mat files keep things.
_ALIASES = {
    "X": ("X", "x", "fea", "data"),
    "y": ("y", "Y", "gnd", "label", "labels"),
    "classes": ("classes",),
    "feature_names": ("feature_names", "featureNames"),
}


def open_npz(path: Path, options: ReadOptions, memory: int | None) -> Table:
    """Open an .npz file with arrays X, y, classes and feature_names; nothing is unpickled."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
            _check_sizes(path, parts.zip)
            names = [name[:-4] for name in parts.zip.namelist() if name.endswith(".npy")]
            arrays = {name: parts[f"{name}.npy"] if name in _ALIASES else None for name in names}
    except MaucError:
        raise
    except (ValueError, zipfile.BadZipFile, EOFError, AttributeError, TypeError) as error:
        if "allow_pickle" in str(error) and zipfile.is_zipfile(path):
            raise MaucError(
                f"{path} holds Python objects, which are not loaded because they can run code; "
                f"save X and y as numeric arrays and names as arrays of text (dtype str)."
            ) from error
        raise MaucError(f"{path} is not an .npz file (numpy.savez): {error}") from error
    return _array_table(path, arrays, memory)


def _check_sizes(path: Path, archive: zipfile.ZipFile) -> None:
    """Raise if the arrays of an .npz file do not fit into memory, or claim more than it holds."""
    members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
    n_bytes = sum(member.file_size for member in members)
    check_growth(path, n_bytes, path.stat().st_size, _MAX_ARRAYS)
    check_memory(n_bytes, f"{path}: its arrays", "write X to a .npy file, which is read by columns")
    for member in members:
        with archive.open(member) as file:
            is_first = np.lib.format.read_magic(file) == (1, 0)
            header = "read_array_header_1_0" if is_first else "read_array_header_2_0"
            shape, _, kind = getattr(np.lib.format, header)(file)
        if not kind.hasobject and math.prod(shape) * kind.itemsize > member.file_size:
            held = f"but there are {member.file_size:,} bytes of it"
            raise ValueError(f"{member.filename} should be {kind} of shape {shape}, {held}")


def open_mat(path: Path, options: ReadOptions, memory: int | None) -> Table:
    """Open a .mat file of version 4 to 7.2; codes without a 0 count classes from 1, as there."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    beginning = read_beginning(path)
    if b"MATLAB 7.3" in beginning[:128] or b"\x89HDF" in beginning[:1024]:
        raise MaucError(
            f"{path} is a MATLAB file of version 7.3 (HDF5), which is not read; it should hold a "
            f"matrix 'X' and labels 'y'. Load it in MATLAB and save its variables with "
            f"save('{path.name}', ..., '-v7')."
        )
    try:
        if 0 not in beginning[:4]:  # not of version 4
            order = "<" if beginning[126:128] == b"IM" else ">"
            _check_elements(path, memoryview(path.read_bytes())[128:], order, 1)
        variables = loadmat(path)
    # A file of another kind fails in many ways, deep in the parsing of what is not a header.
    except MaucError:
        raise
    except (MatReadError, ValueError, TypeError, OSError, NotImplementedError, KeyError) as error:
        raise content_error(path, f"a MATLAB file ({error})", beginning) from error
    arrays: dict[str, Any] = {}
    for wanted, names in _ALIASES.items():
        known = [name for name in names if name in variables]
        if known:
            arrays[wanted] = _plain_cells(variables[known[0]])
    if "X" not in arrays:
        held = sorted(name for name in variables if not name.startswith("__"))
        raise MaucError(
            f"{path} must hold a matrix 'X' (and 'y' with the labels); it holds "
            f"{first_few(held) or 'nothing'}."
        )
    codes = arrays.get("y")
    if "classes" in arrays and codes is not None and codes.dtype.kind in "fiub" and codes.all():
        arrays["y"] = codes.astype(np.float64) - 1
    return _array_table(path, arrays, memory)


def _check_elements(path: Path, content: memoryview, order: str, padding: int = 8) -> list[int]:
    """Return the types of elements; raise where SciPy would read memory that is not its own."""
    kinds, at, n_bytes = [], 0, 0
    while at < len(content):
        kind, size = struct.unpack_from(f"{order}2I", content, at)
        if kind > 0xFFFF:  # a small element: size, type and data in 8 bytes
            kind, size = kind & 0xFFFF, 0
        part, at = content[at + 8 : at + 8 + size], at + 8 + size + -size % padding
        if len(part) < size or kind not in _ELEMENTS:
            raise ValueError(f"an element of type {kind} and {size:,} bytes is damaged")
        if kind == _COMPRESSED:
            coder = zlib.decompressobj()
            grown = coder.decompress(part, max(100 * len(content), _MAX_ARRAYS) + 1)
            n_bytes += len(grown)
            check_growth(path, n_bytes, len(content), _MAX_ARRAYS)
            if padding == 8 or not coder.eof:  # in another element, or cut
                raise ValueError("a compressed element is damaged")
            _check_elements(path, memoryview(grown), order)
        elif kind == _MATRIX and size:
            held = _check_elements(path, part, order)
            flags = struct.unpack_from(f"{order}3I", part)[2]
            is_plain, is_sparse = 4 <= flags & 0xFF <= 15, flags & 0xFF == 5
            n_wanted = 4 + 2 * is_sparse + (flags >> 11 & 1)  # flags, shape, name and data
            if is_plain and (len(held) < n_wanted or _MATRIX in held or _COMPRESSED in held):
                raise ValueError(f"a matrix of {len(held)} elements is damaged")
        kinds.append(kind)
    return kinds


def _plain_cells(value: Any) -> Any:
    """Turn a cell array of texts or numbers into a plain array."""
    if value.dtype.kind == "U":
        return np.char.rstrip(value)  # rows of a char matrix are padded
    if value.dtype.kind != "O":
        return value
    cells = [np.ravel(cell) for cell in np.ravel(value)]
    return np.array([cell[0] if len(cell) else "" for cell in cells])


def _array_table(path: Path, arrays: Mapping[str, Any], memory: int | None) -> Table:
    """Return the table of arrays ``X``, ``y`` (codes of ``classes``) and ``feature_names``."""
    if "X" not in arrays:
        raise MaucError(
            f"{path} must hold an array 'X' (and 'y' with the labels), "
            f"it holds {first_few(sorted(arrays)) or 'none'}."
        )
    X = arrays["X"]  # the sparse matrices of some versions of SciPy cannot be indexed
    X = sparse.csc_array(X) if sparse.issparse(X) else np.asarray(X)
    if isinstance(X, sparse.csc_array):
        X.check_format()  # places beyond the matrix would be written to
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "fiub":
        raise MaucError(
            f"{path}: X must be a numeric array of two dimensions (samples, features) "
            f"that is not empty, got {X.dtype} of shape {X.shape}."
        )
    if X.dtype.kind == "b":
        X = X.astype(np.uint8)  # numbers, not the nominal columns of a table
    n_columns = X.shape[1]
    names = default_names(range(n_columns))
    if "feature_names" in arrays:
        names = [str(name) for name in np.ravel(np.asarray(arrays["feature_names"])).tolist()]
        if len(names) != n_columns:
            raise MaucError(
                f"{path}: feature_names must hold {n_columns} names (the columns of X), "
                f"got {len(names)}."
            )
        check_unique(path, names)
    labels = _labels(path, arrays, X.shape[0]) if "y" in arrays else None
    last = n_columns - 1 if labels is None and "feature_names" not in arrays else None
    make = SparseSource if sparse.issparse(X) else ArraySource
    source = make(X, str(path), memory=memory)
    return Table(path, source, names, labels=labels, target=last, is_named=False)


def _labels(path: Path, arrays: Mapping[str, Any], n_samples: int) -> np.ndarray[Any, Any]:
    y = np.asarray(arrays["y"])
    if y.ndim == 2 and 1 in y.shape:  # a column or a row, as MATLAB keeps vectors
        y = y.ravel()
    if y.shape != (n_samples,):
        raise MaucError(
            f"{path}: y must hold {n_samples} labels (the rows of X), got shape {y.shape}."
        )
    if "classes" not in arrays:
        return y
    classes = np.ravel(np.asarray(arrays["classes"]))
    codes = y.astype(np.int64) if y.dtype.kind in "fiub" and np.isfinite(y).all() else None
    if codes is None or (codes != y).any() or ((codes < 0) | (codes >= len(classes))).any():
        raise MaucError(
            f"{path}: with classes, y must hold codes in [0, {len(classes) - 1}] "
            f"(places in classes), got {first_few([str(label) for label in np.unique(y)])}."
        )
    return classes.astype(str)[codes] if classes.dtype.kind not in "fiub" else classes[codes]


def open_svmlight(path: Path, options: ReadOptions, memory: int | None) -> Table:
    """Open an svmlight (libsvm) file, rows ``label place:value ...``; it stays sparse."""
    from sklearn.datasets import load_svmlight_file

    check_text(path, "an svmlight file", "utf-8")
    try:
        with open_binary(path, has_lines=True) as file:
            X, y = load_svmlight_file(file)
    except MaucError:
        raise
    except (ValueError, OverflowError) as error:
        _check_rows(path)
        raise MaucError(f"{path} cannot be read as an svmlight file: {error}") from error
    X = sparse.csr_array(X)
    if X.shape[0] == 0:
        raise MaucError(f"{path} has no rows.")
    if X.shape[1] > _MAX_PLACE:
        _check_rows(path)
    names, classes = _read_note(path, X.shape[1], y)
    # Columns at the end that are all zero are in no row.
    X.resize((X.shape[0], max(len(names), X.shape[1])))
    labels = y if classes is None else np.array(classes)[y.astype(np.int64)]
    columns, notes = np.arange(min(X.shape[1], _MAX_EMPTY)), []
    if X.shape[1] > _MAX_EMPTY:
        columns, places = np.unique(X.indices, return_inverse=True)
        notes = [
            f"{plural(X.shape[1] - len(columns), 'column')} without a value in any row left out"
        ]
        X = sparse.csr_array((X.data, places, X.indptr), shape=(X.shape[0], len(columns)))
    names = [names[j] for j in columns] if names else default_names(columns)
    source = SparseSource(X, str(path), memory=memory)
    return Table(path, source, names, labels=labels, is_named=False, notes=notes)


def _check_rows(path: Path) -> None:
    """Raise the error that names the first row which is not one."""
    with open_binary(path) as file:
        for number, raw in enumerate(file, start=1):
            line = raw.decode("utf-8", "replace").partition("#")[0].strip()
            if line and not SVMLIGHT_ROW.fullmatch(line):
                raise MaucError(
                    f"{path}, line {number}: a row 'label place:value place:value ...' with "
                    f"numbers is wanted, got {line[:40]!r}."
                )
            for place in re.findall(r"(\d+):", line):
                if float(place) > _MAX_PLACE:
                    raise MaucError(
                        f"{path}, line {number}: places up to {_MAX_PLACE:,} are read, got "
                        f"{place[:40]}; number the features that are there from 1."
                    )


def _read_note(
    path: Path, n_columns: int, y: np.ndarray[Any, Any]
) -> tuple[list[str], list[str] | None]:
    """Return the names of features and classes in the note of `write_table`, if there is one."""
    with open_binary(path, has_lines=True) as file, suppress(*_NOT_OURS):
        for line in takewhile(lambda line: line.startswith(b"#"), file):
            text = line[1:].decode("utf-8", "replace").strip()
            if text.startswith(NOTE):
                note = json.loads(text.removeprefix(NOTE))
                names, classes = note["features"], note["classes"]
                "".join(names + (classes or []))  # a TypeError unless they are lists of texts
                is_code = classes is None or np.isin(y, np.arange(len(classes))).all()
                if isinstance(names, list) and len({*names}) == len(names) >= n_columns and is_code:
                    return names, classes
    return [], None
