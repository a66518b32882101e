"""Tables that lie by rows, transposed once on disk: text files and arrays in, sources out."""

from mauc.sources.transposed.arrays import open_transposed_array
from mauc.sources.transposed.manage import CachedTable, clear_caches, list_caches
from mauc.sources.transposed.text import TextSource, open_transposed_text

__all__ = [
    "CachedTable",
    "TextSource",
    "clear_caches",
    "list_caches",
    "open_transposed_array",
    "open_transposed_text",
]
