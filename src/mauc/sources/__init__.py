"""Sources of columns: data in files, arrays and collections that need not fit into memory."""

from mauc.problem.source import ColumnSource
from mauc.sources.open import open_columns

__all__ = ["ColumnSource", "open_columns"]
