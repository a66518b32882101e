"""Find the file of a data set that is called by its name."""

import os
from difflib import get_close_matches
from pathlib import Path

from mauc.datasets.bundled import BUNDLED
from mauc.datasets.cache import cached_path
from mauc.datasets.readers.formats import is_data_path
from mauc.datasets.registry import REGISTRY
from mauc.exceptions import MaucError


def data_folder() -> Path | None:
    """Return the folder that the environment variable MAUC_DATA names, if it is set."""
    folder = os.environ.get("MAUC_DATA")
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise MaucError(f"MAUC_DATA must be a folder with data sets, got {folder}.")
    return Path(folder)


def find_dataset(source: str | Path) -> Path:
    """Return the path of a file, or of the data set of that name.

    Parameters
    ----------
    source : str or Path
        A bare name is looked for as ``NAME.npz`` in the folder MAUC_DATA, then among the
        downloaded data sets, and is then taken as a path. A path without extension that is not
        there, such as ``more/su``, is looked for in MAUC_DATA as well.

    Returns
    -------
    path : Path
    """
    path = Path(source)
    is_name = isinstance(source, str) and path.name == source and not is_data_path(path)
    if is_name:
        folder = data_folder()
        if folder is not None and (folder / f"{source}.npz").is_file():
            return folder / f"{source}.npz"
        cached = cached_path(str(source))
        if cached is not None:
            return cached
    if path.exists():
        return path
    if not is_name and not path.is_absolute() and not is_data_path(path):
        folder = data_folder()
        if folder is not None and (folder / f"{path}.npz").is_file():
            return folder / f"{path}.npz"
    if is_name and source in REGISTRY:
        raise MaucError(
            f"the data set {source!r} is not on this machine: get it with "
            f"`mauc datasets fetch {source}`, or set MAUC_DATA to a folder with {source}.npz."
        )
    known = sorted({*BUNDLED, *REGISTRY})
    near = get_close_matches(str(source), known, n=1) if is_name else []
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise MaucError(
        f"{source} is neither a file nor a bundled data set ({', '.join(BUNDLED)}) "
        f"nor one to be fetched ({', '.join(sorted(set(REGISTRY) - set(BUNDLED)))}){hint}"
    )
