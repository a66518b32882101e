"""Sources of columns: data in files, arrays and collections that need not fit into memory."""

from mauc.problem.source import ColumnSource
from mauc.sources.kinds import as_source, as_vector
from mauc.sources.open import open_columns

__all__ = ["ColumnSource", "as_source", "as_vector", "open_columns"]
