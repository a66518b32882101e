"""Find the file of a data set that is called by its name."""

import os
from difflib import get_close_matches
from pathlib import Path

from mauc.datasets.bundled import BUNDLED
from mauc.datasets.cache import cached_path
from mauc.datasets.readers.envi import DATA_ENDINGS, image_stem
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


def find_in_folder(name: str) -> Path | None:
    """Return the file of a data set in the folder MAUC_DATA, if it is there.

    Parameters
    ----------
    name : str
        That of the file without its extension; ``NAME.npz`` comes before other formats.
    """
    folder = data_folder()
    if folder is None:
        return None
    wanted = folder / name
    if (folder / f"{name}.npz").is_file():
        return folder / f"{name}.npz"
    if not wanted.parent.is_dir():
        return None
    found = {
        path for path in wanted.parent.iterdir()
        if path.name.startswith(f"{wanted.name}.") and path.is_file() and is_data_path(path)
        and wanted.name in (image_stem(path), path.name.removesuffix(".gz").rpartition(".")[0])
    }  # fmt: skip
    if any(path.suffix.lower() == ".hdr" for path in found):  # its flat file is the same image
        found -= {path for path in found if path.suffix.lower() in DATA_ENDINGS}
    if len(found) > 1:
        listed = ", ".join(sorted(path.name for path in found))
        raise MaucError(
            f"the folder MAUC_DATA ({folder}) has several files for {name!r}: {listed}; remove "
            f"all but one, or give the path of the one you mean."
        )
    return found.pop() if found else None


def find_dataset(source: str | Path) -> Path:
    """Return the path of a file, or of the data set of that name.

    Parameters
    ----------
    source : str or Path
        A bare name is looked for in the folder MAUC_DATA, as ``NAME.npz`` or a file of another
        format, then among the downloaded data sets, and is then taken as a path. A path without
        extension that is not there, such as ``more/su``, is looked for in MAUC_DATA as well.

    Returns
    -------
    path : Path
    """
    path = Path(source)
    is_name = isinstance(source, str) and path.name == source and not is_data_path(path)
    if is_name:
        found = find_in_folder(str(source))
        if found is not None:
            return found
        cached = cached_path(str(source))
        if cached is not None:
            return cached
    if path.exists():
        return path
    if not is_name and not path.is_absolute() and not is_data_path(path):
        found = find_in_folder(str(path))
        if found is not None:
            return found
    if is_name and source in REGISTRY:
        entry = REGISTRY[str(source)]
        if not entry.is_fetched:
            raise MaucError(
                f"the data set {source!r} is not on this machine, and cannot be fetched: "
                f"`mauc datasets info {source}` tells where it is to be had, and how its files are "
                f"called in the folder MAUC_DATA."
            )
        raise MaucError(
            f"the data set {source!r} is not on this machine: get it with "
            f"`mauc datasets fetch {source}`, or set MAUC_DATA to a folder with {source}.npz."
        )
    fetched = sorted(name for name, entry in REGISTRY.items() if entry.is_fetched)
    known = sorted({*BUNDLED, *REGISTRY})
    near = get_close_matches(str(source), known, n=1) if is_name else []
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise MaucError(
        f"{source} is neither a file nor a bundled data set ({', '.join(BUNDLED)}) "
        f"nor one to be fetched ({', '.join(fetched)}){hint}"
    )
