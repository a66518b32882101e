"""How a transposed table lies on disk, and the source that reads it.

``groups.bin`` holds groups of rows one behind the other; in a group the values of a column are
neighbours, and so are neighbouring columns. It is written once from front to back, and a stripe of
columns is one run of bytes in each group. Columns whose type was known only at the end (words,
numbers with separated thousands) lie whole in ``columns.bin``.
"""

import io
import json
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError
from mauc.sources.transposed.store import file_stamp

GROUPS, COLUMNS = "groups.bin", "columns.bin"
_DIRECT_BYTES = 2**18  # larger pieces are read to where they belong, smaller ones many at once

Array = np.ndarray[Any, Any]


class TransposedSource(ColumnSource):
    """The columns of a table that was transposed on disk.

    Values are read, not mapped, so that they take no more memory than the columns asked for.

    Parameters
    ----------
    folder : Path
        Of the table, with `note`.
    note : dict
        What `commit` wrote.
    memory : int, optional
        See `ColumnSource`.
    look : callable, optional
        Returns the stamp that what was transposed has now; that of a file by default.
    """

    def __init__(
        self, folder: Path, note: dict[str, Any], memory: int | None = None,
        look: Callable[[], dict[str, Any]] | None = None,
    ) -> None:  # fmt: skip
        self.folder, self.stamp, self.path = folder, note["stamp"], note["path"]
        if look is None and self.path is not None:
            look = partial(file_stamp, Path(self.path))
        self._look = look
        self._types = [np.dtype(kind) for kind in note["types"]]
        self._slots = {place: slot for slot, place in enumerate(note["slots"])}
        widths = [self._types[place].itemsize if place >= 0 else 8 for place in note["slots"]]
        self._edges = np.concatenate([[0], np.cumsum(widths, dtype=np.int64)])
        self._groups = [tuple(group) for group in note["groups"]]
        self._whole = {int(place): held for place, held in note["whole"].items()}
        is_word = [bool("categories" in self._whole.get(j, {})) for j in range(len(self._types))]
        types = [
            np.dtype(object) if word else kind
            for word, kind in zip(is_word, self._types, strict=True)
        ]
        super().__init__(
            note["source"], note["n_rows"], types, feature_names=note["names"], memory=memory
        )

    def read(self, places: Array) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return self.read_rows(0, self.shape[0], places)

    def read_rows(self, start: int, stop: int, places: Array) -> list[Any]:
        """Read some rows of columns; like `read` otherwise."""
        chosen = [int(j) for j in places]
        n_rows = max(0, min(stop, self.shape[0]) - start)
        out = self._allocate(chosen, n_rows)
        in_groups = [k for k, j in enumerate(chosen) if j not in self._whole]
        try:
            if in_groups:
                self._read_groups(start, [(self._slots[chosen[k]], out[k]) for k in in_groups])
            if len(in_groups) < len(chosen):
                with open(self.folder / COLUMNS, "rb", buffering=0) as file:
                    return [
                        self._read_whole(file, j, start, values) if j in self._whole else values
                        for j, values in zip(chosen, out, strict=True)
                    ]
        except OSError as error:
            raise MaucError(
                f"{self.name}: its columns in {self.folder} cannot be read ({error.strerror}); "
                f"were they removed by `mauc cache clear`, or replaced because the file changed? "
                f"Open the file again."
            ) from error
        return list(out)

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows that are cheap to read one by one."""
        return [(start, start + n_rows) for start, n_rows, _ in self._groups]

    def check_unchanged(self) -> None:
        """Raise if what was transposed changed since."""
        if self._look is not None and self._look() != self.stamp:
            raise MaucError(
                f"{self.name} changed while its columns were read (its size or time of change is "
                f"another one); run again when it is complete."
            )

    def _allocate(self, chosen: list[int], n_rows: int) -> list[Array]:
        """Return an array for each column; those of one type are rows of one array."""
        kinds = [self._types[j] for j in chosen]
        stacks = {
            kind: iter(np.empty((kinds.count(kind), n_rows), kind)) for kind in dict.fromkeys(kinds)
        }
        return [next(stacks[kind]) for kind in kinds]

    def _read_groups(self, start: int, wanted: list[tuple[int, Array]]) -> None:
        """Fill arrays with the rows of slots from `start` on."""
        runs = _runs(wanted)
        stop = start + len(wanted[0][1])
        first = bisect_right(self._groups, start, key=lambda group: group[0]) - 1
        with open(self.folder / GROUPS, "rb", buffering=0) as file:
            for begin, n_rows, offset in self._groups[max(first, 0) :]:
                if begin >= stop:
                    break
                low, high = max(start - begin, 0), min(stop - begin, n_rows)
                rows = slice(begin + low - start, begin + high - start)
                for run in runs:
                    self._read_run(file, offset, n_rows, low, run, rows)

    def _read_run(
        self, file: io.FileIO, offset: int, n_rows: int, low: int,
        run: list[tuple[int, Array]], rows: slice,
    ) -> None:  # fmt: skip
        """Read neighbouring columns of one group."""
        n_wanted = rows.stop - rows.start
        is_part = n_wanted < n_rows
        if len(run) == 1 or is_part or run[0][1].itemsize * n_rows >= _DIRECT_BYTES:
            for slot, values in run:
                file.seek(offset + int(self._edges[slot]) * n_rows + low * values.itemsize)
                _fill(file, values[rows])
            return
        edges = self._edges[run[0][0] : run[-1][0] + 2] * n_rows
        file.seek(offset + int(edges[0]))
        held = np.empty(int(edges[-1] - edges[0]), np.uint8)
        _fill(file, held)
        for (_, values), begin, end in zip(
            run, edges - edges[0], edges[1:] - edges[0], strict=False
        ):
            values[rows].view(np.uint8)[:] = held[begin:end]

    def _read_whole(self, file: io.FileIO, j: int, start: int, values: Array) -> Any:
        held = self._whole[j]
        if "refused" in held:
            raise MaucError(f"{self.name}: {held['refused']}")
        file.seek(held["offset"] + start * values.itemsize)
        _fill(file, values)
        if "categories" not in held:
            return values
        import pandas as pd

        begin, size, kind = held["categories"]
        file.seek(begin)
        words = np.empty(size, np.uint8)
        _fill(file, words)
        index = pd.Index(json.loads(words.tobytes()), dtype=kind)
        return pd.Series(pd.Categorical.from_codes(values, dtype=pd.CategoricalDtype(index)))


def _runs(wanted: list[tuple[int, Array]]) -> list[list[tuple[int, Array]]]:
    """Return slots and their arrays in order, neighbours together."""
    runs: list[list[tuple[int, Array]]] = []
    for slot, values in sorted(wanted, key=lambda pair: pair[0]):
        if runs and slot == runs[-1][-1][0] + 1:
            runs[-1].append((slot, values))
        else:
            runs.append([(slot, values)])
    return runs


def _fill(file: io.FileIO, values: Array) -> None:
    """Fill a contiguous array from the place where the file is."""
    view = values.view(np.uint8).data
    done = 0
    while done < len(view):
        n_read = file.readinto(view[done:])
        if not n_read:
            raise OSError(0, "the file ends too early")
        done += n_read
