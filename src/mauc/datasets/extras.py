"""Import optional packages, or say what to install."""

from importlib import import_module
from typing import Any

from mauc.exceptions import MaucError


def import_extra(module: str, purpose: str) -> Any:
    """Import an optional module.

    Parameters
    ----------
    module : str
    purpose : str
        What needs it, for the error message.

    Returns
    -------
    module : module
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MaucError(
            f'{purpose} need the package {package}: pip install "mauc[data]" or '
            f"pip install {package}."
        ) from error
