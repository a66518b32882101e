"""Where Numba keeps compiled kernels: found, and known to be writable."""

import tempfile
from pathlib import Path
from typing import Any

from numba.core import config
from numba.misc.appdirs import AppDirs

from mauc.exceptions import MaucError

_WAY_OUT = "set the environment variable NUMBA_CACHE_DIR to a folder that can be written"


def find_cache() -> str:
    """Return where Numba keeps the compiled kernels of this library.

    Returns
    -------
    place : str
        The folder that NUMBA_CACHE_DIR names; without it the `__pycache__` folders of the
        package or, where those cannot be written, the user's folder of caches.

    Raises
    ------
    MaucError
        If the folder cannot be written. It names the folder and the way out.
    """
    settings: Any = config  # whose names are set when it is imported
    if settings.DISABLE_JIT:
        raise MaucError("nothing is compiled while NUMBA_DISABLE_JIT is set.")
    if settings.CACHE_DIR:
        folder = Path(settings.CACHE_DIR)
        why = _why_not(folder)
        if why:
            raise MaucError(
                f"the cache folder {folder} (NUMBA_CACHE_DIR) cannot be written: {why}; {_WAY_OUT}."
            )
        return str(folder)
    package = Path(__file__).resolve().parents[1]
    if not _why_not(package / "__pycache__"):
        return f"{package} (__pycache__)"
    user = Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)
    why = _why_not(user)
    if why:
        raise MaucError(
            f"neither {package} nor the cache folder {user} can be written: {why}; {_WAY_OUT}."
        )
    return str(user)


def _why_not(folder: Path) -> str | None:
    """Return why a folder cannot be written, or None if it can; it is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        return error.strerror or str(error)
    return None
