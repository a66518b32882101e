"""Readers, one file a family of formats: a path in, a `Table` out."""

from mauc.datasets.readers.formats import FORMATS, find_format, read_table

__all__ = ["FORMATS", "find_format", "read_table"]
