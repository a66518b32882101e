"""Writers: a data set in, a file out that the readers read back alike."""

from mauc.datasets.writers.write import WRITABLE, write_table

__all__ = ["WRITABLE", "write_table"]
