"""Columns of arrays that lie on disk or elsewhere: memmaps, Zarr arrays, HDF5 datasets."""

import mmap
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from mauc.data.source import ColumnSource, default_memory, stripe_array
from mauc.engine.arrays import contiguous_columns, take_columns
from mauc.exceptions import MaucError, MaucTypeError

_PART_BYTES = 2**24  # of rows that are transposed together
_CHUNK_SHARE = 8  # of the memory, for the chunks that one column lies in
Array = np.ndarray[Any, Any]


class ArraySource(ColumnSource):
    """Columns of a two-dimensional array: of NumPy, a memmap, of Zarr or of h5py.

    Parameters
    ----------
    array : array-like of shape (n_samples, n_features)
        With `shape`, `dtype`, slices and, if it is stored in chunks, `chunks`.
    name : str
    reopen : callable, optional
        Opens the array again in another process; without it the array itself is pickled.
    stamp : callable, optional
        Returns what must not change while the array is read: the size of its file and the like.
    waits : bool, default=False
        Whether its chunks come from another machine.
    memory : int, optional
    """

    def __init__(
        self, array: Any, name: str, *, reopen: Callable[[], Any] | None = None,
        stamp: Callable[[], dict[str, Any]] | None = None, waits: bool = False,
        memory: int | None = None,
    ) -> None:  # fmt: skip
        self._array, self._reopen = check_array(array, name), reopen
        self._stamp, self._mark = stamp, None if stamp is None else stamp()
        self.waits = waits
        self._lock = threading.Lock()
        self._rest: tuple[int, Array] | None = None
        self._is_broad = is_broad(array, default_memory() if memory is None else memory)
        kind = array.dtype.newbyteorder("=")
        super().__init__(name, array.shape[0], [kind] * array.shape[1], memory=memory)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__ | {"_rest": None}
        del state["_lock"]
        if self._reopen is not None:
            del state["_array"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        if self._reopen is not None:
            self._array = self._reopen()

    def __copy__(self) -> "ArraySource":
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__ | {"_lock": threading.Lock(), "_rest": None})
        return other

    def read(self, places: Array) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return self.read_rows(0, self.shape[0], places)

    def read_rows(self, start: int, stop: int, places: Array) -> list[Any]:
        """Read some rows of columns."""
        places = np.asarray(places)
        try:
            if isinstance(self._array, np.ndarray):
                return list(self._copy(start, stop, places))
            return list(self._read_chunks(start, stop, places))
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            self.check_unchanged()
            raise MaucError(f"{self.name} cannot be read: {error}") from error

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows: as many chunks as are cheap to read one by one."""
        n, m = self.shape
        step = max(1, _PART_BYTES // max(1, m * self.types[0].itemsize))
        n_rows, _ = _chunks_of(self._array)
        step = max(1, step // n_rows) * n_rows
        return [(start, min(start + step, n)) for start in range(0, n, step)]

    def check_unchanged(self) -> None:
        """Raise if the file changed since the source was opened."""
        if self._stamp is not None and self._stamp() != self._mark:
            raise MaucError(
                f"{self.name} changed while it was being read; what was computed from it is not "
                f"valid. Open it again."
            )

    def _copy(self, start: int, stop: int, places: Array) -> Array:
        rows = np.asarray(self._array)[start:stop]
        found: Array = contiguous_columns(take_columns(rows, places))
        if isinstance(self._array, np.memmap):
            if np.may_share_memory(found, rows):
                found = found.copy()  # read here, not where it is worked on
            _let_go(self._array)
        return found

    def _read_chunks(self, start: int, stop: int, places: Array) -> Array:
        """Read columns run by run, and each run chunk by chunk."""
        out: Array = stripe_array((len(places), stop - start), self.types[0])
        if len(places) == 0:
            return out
        cuts = np.flatnonzero(np.diff(places) != 1) + 1
        position = 0
        for run in np.split(places, cuts):
            target = out[position : position + len(run)]
            self._read_run(start, stop, int(run[0]), int(run[-1]) + 1, target)
            position += len(run)
        return out

    def _read_run(self, start: int, stop: int, first: int, last: int, out: Array) -> None:
        """Fill `out` with neighbouring columns.

        No chunk is decompressed twice in a pass over the columns in their order: what the last
        chunks hold beyond the run is kept for the next call.
        """
        is_whole = (start, stop) == (0, self.shape[0]) and not self._is_broad
        done = 0
        if is_whole:
            with self._lock:
                rest, self._rest = self._rest, None
            if rest is not None and rest[0] <= first < rest[0] + len(rest[1]):
                kept = rest[1][first - rest[0] :][: last - first]
                out[: len(kept)] = kept
                done = len(kept)
                if first + done < rest[0] + len(rest[1]):
                    with self._lock:
                        self._rest = rest
        if first + done == last:
            return
        _, width = _chunks_of(self._array)
        edge = min(-(-last // width) * width, self.shape[1]) if is_whole else last
        more = np.empty((edge - last, stop - start), out.dtype)
        self._fill(start, stop, first + done, last, out[done:], more)
        if len(more):
            with self._lock:
                self._rest = last, more

    def _fill(self, start: int, stop: int, first: int, last: int, out: Array, more: Array) -> None:
        n_rows, _ = _chunks_of(self._array)
        row_bytes = (last - first + len(more)) * out.itemsize
        step = max(1, _PART_BYTES // max(1, row_bytes * n_rows)) * n_rows
        row = start
        while row < stop:
            end = min((row // n_rows) * n_rows + step, stop)
            part = np.asarray(self._array[row:end, first : last + len(more)])
            out[:, row - start : end - start] = part[:, : last - first].T
            more[:, row - start : end - start] = part[:, last - first :].T
            row = end


def check_array(array: Any, name: str) -> Any:
    """Return an array if it has numbers in two dimensions; raise otherwise."""
    if len(array.shape) != 2 or array.dtype.kind not in "biufmM":
        raise MaucTypeError(
            f"{name} must be an array of numbers with two dimensions (samples, features), got "
            f"{array.dtype} of shape {tuple(array.shape)}."
        )
    return array


def _chunks_of(array: Any) -> tuple[int, int]:
    """Return the rows and columns of the pieces in which an array is stored."""
    if isinstance(array, np.ndarray):
        return 1, 1
    chunks = getattr(array, "chunks", None)
    if chunks is None:  # row after row
        return max(1, min(array.shape[0], 1024)), 1
    return int(chunks[0]), int(chunks[1])


def is_broad(array: Any, memory: int) -> bool:
    """Whether the pieces that one column lies in take too large a part of the memory."""
    _, width = _chunks_of(array)
    n_bytes = int(array.shape[0] * min(width, array.shape[1]) * array.dtype.itemsize)
    return n_bytes * _CHUNK_SHARE > memory


def _let_go(array: Array) -> None:
    """Tell the system that the pages of a mapped file are not needed; they would count as used."""
    held = getattr(array, "_mmap", None)
    if held is not None and getattr(array, "mode", None) != "c" and hasattr(held, "madvise"):
        held.madvise(mmap.MADV_DONTNEED)
