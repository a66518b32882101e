"""Write the files of a transposed table from front to back."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from mauc.sources.transposed.layout import COLUMNS, GROUPS

Array = np.ndarray[Any, Any]
_WRITE_BYTES = 2**26  # of one write


class TableWriter:
    """The files of a table that is being built.

    Parameters
    ----------
    folder : Path
        Made by `mauc.sources.transposed.store.building`.

    Attributes
    ----------
    groups : list of (int, int, int)
        First row, number of rows and place in the file of each group.
    n_rows : int
    """

    def __init__(self, folder: Path) -> None:
        self._groups_path, self._columns_path = folder / GROUPS, folder / COLUMNS
        self._groups = open(self._groups_path, "x+b", buffering=0)  # noqa: SIM115 - see close
        self._columns = open(self._columns_path, "x+b", buffering=0)  # noqa: SIM115
        self.groups: list[tuple[int, int, int]] = []
        self.n_rows = 0

    def add_group(self, n_rows: int, blocks: Iterable[Array]) -> None:
        """Append rows: the values of all slots, slot by slot, in contiguous arrays."""
        self.groups.append((self.n_rows, n_rows, self._groups.tell()))
        for block in blocks:
            self._write(self._groups, self._groups_path, block)
        self.n_rows += n_rows

    def convert_slot(self, group: int, slot: int) -> None:
        """Turn the integers of one slot into floats; all slots are 8 bytes wide."""
        _, n_rows, offset = self.groups[group]
        place = offset + slot * 8 * n_rows
        self._groups.seek(place)
        values = np.frombuffer(self._groups.read(8 * n_rows), np.int64)
        self._groups.seek(place)
        self._write(self._groups, self._groups_path, values.astype(np.float64))
        self._groups.seek(0, 2)

    def add_column(self, parts: Iterable[Array]) -> dict[str, Any]:
        """Append a whole column, part by part; return what its source needs to find it."""
        offset = self._columns.tell()
        for values in parts:
            self._write(self._columns, self._columns_path, values)
        return {"offset": offset}

    def add_categories(self, categories: list[Any], kind: str) -> list[Any]:
        """Append the categories of a column; return what its source needs to find them."""
        offset = self._columns.tell()
        text = json.dumps(categories, ensure_ascii=True).encode("ascii")
        self._write(self._columns, self._columns_path, np.frombuffer(text, np.uint8))
        return [offset, len(text), kind]

    def close(self) -> None:
        """Close the files."""
        self._groups.close()
        self._columns.close()

    def _write(self, file: Any, path: Path, values: Array) -> None:
        view = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
        done = 0
        try:
            while done < len(view):
                done += write_bytes(file, view[done : done + _WRITE_BYTES])
        except OSError as error:
            error.filename = str(path)  # the cache is at fault, not the source
            raise


def write_bytes(file: Any, view: memoryview) -> int:
    """Write bytes; return how many were."""
    return int(file.write(view))
