"""Data in: data sets by name, files by path; reduced data out.

The names are imported from `mauc.io` when they are asked for.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "dataset": ("Dataset", "check_numeric", "coded_columns", "encode_dataset"),
    "fetch": ("fetch",),
    "formats": ("FORMATS",),
    "generated": ("make_control_charts", "make_siren"),
    "load": ("load_dataset", "read_csv"),
    "options": ("NOMINAL",),
    "registry": (
        "BUNDLED",
        "Entry",
        "dataset_info",
        "dataset_label",
        "list_datasets",
        "load_bundled",
    ),
    "write": ("WRITABLE", "write_table"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF, key=lambda name: (not name.isupper(), not name[0].isupper(), name))


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"mauc.io.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value
