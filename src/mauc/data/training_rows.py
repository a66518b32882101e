"""What a fitted selector knows of its rows: a hash of each, by which they are recognised again.

A hash is made of the values of a row and of its class: it depends neither on other rows nor on how
the table is held. A value of 0 adds nothing, so that sparse matrices need no more than they store.
"""

from hashlib import blake2b
from math import sqrt
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np

from mauc.compile import njit, njit_part
from mauc.data.problem import Problem

_MAX_HASHES = 2**20  # that are kept; of more rows, those of the smallest hashes
_SALT = np.uint64(0x9E3779B97F4A7C15)
_MISSING_BITS = np.uint64(0x7FF8_0000_0000_0000)  # those of every NaN
_MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9)
_MIN_ERRORS = 3.0  # standard errors that count as clearly above what is expected


class Recognised(NamedTuple):
    """How many rows of a table are rows of the fit."""

    n_found: int
    n_expected: float  #: of rows that were kept apart, as often as rows of the fit repeat
    is_clear: bool  #: whether more were found than chance explains

    @property
    def sentence(self) -> str:
        """Both numbers in words."""
        if self.n_expected < 0.5:
            return f"{self.n_found:,} of its rows are rows of the fit"
        return (
            f"{self.n_found:,} of its rows are rows of the fit, where about "
            f"{self.n_expected:,.0f} repeat one by chance"
        )


class TrainingRows(NamedTuple):
    """Hashes of the rows of a fit."""

    n_rows: int
    digest: int  #: of all rows with their weights, in any order
    hashes: np.ndarray  #: uint64, ascending; those up to `limit`
    limit: int

    @classmethod
    def of(cls, problem: Problem, n_jobs: int | None = None) -> Self | None:
        """Return what is kept of the rows of weight; None of a source, which is not read again."""
        hashes = hash_rows(problem, n_jobs)
        if hashes is None:
            return None
        weights = np.ones(len(hashes)) if problem.sample_weight is None else problem.sample_weight
        hashes, weights = hashes[weights > 0], weights[weights > 0]
        digest = int(mix(hashes ^ _bits_of(weights)).sum())
        hashes.sort()
        limit = int(hashes[min(_MAX_HASHES, len(hashes)) - 1])
        kept = hashes[: np.searchsorted(hashes, np.uint64(limit), "right")]
        return cls(len(hashes), digest, kept.copy(), limit)

    def recognise(self, other: "TrainingRows") -> Recognised:
        """Return how many rows of another table are rows of the fit, and how many are by chance.

        More is clear if a random split of all rows together in two parts of these sizes would
        hardly ever part so many rows from their copies.
        """
        limit = np.uint64(min(self.limit, other.limit))
        mine, theirs = (one.hashes[one.hashes <= limit] for one in (self, other))
        n, n_new = len(mine), len(theirs)
        if n == 0 or n_new == 0:
            return Recognised(0, 0.0, False)
        both = np.concatenate([mine, theirs])
        _, rows, sizes = np.unique(both, return_inverse=True, return_counts=True)
        in_fit = np.bincount(rows[:n], minlength=len(sizes))
        n_found = int((sizes - in_fit)[in_fit > 0].sum())
        # Of s equal rows B are new, and recognised unless B = s; the sum of all B is fixed.
        part = n_new / len(both)
        mean = sizes * (part - part**sizes)
        square = sizes * part * (1.0 - part) + sizes**2 * (part**2 - part**sizes)
        covariance = (square - mean * sizes * part).sum()
        variance = (square - mean**2).sum() - covariance**2 / (sizes * part * (1.0 - part)).sum()
        excess = n_found - mean.sum()
        scale = other.n_rows / n_new  # where some of the hashes alone are kept
        return Recognised(
            n_found=round(n_found * scale),
            n_expected=float(in_fit[in_fit > 1].sum() / n * other.n_rows),
            is_clear=bool(excess > max(0.5, _MIN_ERRORS * sqrt(max(variance, 0.0)))),
        )


def hash_rows(problem: Problem, n_jobs: int | None = None) -> np.ndarray | None:
    """Return a hash of each row, uint64; None if the columns would have to be read for it."""
    columns = problem.columns
    if columns.is_streamed:
        return None
    sums = _category_hashes(problem.classes)[problem.codes]
    salts = mix(np.arange(1, problem.n_features + 1, dtype=np.uint64) * _SALT) | np.uint64(1)
    for _, of_block in problem.map(_hash_block, salts, n_jobs=n_jobs):
        sums += of_block
    for j, categories in problem.categories.items():
        codes = columns.floats([j])[0].astype(np.int64)
        table = np.append(_category_hashes(categories), np.uint64(1))  # the last: missing
        sums += mix(table[codes] ^ salts[j])
    return mix(sums)


def _hash_block(problem: Problem, block: slice, salts: np.ndarray) -> np.ndarray:
    """Return what some columns add to the hash of every row."""
    columns: Any = problem.columns
    is_number, chosen = ~problem.is_nominal[block], np.arange(problem.n_features)[block]
    sums = np.zeros(problem.n_samples, np.uint64)
    numbers = block if is_number.all() else chosen[is_number]
    if columns.is_sparse:
        part = columns.matrix[:, numbers]
        of_columns = np.repeat(salts[numbers], np.diff(part.indptr))
        data, rows = part.data.astype(np.float64), part.indices.astype(np.int64)
        add_entries(data, rows, of_columns, sums)
    elif is_number.any():
        add_values(columns.plain(numbers), salts[numbers], sums)
    return sums


def _category_hashes(categories: np.ndarray) -> np.ndarray:
    """Return a hash of each category, that of its text, or of its value if it is a number."""
    texts = (repr(float(one)) if isinstance(one, Real) else str(one) for one in categories.tolist())
    digests = (blake2b(text.encode(errors="surrogatepass"), digest_size=8) for text in texts)
    return np.array([int.from_bytes(one.digest(), "little") for one in digests], np.uint64)


def _bits_of(values: np.ndarray) -> np.ndarray:
    """Return the bits of doubles, uint64."""
    return np.ascontiguousarray(values, np.float64).view(np.uint64)


def mix(z: np.ndarray) -> np.ndarray:
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


@njit
def add_values(XT, salts, sums):
    """Add the hashes of values, (n_columns, n_rows), to the sums of the rows.

    Every column has its salt, an odd number.
    """
    for j in range(XT.shape[0]):
        for i in range(XT.shape[1]):
            sums[i] += _value_hash(XT[j, i], salts[j])


@njit
def add_entries(data, rows, salts, sums):
    """Add the hashes of stored values to the sums of their rows; each has its salt."""
    for i in range(data.shape[0]):
        sums[rows[i]] += _value_hash(data[i], salts[i])
