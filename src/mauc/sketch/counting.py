"""Count the values of a column by class and bin: values, class codes and edges in, counts out."""

import numpy as np
from numba import uintp

from mauc.compile import njit
from mauc.parallel import scratch_array

_TILE = 512  # rows whose bins are found together


def count_values(values, codes, edges, n_classes):
    """Count the values of one column by bin and class.

    Parameters
    ----------
    values : ndarray of shape (n_rows,), float32 or float64
        Read-only.
    codes : ndarray of shape (n_rows,), int32
    edges : ndarray of shape (n_edges,), float64
        Strictly ascending.
    n_classes : int

    Returns
    -------
    counts : ndarray of shape (n_edges + 2, n_classes), int64
        Bin b holds the values v with b edges <= v; the last row holds the missing ones.
    """
    counts = np.zeros((len(edges) + 2, n_classes), np.int64)
    n_levels = len(edges).bit_length()
    ladder = scratch_array("ladder", (2**n_levels - 1,), values.dtype)
    ladder[: len(edges)] = _rounded_up(edges, values.dtype)
    ladder[len(edges) :] = np.nan
    places = scratch_array("places", (_TILE,), np.uint32)
    count_column(values, codes, ladder, places, counts)
    return counts


def _rounded_up(edges, dtype):
    """Return for every edge the smallest number of a type that is not below it."""
    if dtype == np.float64:
        return edges
    with np.errstate(over="ignore", under="ignore"):
        narrow = edges.astype(dtype)
        return np.where(narrow < edges, np.nextafter(narrow, dtype.type(np.inf)), narrow)


@njit(cache=True, nogil=True)
def count_column(values, codes, ladder, places, counts):
    """Add the values of a column to `counts`.

    All values of a tile take a step of the binary search before any takes the next one: a step is
    then a loop without branches that LLVM vectorises, ten times as fast as search after search.

    Parameters
    ----------
    values : ndarray of shape (n_rows,), float32 or float64
    codes : ndarray of shape (n_rows,), int32
    ladder : ndarray of shape (2**n_levels - 1,), of the type of `values`
        The edges, ascending, then NaN, which no value reaches.
    places : ndarray of shape (n_tile,), uint32
    counts : ndarray of shape (n_edges + 2, n_classes), int64
    """
    one = uintp(1)
    n, n_tile = uintp(values.shape[0]), uintp(places.shape[0])
    missing = uintp(counts.shape[0]) - one
    for start in range(uintp(0), n, n_tile):
        width = min(n_tile, n - start)
        for i in range(width):
            places[i] = 0
        step = (uintp(ladder.shape[0]) + one) >> one
        while step > uintp(0):
            # places[i] edges are known to be <= the value; of the next 2 * step - 1 it is not known
            for i in range(width):
                place = places[i]
                further = place + np.uint32(step)
                is_above = ladder[uintp(further) - one] <= values[start + i]
                places[i] = further if is_above else place
            step >>= one
        for i in range(width):
            value = values[start + i]
            bin = uintp(places[i]) if value == value else missing
            counts[bin, codes[start + i]] += 1
