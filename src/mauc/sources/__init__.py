"""Sources of columns: data in files, arrays and collections that need not fit into memory."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mauc.data.source import ColumnSource
from mauc.sources.kinds import as_source, as_vector

if TYPE_CHECKING:
    from mauc.sources.open import open_columns

__all__ = ["ColumnSource", "as_source", "as_vector", "open_columns"]


def __getattr__(name: str) -> Any:
    # Selectors ask for `as_source` only; files are opened by few.
    if name != "open_columns":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.open").open_columns
