"""Hashes of rows of numbers: sums of one hash per value, in any order of the columns."""

from typing import Any

import numpy as np

from mauc.compile import njit, njit_part

_MISSING_BITS = np.uint64(0x7FF8_0000_0000_0000)  # those of every NaN
_MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9)


def mix(z: Any) -> Any:
    """Return whole numbers of 64 bits well mixed (the finaliser of splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * _MULTIPLIER
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit_part
def _value_hash(value, salt):
    """Return the hash of a value, the same for all types of numbers; that of 0 is 0."""
    x = np.float64(value)
    bits = x.view(np.uint64) if x == x else _MISSING_BITS
    z = (bits if x != 0.0 else np.uint64(0)) * _MULTIPLIER
    return (z ^ (z >> np.uint64(32))) * salt


@njit(cache=True, nogil=True)
def add_values(XT, salts, sums):
    """Add the hashes of values, (n_columns, n_rows), to the sums of the rows.

    Every column has its salt, an odd number.
    """
    for j in range(XT.shape[0]):
        for i in range(XT.shape[1]):
            sums[i] += _value_hash(XT[j, i], salts[j])


@njit(cache=True, nogil=True)
def add_entries(data, rows, salts, sums):
    """Add the hashes of stored values to the sums of their rows; each has its salt."""
    for i in range(data.shape[0]):
        sums[rows[i]] += _value_hash(data[i], salts[i])
