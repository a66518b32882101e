"""Read svmlight (libsvm) files: rows ``label place:value ...`` in, a sparse array out."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mauc.data.columns import default_names
from mauc.datasets.readers.files import check_text, open_binary
from mauc.datasets.readers.table import Table, check_unique
from mauc.exceptions import MaucError

# How files written by `mauc.datasets.write_table` note the names that the format has no place for.
NOTE = "mauc "
_NUMBER = rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf|nan"
_ROW = re.compile(
    rb"\s*(%(n)s)(\s+qid:\d+)?(\s+\d+:(%(n)s))*\s*(#.*)?" % {b"n": _NUMBER}, re.IGNORECASE
)


def read_svmlight(path: Path) -> Table:
    """Read an svmlight file; it stays sparse.

    Parameters
    ----------
    path : Path
        Compressed by gzip or not.

    Returns
    -------
    table : Table
        Names are x0, x1, ..., whether the file counts places from 0 or from 1.
    """
    from sklearn.datasets import load_svmlight_file

    check_text(path, "an svmlight file", "utf-8")
    try:
        with open_binary(path) as file:
            X, y = load_svmlight_file(file)
    except ValueError as error:
        _check_rows(path)
        raise MaucError(f"{path} cannot be read as an svmlight file: {error}") from error
    X = sparse.csr_array(X)
    if X.shape[0] == 0:
        raise MaucError(f"{path} has no rows.")
    note = _read_note(path)
    names, labels = default_names(range(X.shape[1])), y
    if note:
        names = [str(name) for name in note["features"]]
        check_unique(path, names)
        # Columns at the end that are all zero are in no row.
        X.resize((X.shape[0], max(len(names), X.shape[1])))
        if X.shape[1] != len(names):
            raise MaucError(f"{path}: its note names {len(names)} features, it has {X.shape[1]}.")
        if note["classes"] is not None:
            labels = np.array(note["classes"])[y.astype(np.int64)]
    return Table(path, X, names, labels=labels)


def _check_rows(path: Path) -> None:
    """Raise the error that names the first row which is none."""
    with open_binary(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip() or line.lstrip().startswith(b"#"):
                continue
            if not _ROW.fullmatch(line):
                raise MaucError(
                    f"{path}, line {number}: a row 'label place:value place:value ...' with "
                    f"numbers is wanted, got {line[:40].decode('utf-8', 'replace').strip()!r}."
                )


def _read_note(path: Path) -> dict[str, Any] | None:
    with open_binary(path) as file:
        for line in file:
            if not line.startswith(b"#"):
                return None
            text = line[1:].decode("utf-8", "replace").strip()
            if text.startswith(NOTE):
                try:
                    note: dict[str, Any] = json.loads(text.removeprefix(NOTE))
                except ValueError:
                    return None
                return note
    return None
