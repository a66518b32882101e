"""Read NumPy's .npz files: arrays X, y and, if there are any, classes and feature_names."""

import zipfile
from pathlib import Path

import numpy as np

from mauc.datasets.readers.arrays import table_of_arrays
from mauc.datasets.readers.table import Table
from mauc.exceptions import MaucError


def read_npz(path: Path) -> Table:
    """Read an .npz file; nothing in it is ever unpickled.

    Parameters
    ----------
    path : Path

    Returns
    -------
    table : Table
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
            arrays = {key: parts[key] for key in parts.files}
    except (ValueError, zipfile.BadZipFile, EOFError, AttributeError, TypeError) as error:
        if "allow_pickle" in str(error) and zipfile.is_zipfile(path):
            raise MaucError(
                f"{path} holds Python objects, which are not loaded because they can run code; "
                f"save X and y as numeric arrays and names as arrays of text (dtype str)."
            ) from error
        raise MaucError(f"{path} is not an .npz file (numpy.savez): {error}") from error
    return table_of_arrays(path, arrays)
