"""Read MATLAB .mat files: X and y, or their usual other names; or an image cube."""

from pathlib import Path
from typing import Any

import numpy as np

from mauc.datasets.readers.arrays import table_of_arrays
from mauc.datasets.readers.cube import is_cube, table_of_cube
from mauc.datasets.readers.mat_variables import load_variables, plain_texts
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
        count ``classes`` from 1, as MATLAB does. Or with an image cube of three dimensions, see
        `table_of_cube`.

    Returns
    -------
    table : Table
    """
    variables = load_variables(path, "a matrix 'X' and labels 'y', or an image cube")
    arrays: dict[str, Any] = {}
    for wanted, names in _ALIASES.items():
        for name in names:
            if name in variables:
                arrays[wanted] = plain_texts(variables[name])
                break
    if np.ndim(arrays.get("X", 0)) != 2 and any(map(is_cube, variables.values())):
        return table_of_cube(path, variables)
    if "X" not in arrays:
        raise MaucError(
            f"{path} must hold a matrix 'X' (and 'y' with the labels), or an image cube of three "
            f"dimensions; it holds {first_few(sorted(variables)) or 'nothing'}."
        )
    codes = arrays.get("y")
    if "classes" in arrays and codes is not None and codes.dtype.kind in "fiub" and codes.all():
        arrays["y"] = codes.astype(np.float64) - 1
    return table_of_arrays(path, arrays)
