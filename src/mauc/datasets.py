"""Data in: data sets by name, files by path; reduced data out.

The names are imported from `mauc.io` when they are asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mauc.io.dataset import Dataset, check_numeric, coded_columns, encode_dataset
    from mauc.io.fetch import fetch
    from mauc.io.formats import FORMATS
    from mauc.io.generated import make_control_charts, make_siren
    from mauc.io.load import load_dataset
    from mauc.io.options import NOMINAL
    from mauc.io.registry import (
        BUNDLED,
        Entry,
        dataset_info,
        dataset_label,
        list_datasets,
        load_bundled,
    )
    from mauc.io.write import WRITABLE, write_table

__all__ = [
    "BUNDLED",
    "FORMATS",
    "NOMINAL",
    "WRITABLE",
    "Dataset",
    "Entry",
    "check_numeric",
    "coded_columns",
    "dataset_info",
    "dataset_label",
    "encode_dataset",
    "fetch",
    "list_datasets",
    "load_bundled",
    "load_dataset",
    "make_control_charts",
    "make_siren",
    "write_table",
]
_HOMES = ("dataset", "load", "options", "formats", "registry", "write", "fetch", "generated")


def __getattr__(name: str) -> Any:
    for home in _HOMES if name in __all__ else ():
        module = import_module(f"mauc.io.{home}")
        if name in vars(module):
            return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
