"""Read MATLAB .mat files: variables X and y, or their usual other names."""

from pathlib import Path
from typing import Any

import numpy as np

from mauc.datasets.readers.arrays import table_of_arrays
from mauc.datasets.readers.files import content_error, read_beginning
from mauc.datasets.readers.table import Table, first_few
from mauc.exceptions import MaucError

# Under which names the well-known collections of .mat files keep things.
_ALIASES = {
    "X": ("X", "x", "fea", "data"),
    "y": ("y", "Y", "gnd", "label", "labels"),
    "classes": ("classes",),
    "feature_names": ("feature_names", "featureNames"),
}


def read_mat(path: Path) -> Table:
    """Read a .mat file of MATLAB version 4 to 7.2 (``save -v7``).

    Parameters
    ----------
    path : Path
        With a matrix ``X`` (or ``fea``, ``data``), labels ``y`` (or ``Y``, ``gnd``, ``label``)
        and, if there are any, ``classes`` and ``feature_names``. Codes ``y`` that have no 0
        count ``classes`` from 1, as MATLAB does.

    Returns
    -------
    table : Table
    """
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    beginning = read_beginning(path)
    if b"MATLAB 7.3" in beginning[:128] or b"\x89HDF" in beginning[:1024]:
        raise MaucError(
            f"{path} is a MATLAB file of version 7.3 (HDF5), which is not read; save it in MATLAB "
            f"with save('{path.name}', 'X', 'y', '-v7')."
        )
    try:
        variables = loadmat(path)
    # A file of another kind fails in many ways, deep in the parsing of what is no header.
    except (MatReadError, ValueError, TypeError, OSError, NotImplementedError, KeyError) as error:
        raise content_error(path, f"a MATLAB file ({error})", beginning) from error
    variables = {name: value for name, value in variables.items() if not name.startswith("__")}
    arrays: dict[str, Any] = {}
    for wanted, names in _ALIASES.items():
        for name in names:
            if name in variables:
                arrays[wanted] = _plain(variables[name])
                break
    if "X" not in arrays:
        raise MaucError(
            f"{path} must hold a matrix 'X' (and 'y' with the labels), it holds "
            f"{first_few(sorted(variables)) or 'nothing'}."
        )
    codes = arrays.get("y")
    if "classes" in arrays and codes is not None and codes.dtype.kind in "fiub" and codes.all():
        arrays["y"] = codes.astype(np.float64) - 1
    return table_of_arrays(path, arrays)


def _plain(value: Any) -> Any:
    """Turn a cell array of texts or numbers into a plain array."""
    if getattr(value, "dtype", None) is None or value.dtype.kind != "O":
        if getattr(value, "dtype", None) is not None and value.dtype.kind == "U":
            return np.char.rstrip(value)  # rows of a char matrix are padded
        return value
    cells = [np.ravel(cell) for cell in np.ravel(value)]
    return np.array([cell[0] if len(cell) else "" for cell in cells])
