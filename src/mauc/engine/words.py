"""Sort every column once: features and class codes in, sorted 64-bit words out.

A *word* holds the key of a value in its high bits and the row's class code in its low
``label_bits`` bits. Keys ascend with the values. Missing values (NaN) are left out: only the first
``n_known`` words of a row are filled.

The bits of a float without its sign, its *magnitude*, ascend with its absolute value. Zero is the
center of the keys; the key of any other value lies above or below it by one more than its magnitude
exceeds the smallest one of the column, and trailing zeros that all magnitudes share are dropped. So
a column of doubles between 1e-9 and 1e9 in size takes 59 bits, single precision or whole numbers
far fewer, and the label has room. Where it has not, the lowest bits of the key are lost: values
that differ in nothing else share a key. In the words of `sort_columns`, on which the sweep relies,
**two words have the same key exactly when their values are equal**.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, uintp

from mauc.compile import njit_part
from mauc.engine.sort import MAX_INSERTED, N_COUNTERS, bit_length, has_ties, sort_rows, sort_tagged
from mauc.parallel import scratch_array

_MAX_WORDS = 2**18  # of columns that are sorted together
_INFINITE = {4: 0x7F800000, 8: 0x7FF0000000000000}  # magnitude, by the bytes of a float


class Layout(NamedTuple):
    """How the keys of columns were made; arrays of shape (n_features,), uint64."""

    n_zeros: np.ndarray  #: trailing zeros that were dropped
    offsets: np.ndarray  #: one less than the smallest magnitude, without those zeros
    centers: np.ndarray  #: key of 0
    n_lost: np.ndarray  #: further bits that were lost

    @property
    def is_exact(self):
        """Whether only equal values share a key, of every column."""
        return self.n_lost == 0


def label_bits_of(n_classes):
    """Return the number of low bits that a class code needs in a word."""
    return max(1, int(n_classes - 1).bit_length())


def word_blocks(XT):
    """Yield slices of columns whose words, of 8 bytes, stay in a fast cache."""
    width = max(1, _MAX_WORDS // max(1, XT.shape[1]))
    for start in range(0, XT.shape[0], width):
        yield slice(start, start + width)


def write_words(XT, y, label_bits):
    """Return the words of a block of columns, in the order of the rows.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples), float32 or float64
        Contiguous columns, read-only.
    y : ndarray of shape (n_samples,), int32
        Class codes.
    label_bits : int
        Of `label_bits_of`.

    Returns
    -------
    words : ndarray of shape (n_features, n_samples), uint64
        Of `mauc.parallel.scratch_array`: the next words take its place.
    n_known : ndarray of shape (n_features,), int64
    layout : Layout
    """
    itemsize = XT.dtype.itemsize
    bits = XT.view(np.dtype(f"u{itemsize}"))
    words = scratch_array("words", XT.shape, np.uint64)
    n_known = np.empty(XT.shape[0], np.int64)
    layout = Layout(*np.empty((4, XT.shape[0]), np.uint64))
    infinite = np.uint64(_INFINITE[itemsize])
    _write_rows(bits, y, np.uint64(label_bits), infinite, words, n_known, *layout)
    return words, n_known, layout


def sort_columns(XT, y, label_bits):
    """Return the sorted words of a block of columns and how many of them are filled.

    Parameters and results are those of `write_words`, without the layout.
    """
    words, n_known, layout = write_words(XT, y, label_bits)
    sort_words(words, n_known, label_bits)
    for j in np.flatnonzero(~layout.is_exact):
        known = words[j, : n_known[j]]
        if has_ties(known, np.uint64(label_bits)):
            rank_column(XT[j], y, label_bits, known)
    return words, n_known


def sort_words(words, n_known, label_bits):
    """Sort every row of words in place by ``word >> label_bits``; equal keys come in any order.

    Parameters
    ----------
    words : ndarray of shape (n_features, n_samples), uint64
    n_known : ndarray of shape (n_features,), int64
        How many words of a row are sorted; the others are left alone.
    label_bits : int
    """
    n_samples = words.shape[1]
    spare = scratch_array("spare", (n_samples,), np.uint64)
    sizes = np.empty(N_COUNTERS, np.uint32)
    parts = np.empty(2 * (n_samples // MAX_INSERTED + 1), np.int64)
    sort_rows(words, n_known, spare, np.uint64(label_bits), sizes, parts)


def read_values(words, label_bits, layout, dtype):
    """Return the values of exact words; what is not a word becomes any number.

    Parameters
    ----------
    words : ndarray of shape (n_features, n_samples), uint64
    label_bits : int
    layout : Layout
    dtype : {float32, float64}
        Of the columns that the words were written from.

    Returns
    -------
    values : ndarray of shape (n_features, n_samples), float64
    """
    n_zeros, offsets, centers = (part[:, np.newaxis] for part in layout[:3])
    keys = words >> np.uint64(label_bits)
    is_negative = keys < centers
    bits = np.where(is_negative, centers - keys, keys - centers)  # the distance from 0
    np.add(bits, offsets, out=bits, where=bits != 0)
    bits <<= n_zeros
    bits |= is_negative.astype(np.uint64) << np.uint64(8 * dtype.itemsize - 1)
    if dtype == np.float32:
        return bits.astype(np.uint32).view(np.float32).astype(np.float64)
    return bits.view(np.float64)


@njit(cache=True, nogil=True)
def _write_rows(bits, y, label_bits, infinite, words, n_known, zeros_of, offsets, centers, lost_of):
    zero, one, size = np.uint64(0), np.uint64(1), np.uint64(8 * bits.itemsize - 1)
    below_sign = (one << size) - one
    n = uintp(bits.shape[1])
    for j in range(bits.shape[0]):
        x, w = bits[j], words[j]
        n_missing, varying = zero, zero
        smallest, highest, lowest = ~zero, zero, zero  # the first is one below the magnitude
        for i in range(n):
            magnitude = np.uint64(x[i]) & below_sign
            is_missing = magnitude > infinite
            n_missing += np.uint64(is_missing)
            magnitude = zero if is_missing else magnitude
            is_negative = (np.uint64(x[i]) >> size) != zero
            varying |= magnitude
            smallest = min(smallest, magnitude - one)
            highest = max(highest, zero if is_negative else magnitude)
            lowest = max(lowest, magnitude if is_negative else zero)
        n_known[j] = np.int64(n) - np.int64(n_missing)
        n_zeros = _trailing_zeros(varying)
        offset = ((smallest + one) >> n_zeros) - one if varying != zero else zero
        center = (lowest >> n_zeros) - offset if lowest != zero else zero
        largest = center + ((highest >> n_zeros) - offset if highest != zero else zero)
        n_lost = max(bit_length(largest) + label_bits, np.uint64(64)) - np.uint64(64)
        zeros_of[j], offsets[j], centers[j], lost_of[j] = n_zeros, offset, center, n_lost
        for i in range(n):
            magnitude = (np.uint64(x[i]) & below_sign) >> n_zeros
            distance = magnitude - offset if magnitude != zero else zero
            # All ones for a negative number: (d ^ mask) - mask is -d.
            mask = zero - (np.uint64(x[i]) >> size)
            key = (center + ((distance ^ mask) - mask)) >> n_lost
            w[i] = (key << label_bits) | np.uint64(y[i])
        if n_missing > zero:
            _leave_out_missing(x, below_sign, infinite, w)


@njit_part
def _leave_out_missing(x, below_sign, infinite, words):
    filled = uintp(0)
    for i in range(uintp(x.shape[0])):
        words[filled] = words[i]
        filled += uintp((np.uint64(x[i]) & below_sign) <= infinite)


@njit_part
def _trailing_zeros(number):
    n_zeros = np.uint64(0)
    while n_zeros < np.uint64(63) and (number >> n_zeros) & np.uint64(1) == 0:
        n_zeros += np.uint64(1)
    return n_zeros


@njit(cache=True, nogil=True)
def sort_column(x, y, values, codes):
    """Write the known values of one column in ascending order, and their class codes."""
    n_known = 0
    for i in range(x.shape[0]):
        if x[i] == x[i]:
            values[n_known], codes[n_known] = x[i] + 0.0, y[i]  # -0.0 is 0.0
            n_known += 1
    keys, spare = np.empty(n_known, np.uint64), np.empty(n_known, np.uint64)
    sort_tagged(values, codes, n_known, keys, spare)


@njit(cache=True, nogil=True)
def rank_column(x, y, label_bits, words):
    """Write the sorted words of one column with dense ranks as keys.

    For columns whose words lost bits and share keys: doubles of all magnitudes, or of many
    classes, with ties.
    """
    n = words.shape[0]
    values, tags = np.empty(n, np.float64), np.empty(n, np.int32)
    sort_column(x, y, values, tags)
    rank = np.uint64(0)
    for i in range(n):
        rank += np.uint64(i > 0 and values[i] != values[i - 1])
        words[i] = (rank << np.uint64(label_bits)) | np.uint64(tags[i])


_MAX_INSERTED = 32  # values of one key that are sorted by insertion


def sort_with_rows(XT, labels, rows):
    """Return the sorted words of a block of columns and how many of them are filled.

    Parameters
    ----------
    XT : ndarray of shape (n_columns, n_samples), float32 or float64
        Contiguous columns, read-only.
    labels : ndarray of shape (n_samples,), int32
        Number of each row, a permutation of 0, 1, ...
    rows : ndarray of shape (n_samples,), int32
        The row of each number.

    Returns
    -------
    words : ndarray of shape (n_columns, n_samples), uint64
        Keys ascend, and two words have the same key exactly when their values are equal; the
        number of the row is in the `row_bits` low bits.
    n_known : ndarray of shape (n_columns,), int64
        Values that are not missing.
    row_bits : int
    """
    row_bits = label_bits_of(XT.shape[1])
    words, n_known, layout = write_words(XT, labels, row_bits)
    sort_words(words, n_known, row_bits)
    is_exact = layout.is_exact
    if not is_exact.all():
        separate_keys(XT, rows, row_bits, n_known, words, is_exact)
        for j in np.flatnonzero(~is_exact):
            rank_column(XT[j], labels, row_bits, words[j, : n_known[j]])
    return words, n_known, row_bits


@njit(cache=True, nogil=True)
def separate_keys(XT, rows, row_bits, n_known, words, is_exact):
    """Give different values that share a key keys of their own, in columns that are not exact.

    Parameters
    ----------
    XT : ndarray of shape (n_columns, n_samples), float32 or float64
    rows : ndarray of shape (n_samples,), int32
        The row of each number.
    row_bits : int
    n_known : ndarray of shape (n_columns,), int64
    words : ndarray of shape (n_columns, n_samples), uint64
        Sorted; changed in place.
    is_exact : ndarray of shape (n_columns,), bool
        Set, unless too many different values share a key.
    """
    shift = np.uint64(row_bits)
    for j in range(words.shape[0]):
        w = words[j, : n_known[j]]
        if is_exact[j] or not has_ties(w, shift):
            is_exact[j] = True
            continue
        n_mixed, largest = _sort_shared(XT[j], rows, shift, w)
        is_exact[j] = largest <= _MAX_INSERTED
        if is_exact[j] and n_mixed > 0:
            _renumber(XT[j], rows, shift, w)


@njit_part
def _sort_shared(x, rows, shift, words):
    """Sort the words of every key by value; return for how many keys values differ.

    Returns
    -------
    n_mixed : int
    largest : int
        Words of the largest such key; those of more than `_MAX_INSERTED` are not sorted.
    """
    n = words.shape[0]
    mask = (np.uint64(1) << shift) - np.uint64(1)
    n_mixed = largest = start = 0
    while start < n - 1:
        key = words[start] >> shift
        stop = start + 1
        if (words[stop] >> shift) == key:
            value, n_other = x[rows[words[start] & mask]], 0
            while stop < n and (words[stop] >> shift) == key:
                n_other += x[rows[words[stop] & mask]] != value
                stop += 1
            if n_other > 0:
                n_mixed += 1
                largest = max(largest, stop - start)
                if stop - start <= _MAX_INSERTED:
                    _insert_values(x, rows, mask, words, start, stop)
        start = stop
    return n_mixed, largest


@njit_part
def _renumber(x, rows, shift, words):
    """Replace all keys by dense ranks of the values."""
    mask = (np.uint64(1) << shift) - np.uint64(1)
    rank = np.uint64(0)
    previous = words[0]
    for i in range(words.shape[0]):
        word = words[i]
        is_new = (word >> shift) != (previous >> shift)
        if not is_new:
            is_new = x[rows[word & mask]] != x[rows[previous & mask]]
        rank += np.uint64(is_new)
        words[i] = (rank << shift) | (word & mask)
        previous = word


@njit_part
def _insert_values(x, rows, mask, words, start, stop):
    """Sort a few words by their values."""
    for i in range(start + 1, stop):
        word = words[i]
        value = x[rows[word & mask]]
        place = i
        while place > start and x[rows[words[place - 1] & mask]] > value:
            words[place] = words[place - 1]
            place -= 1
        words[place] = word


@njit(cache=True, nogil=True)
def write_class_words(words, n_known, row_bits, codes, label_bits):
    """Replace the number of the row in each word by its class code.

    Parameters
    ----------
    words : ndarray of shape (n_columns, n_samples), uint64
        From `sort_with_rows`; changed in place.
    n_known : ndarray of shape (n_columns,), int64
    row_bits : int
    codes : ndarray of shape (n_samples,), int32
        Class code of each number.
    label_bits : int
    """
    row_shift, label_shift = np.uint64(row_bits), np.uint64(label_bits)
    mask = (np.uint64(1) << row_shift) - np.uint64(1)
    for j in range(words.shape[0]):
        row = words[j]
        for i in range(uintp(n_known[j])):
            code = np.uint64(codes[uintp(row[i] & mask)])
            row[i] = ((row[i] >> row_shift) << label_shift) | code
