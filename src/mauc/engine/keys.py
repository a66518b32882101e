"""Sort columns as 64-bit keys, which hold the order of a value and a label of its row.

The low ``label_bits`` bits of a key are the label: the class code of the row, or its number. The
bits above are the *value part*, which ascends with the values. Missing values (NaN) have no key:
only the first ``n_known`` keys of a row are filled.

The bits of a float without its sign, its *magnitude*, ascend with its absolute value. Zero is the
center of the value parts; that of any other value lies above or below it by one more than its
magnitude exceeds the smallest one of the column, and trailing zeros that all magnitudes share are
dropped. So a column of doubles between 1e-9 and 1e9 in size takes 59 bits, single precision or
whole numbers far fewer, and there is room for the label. Where there is not, the lowest bits are
lost, and values that differ in nothing else share a value part until they are told apart by their
values. In what `sort_columns` and `sort_with_rows` return, **two keys have the same value part
exactly when their values are equal**.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import uintp

from mauc.compile import njit
from mauc.engine.arrays import read_only
from mauc.engine.sort import MAX_INSERTED, N_COUNTERS, bit_length, sort_rows
from mauc.parallel import scratch_array

_MAX_KEYS = 2**18  # of columns that are sorted together
_BELOW_SIGN = np.uint64(0x7FFFFFFFFFFFFFFF)
_INFINITE = np.uint64(0x7FF0000000000000)  # magnitude; those of NaN are larger
_ZERO, _ONE, _SIGN_BIT, _ALL_BITS = np.uint64(0), np.uint64(1), np.uint64(63), np.uint64(64)


class KeyCoding(NamedTuple):
    """How the value parts of columns were made; arrays of shape (n_features,), uint64."""

    n_zeros: np.ndarray  #: trailing zeros that were dropped
    offsets: np.ndarray  #: one less than the smallest magnitude, without those zeros
    centers: np.ndarray  #: value part of 0
    n_lost: np.ndarray  #: further bits that were lost; 0 where all values can be read again


def label_bits_of(n_labels: int) -> int:
    """Return the number of low bits that a label below `n_labels` needs in a key."""
    return max(1, int(n_labels - 1).bit_length())


def key_blocks(XT: np.ndarray) -> Iterator[slice]:
    """Yield slices of columns whose keys, of 8 bytes, stay in a fast cache."""
    width = max(1, _MAX_KEYS // max(1, XT.shape[1]))
    for start in range(0, XT.shape[0], width):
        yield slice(start, start + width)


def write_keys(
    XT: np.ndarray, labels: np.ndarray, label_bits: int, out: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, KeyCoding]:
    """Return keys in row order (`out`, or of `scratch_array`), `n_known` and their coding."""
    if XT.dtype != np.float64:
        single, XT = XT, scratch_array("doubles", XT.shape, np.float64)
        XT[:] = single
    keys = scratch_array("keys", XT.shape, np.uint64) if out is None else out
    n_known = np.empty(XT.shape[0], np.int64)
    layout = np.empty((4, XT.shape[0]), np.uint64)
    _write_rows(read_only(XT.view(np.uint64)), labels, np.uint64(label_bits), keys, n_known, layout)
    return keys, n_known, KeyCoding(*layout)


def sort_keys(keys: np.ndarray, n_known: np.ndarray, label_bits: int) -> None:
    """Sort the first `n_known` keys of every row in place by value; equal ones keep their order."""
    n_samples = keys.shape[1]
    spare = scratch_array("spare keys", (n_samples,), np.uint64)
    counters = np.empty(N_COUNTERS, np.uint32)
    parts = np.empty(2 * (n_samples // MAX_INSERTED + 1), np.uint64)
    sort_rows(keys, n_known, spare, np.uint64(label_bits), counters, parts)


def sort_columns(XT: np.ndarray, y: np.ndarray, label_bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted keys of a block of columns, class codes as labels, and `n_known`."""
    keys, n_known, layout = write_keys(XT, y, label_bits)
    sort_keys(keys, n_known, label_bits)
    lossy = np.flatnonzero(layout.n_lost)
    lossy = lossy[[_shares_values(keys[j, : n_known[j]], label_bits) for j in lossy]]
    if len(lossy) > 0:
        rows = np.arange(len(y), dtype=np.int32)
        found = np.empty((len(lossy), len(y)), np.uint64)
        _, _, row_bits = sort_with_rows(read_only(XT[lossy]), rows, rows, out=found)
        relabel(found, n_known[lossy], row_bits, y, label_bits)
        keys[lossy] = found
    return keys, n_known


def sort_with_rows(
    XT: np.ndarray, labels: np.ndarray, rows: np.ndarray, out: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return sorted keys, numbers of `rows` as labels, `n_known`, and the bits of the labels."""
    row_bits = label_bits_of(XT.shape[1])
    keys, n_known, layout = write_keys(XT, labels, row_bits, out)
    sort_keys(keys, n_known, row_bits)
    for j in np.flatnonzero(layout.n_lost):
        known = keys[j, : n_known[j]]
        if _shares_values(known, row_bits):
            _separate_values(XT[j], rows, row_bits, known)
    return keys, n_known, row_bits


def argsort_columns(XT: np.ndarray) -> np.ndarray:
    """Return the rows of each column, int32, by ascending value, ties by row, missing ones last."""
    rows = np.arange(XT.shape[1], dtype=np.int32)
    orders = np.empty(XT.shape, np.int32)
    for part in key_blocks(XT):
        keys, n_known, row_bits = sort_with_rows(XT[part], rows, rows)
        orders[part] = keys & np.uint64((1 << row_bits) - 1)
        for j in np.flatnonzero(n_known < len(rows)):
            orders[part][j, n_known[j] :] = np.flatnonzero(np.isnan(XT[part][j]))
    return orders


def read_values(keys: np.ndarray, label_bits: int, layout: KeyCoding) -> np.ndarray:
    """Return the values of keys that lost no bits, float64; others become any number."""
    n_zeros, offsets, centers = (part[:, np.newaxis] for part in layout[:3])
    parts = keys >> np.uint64(label_bits)
    is_negative = parts < centers
    bits = np.where(is_negative, centers - parts, parts - centers)  # the distance from 0
    np.add(bits, offsets, out=bits, where=bits != 0)
    bits <<= n_zeros
    bits |= is_negative.astype(np.uint64) << _SIGN_BIT
    return bits.view(np.float64)


def _shares_values(keys: np.ndarray, label_bits: int) -> bool:
    """Whether neighbours in a sorted row of keys have the same value part."""
    nearest = (keys[1:] ^ keys[:-1]).min(initial=~_ZERO)
    return bool(nearest >> np.uint64(label_bits) == _ZERO)


def _separate_values(x: np.ndarray, rows: np.ndarray, row_bits: int, keys: np.ndarray) -> None:
    """Replace the value parts of the sorted keys of a column by dense ranks of its values."""
    parts, numbers = keys >> np.uint64(row_bits), keys & np.uint64((1 << row_bits) - 1)
    is_new = np.ones(len(keys) + 1, bool)
    np.not_equal(parts[1:], parts[:-1], out=is_new[1:-1])
    # Only those that share a value part can be out of order; usually they are few.
    shared = np.flatnonzero(~(is_new[1:] & is_new[:-1]))
    values = x[rows[numbers[shared].astype(np.int64)]]
    if (values[1:] < values[:-1]).any():
        order = np.argsort(values, kind="stable")  # merges runs: they are nearly in order
        numbers[shared], values = numbers[shared[order]], values[order]
    is_new[shared[1:]] |= values[1:] != values[:-1]
    ranks = np.cumsum(is_new[1:-1], dtype=np.uint64)
    keys[0] = numbers[0]
    keys[1:] = (ranks << np.uint64(row_bits)) | numbers[1:]


@njit
def _write_rows(bits, labels, label_bits, keys, n_known, layout):
    n = uintp(bits.shape[1])
    for j in range(bits.shape[0]):
        x, w = bits[j], keys[j]
        n_missing, varying = _ZERO, _ZERO
        smallest, highest, lowest = ~_ZERO, _ZERO, _ZERO  # the first is one below the magnitude
        for i in range(n):
            magnitude = x[i] & _BELOW_SIGN
            is_missing = magnitude > _INFINITE
            n_missing += np.uint64(is_missing)
            magnitude = _ZERO if is_missing else magnitude
            positive = _ZERO if x[i] > _BELOW_SIGN else magnitude
            negative = magnitude - positive
            varying |= magnitude
            magnitude -= _ONE
            smallest = magnitude if magnitude < smallest else smallest
            highest = positive if positive > highest else highest
            lowest = negative if negative > lowest else lowest
        n_known[j] = np.int64(n - n_missing)
        n_zeros = bit_length((varying - _ONE) & ~varying) if varying != _ZERO else _ZERO
        offset = ((smallest + _ONE) >> n_zeros) - _ONE if varying != _ZERO else _ZERO
        center = (lowest >> n_zeros) - offset if lowest != _ZERO else _ZERO
        largest = center + ((highest >> n_zeros) - offset if highest != _ZERO else _ZERO)
        n_bits = bit_length(largest) + label_bits
        n_lost = n_bits - _ALL_BITS if n_bits > _ALL_BITS else _ZERO
        layout[0, j], layout[1, j], layout[2, j], layout[3, j] = n_zeros, offset, center, n_lost
        for i in range(n):
            magnitude = (x[i] & _BELOW_SIGN) >> n_zeros
            distance = magnitude - offset if magnitude != _ZERO else _ZERO
            # All ones for a negative number: (d ^ mask) - mask is -d.
            mask = _ZERO - (x[i] >> _SIGN_BIT)
            part = (center + ((distance ^ mask) - mask)) >> n_lost
            w[i] = (part << label_bits) | np.uint64(labels[i])
        if n_missing > _ZERO:
            n_filled = _ZERO
            for i in range(n):
                w[n_filled] = w[i]
                n_filled += np.uint64((x[i] & _BELOW_SIGN) <= _INFINITE)


@njit
def relabel(keys, n_known, row_bits, codes, label_bits):
    """Replace the row number in each key of `sort_with_rows`, in place, by its class code."""
    row_shift, label_shift = np.uint64(row_bits), np.uint64(label_bits)
    mask = (np.uint64(1) << row_shift) - np.uint64(1)
    for j in range(keys.shape[0]):
        w = keys[j]
        for i in range(uintp(n_known[j])):
            code = np.uint64(codes[uintp(w[i] & mask)])
            w[i] = ((w[i] >> row_shift) << label_shift) | code
