"""Import optional packages, or say which extra to install."""

from importlib import import_module
from typing import Any

from mauc.exceptions import MaucError

# The extra of pyproject.toml that brings each package.
_EXTRA_OF = {
    "dask": "dask",
    "distributed": "dask",
    "fsspec": "remote",
    "h5py": "remote",
    "matplotlib": "plot",
    "onnxruntime": "onnx",
    "openpyxl": "excel",
    "pyreadstat": "spss",
    "python_calamine": "excel",
    "skl2onnx": "onnx",
    "skops": "skops",
    "sqlalchemy": "sql",
    "zarr": "remote",
}


class MissingExtraError(MaucError, ImportError):
    """A package that an optional part of the library needs is not installed."""


def optional_import(module: str, purpose: str) -> Any:
    """Import an optional module; `purpose` needs it, the subject of a sentence: "Parquet files".

    >>> optional_import("no_such_package", "wonders")
    Traceback (most recent call last):
    mauc.extras.MissingExtraError: wonders need the package no_such_package: pip install ...
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        if error.name is not None and error.name.split(".")[0] != package:
            raise  # the package is there, but broken
        extra = _EXTRA_OF.get(package)
        wanted = package if extra is None else f"'mauc[{extra}]'"
        raise MissingExtraError(
            f"{purpose} need{'s' if purpose.startswith('the ') else ''} the package {package}: "
            f"pip install {wanted}."
        ) from error
