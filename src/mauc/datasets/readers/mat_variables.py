"""Read the variables of a MATLAB .mat file, whatever they are."""

from pathlib import Path
from typing import Any

import numpy as np

from mauc.datasets.readers.files import check_file, content_error, read_beginning
from mauc.exceptions import MaucError


def load_variables(path: Path, wanted: str) -> dict[str, Any]:
    """Return the variables of a .mat file of MATLAB version 4 to 7.2 (``save -v7``).

    Parameters
    ----------
    path : Path
    wanted : str
        What the file is to hold, for errors.
    """
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    check_file(path)
    beginning = read_beginning(path)
    if b"MATLAB 7.3" in beginning[:128] or b"\x89HDF" in beginning[:1024]:
        raise MaucError(
            f"{path} is a MATLAB file of version 7.3 (HDF5), which is not read; it should hold "
            f"{wanted}. Load it in MATLAB and save its variables with "
            f"save('{path.name}', ..., '-v7')."
        )
    try:
        variables = loadmat(path)
    # A file of another kind fails in many ways, deep in the parsing of what is no header.
    except (MatReadError, ValueError, TypeError, OSError, NotImplementedError, KeyError) as error:
        raise content_error(path, f"a MATLAB file ({error})", beginning) from error
    return {name: value for name, value in variables.items() if not name.startswith("__")}


def plain_texts(value: Any) -> Any:
    """Turn a cell array of texts or numbers into a plain array."""
    if getattr(value, "dtype", None) is None or value.dtype.kind != "O":
        if getattr(value, "dtype", None) is not None and value.dtype.kind == "U":
            return np.char.rstrip(value)  # rows of a char matrix are padded
        return value
    cells = [np.ravel(cell) for cell in np.ravel(value)]
    return np.array([cell[0] if len(cell) else "" for cell in cells])
