"""Columns that are written in the names of folders, as in ``label=a/part-0.parquet``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mauc.exceptions import MaucError
from mauc.sources.files import NO_PARTITION, File


class PartitionColumn:
    """A column with one value per file.

    Parameters
    ----------
    name : str
    values : sequence of str
        Of each file; whole numbers if all are.
    """

    def __init__(self, name: str, values: Sequence[str]) -> None:
        self.name = name
        known = sorted({value for value in values if value != NO_PARTITION})
        self._codes = np.array(
            [known.index(value) if value != NO_PARTITION else -1 for value in values], np.int32
        )
        is_whole = all(value.removeprefix("-").isdecimal() for value in known)
        self._categories: list[Any] = [int(value) for value in known] if is_whole else known

    def read(self, edges: np.ndarray[Any, Any], start: int, stop: int) -> Any:
        """Return the values of some rows as a pandas Series of categories.

        Parameters
        ----------
        edges : ndarray of shape (n_files + 1,)
            Where the rows of the files begin, and the end of the last.
        start, stop : int
            The rows.
        """
        import pandas

        bounds = np.clip(edges, start, stop)
        codes = np.repeat(self._codes, np.diff(bounds))
        categories = pandas.Index(self._categories)
        if not categories.is_unique:  # 1 and 01
            found = pandas.Categorical([self._categories[i] if i >= 0 else None for i in codes])
            return pandas.Series(found)
        return pandas.Series(pandas.Categorical.from_codes(codes, categories=categories))


def partition_columns(files: Sequence[File], stored: set[str]) -> list[PartitionColumn]:
    """Return the columns that the names of the folders of files hold, beside `stored` ones.

    Parameters
    ----------
    files : sequence of File
    stored : set of str
        Columns that the files themselves hold; these count.
    """
    wanted = [key for key, _ in files[0].parts]
    for file in files:
        found = [key for key, _ in file.parts]
        if found != wanted:
            raise MaucError(
                f"{file.name} lies in folders that name the columns {found}, but {files[0].name} "
                f"in folders that name {wanted}; files of one table need the same."
            )
    return [
        PartitionColumn(key, [file.parts[level][1] for file in files])
        for level, key in enumerate(wanted)
        if key not in stored
    ]
