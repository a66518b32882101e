"""Discretised features with their margins, and the mutual information of pairs of them.

In come codes ``D`` of shape (n_features, n_samples) and classes ``y``; out comes, in nats,

    I(a; b) = [sum_ab L(n_ab) - sum_a L(n_a) - sum_b L(n_b) + L(n)] / n,   L(v) = v log v.

L is kept in fixed point (``int64``), so that the sums are exact and their order is irrelevant:
all ways of counting, any relabelling of the states and I(b; a) give the same bits. Features that
are equal up to the names of their states are therefore truly tied.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from mauc.binning.states import BINNINGS, MAX_BINS, bin_columns
from mauc.checks import check_choice, check_int
from mauc.numerics.log_table import log_table
from mauc.parallel import count_threads, even_ranges, run_in, start_pool
from mauc.problem.columns import read_only
from mauc.problem.spill import Room
from mauc.selectors.base import RankingSelector
from mauc.selectors.greedy_search import row_parts
from mauc.selectors.information.joint_counts import (
    MAX_CLASS_PRODUCTS,
    MAX_PLANE_STATES,
    complete_counts,
    equal_mask,
    histogram_counts,
    information,
    margin_counts,
    plane_counts,
    popcount,
)

# Words and table look-ups of work that make a second thread worth its start; an estimate.
BLOCK_WORK = 1 << 19
_TABLE_BYTES = 8  # per sample, of the table of L


class BinnedSelector(RankingSelector):
    """Base of the selectors that discretise all features first: MRMR, JMI and FCBF."""

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        check_choice("binning", self.binning, BINNINGS)
        if self.binning in ("equal_width", "equal_frequency"):
            check_int("n_bins", self.n_bins, 2, MAX_BINS)

    def binned(self, problem):
        """Return the context that holds the features of a problem, discretised."""
        problem.room.reserve(_TABLE_BYTES * problem.n_samples)
        states, n_states = bin_columns(problem, self.binning, self.n_bins, self.n_jobs)
        return binned_features(
            states, n_states, problem.codes, problem.n_classes, count_threads(self.n_jobs),
            problem.count_logs, problem.room,
        )  # fmt: skip


class CountArrays(NamedTuple):
    """What the kernels read, in the order of their arguments."""

    D: np.ndarray  #: states; this and the next five as in `feature_margins`
    n_states: np.ndarray
    starts: np.ndarray
    planes: np.ndarray
    counts: np.ndarray
    margin_logs: np.ndarray
    log_n: int  #: L(n_samples)
    table: np.ndarray  #: this and the unit as in `log_table`
    unit: float


@dataclass(frozen=True)
class BinnedFeatures:
    """Features ready for joint counts, and the threads to count them with.

    Parameters
    ----------
    arrays : CountArrays
    y : ndarray of shape (n_samples,), int32
    class_counts : ndarray of shape (n_classes,), int64
    log_y : int
        Sum of L over the classes.
    relevance : ndarray of shape (n_features,), float64
        I(f; y) of every feature.
    is_constant : ndarray of shape (n_features,), bool
    blocks : list of (int, int)
        Ranges of features, one per thread.
    pool : executor or None
        For `mauc.parallel.run_in`.
    room : Room
        Of the states and planes.
    max_rows : int
        Rows of them that a thread may read before it calls ``room.release``.
    """

    arrays: CountArrays
    y: np.ndarray
    class_counts: np.ndarray
    log_y: int
    relevance: np.ndarray
    is_constant: np.ndarray
    blocks: list[tuple[int, int]]
    pool: Any
    room: Room
    max_rows: int


@contextmanager
def binned_features(
    D, n_states, y, n_classes, n_threads=1, logs=None, room=None
) -> Iterator[BinnedFeatures]:
    """Count the margins of discretised features, and what each tells about the class.

    Parameters
    ----------
    D : ndarray of shape (n_features, n_samples), uint8, C-contiguous
        State of each sample in each feature; a missing value is one more state.
    n_states : int or ndarray of shape (n_features,)
        Codes of feature j are below ``n_states[j]``, at most 256. A state may be empty.
    y : ndarray of shape (n_samples,), int32
        Classes, 0 .. n_classes - 1.
    n_classes : int
    n_threads : int, default=1
        Features are shared out in blocks. No result depends on it.
    logs : (table, unit), optional
        L up to the number of samples, see `class_margins`.
    room : Room, optional
        Gives out the memory for bit planes, or a file; the one that gave `D`.
    """
    n_features, n_samples = D.shape
    room = room or Room()
    # Read-only views: one compiled version of each kernel, whatever the caller holds.
    D, y = read_only(D), read_only(y)
    n_states = np.ascontiguousarray(np.broadcast_to(n_states, n_features), dtype=np.int64)
    n_planes = np.where(n_states <= MAX_PLANE_STATES, n_states - 1, 0)
    starts = np.concatenate([[0], np.cumsum(n_planes)]).astype(np.int64)
    planes = room.array((starts[-1], (n_samples + 63) // 64), np.uint64)
    counts = np.zeros((n_features, n_states.max()), dtype=np.int64)
    margin_logs = np.empty(n_features, dtype=np.int64)
    table, unit, class_planes, class_counts, log_y = class_margins(y, n_classes, logs)
    arrays = CountArrays(
        D, n_states, starts, planes, counts, margin_logs, table[n_samples], table, unit
    )
    relevance = np.empty(n_features, dtype=np.float64)
    # Of the type of the states where it holds them, for which the loops are compiled anyway.
    classes = read_only(y.astype(np.uint8)) if n_classes <= 256 else y

    blocks = _feature_blocks(D, n_states, n_threads)
    plane_bytes = planes.shape[1] * planes.itemsize * int(n_planes.max())
    # A feature is read as planes or as states, and as both while planes are made of it.
    max_rows = room.rows_at_once(n_samples + plane_bytes, len(blocks))

    def count(block):
        for first, last in row_parts(*block, max_rows):
            feature_margins(
                D[first:last], n_states[first:last], starts[first : last + 1] - starts[first],
                table, planes[starts[first] : starts[last]], counts[first:last],
                margin_logs[first:last],
            )  # fmt: skip
            target_information(
                *arrays, classes, n_classes, class_planes, class_counts, log_y,
                np.arange(first, last), relevance[first:last],
            )  # fmt: skip
            room.release()

    with start_pool(len(blocks)) as pool:
        run_in(pool, count, blocks)
        is_constant = counts.max(axis=1) == n_samples
        yield BinnedFeatures(
            arrays, y, class_counts, log_y, relevance, is_constant, blocks, pool, room, max_rows
        )


def _feature_blocks(D, n_states, n_threads):
    """Cut the features into at most ``n_threads`` blocks worth a thread each."""
    n_features, n_samples = D.shape
    states = int(n_states.max())
    words = n_samples // 64 * (states - 1) ** 2 if states <= MAX_PLANE_STATES else n_samples
    work = n_features * (words + states**2)
    return even_ranges(n_features, min(n_threads, work // BLOCK_WORK))


@njit(cache=True, nogil=True)
def pack_planes(codes, n_planes, first, planes):
    """Write the bit planes of states 0 .. n_planes - 1 to ``planes[first:first + n_planes]``."""
    n_samples = codes.shape[0]
    n_full = n_samples // 64
    for state in range(n_planes):
        # Words before w hold the samples before 64 w; the bits past the last sample stay 0.
        for w in range(n_full):
            planes[first + state, w] = equal_mask(codes, 64 * w, codes.dtype.type(state))
        if n_full < planes.shape[1]:
            word = np.uint64(0)
            for i in range(64 * n_full, n_samples):
                word |= np.uint64(codes[i] == state) << np.uint64(i - 64 * n_full)
            planes[first + state, n_full] = word


def class_margins(y, n_classes, logs=None):
    """Return L as a table and its unit (see `log_table`), and planes, counts and L of the classes.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), int32
    n_classes : int
    logs : (table, unit), optional
        L up to the number of samples.

    Returns
    -------
    table : ndarray of shape (n_samples + 1,), int64
    unit : float
    class_planes : ndarray of shape (n_classes - 1, n_words), uint64
        None where there are too many classes for planes.
    class_counts : ndarray of shape (n_classes,), int64
    log_y : int
        Sum of L over the classes.
    """
    table, unit = logs or log_table(y.shape[0], 1.0)[1:]
    # With more classes no feature is counted by planes. The type is that of the states: what packs
    # them is compiled once.
    n_planes = n_classes - 1 if n_classes - 1 <= MAX_CLASS_PRODUCTS else 0
    class_planes = np.empty((n_planes, (y.shape[0] + 63) // 64), dtype=np.uint64)
    if n_planes > 0:
        pack_planes(read_only(y.astype(np.uint8)), n_planes, 0, class_planes)
    class_counts = np.bincount(y, minlength=n_classes)
    return table, unit, class_planes, class_counts, int(table[class_counts].sum())


@njit(cache=True, nogil=True)
def feature_margins(D, n_states, starts, table, planes, counts, margin_logs):
    """Prepare features: margins of every row of codes, and planes where there are few states.

    Parameters
    ----------
    D : ndarray of shape (n_features, n_samples), uint8
    n_states : ndarray of shape (n_features,), int64
        Codes of feature j are below ``n_states[j]``.
    starts : ndarray of shape (n_features + 1,), int64
        Feature j owns the planes ``starts[j]`` to ``starts[j + 1]``; none means histograms.
    table : ndarray of int64
        L in fixed point, see `log_table`.
    planes : ndarray of shape (starts[-1], n_words), uint64
        Filled.
    counts : ndarray of shape (n_features, max(n_states)), int64
        Filled with the number of samples in each state.
    margin_logs : ndarray of shape (n_features,), int64
        Filled with the sum of L over the states.
    """
    n_samples = D.shape[1]
    for j in range(D.shape[0]):
        n_planes = starts[j + 1] - starts[j]
        if n_planes == 0:
            margin_counts(D[j], n_states[j], counts[j])
        else:
            pack_planes(D[j], n_planes, starts[j], planes)
            rest = n_samples
            for state in range(n_planes):
                ones = 0
                for w in range(planes.shape[1]):
                    ones += popcount(planes[starts[j] + state, w])
                counts[j, state] = ones
                rest -= ones
            counts[j, n_planes] = rest
        total = np.int64(0)
        for state in range(n_states[j]):
            total += table[counts[j, state]]
        margin_logs[j] = total


@njit(cache=True, nogil=True)
def target_information(
    D, n_states, starts, planes, counts, margin_logs, log_n, table, unit,
    target, n_target, target_planes, target_counts, target_log, features, out,
):  # fmt: skip
    """Fill ``out`` with I(f; t) of some features and one target: the class, or a feature.

    Parameters are those of `feature_margins`; besides

    target : ndarray of shape (n_samples,), uint8, or int32 for more than 256 classes
        States of the target.
    n_target : int
        Number of its states.
    target_planes : ndarray of shape (n_target - 1, n_words), uint64
        Without rows where the target has no planes.
    target_counts : ndarray of shape (n_target,), int64
    target_log, log_n : int
        Sum of L over the states of the target, and L(n_samples).
    features : ndarray of int64
    """
    n_samples = target.shape[0]
    joint = np.empty((counts.shape[1], n_target), dtype=np.int64)
    for position in range(features.shape[0]):
        j = features[position]
        n_planes = starts[j + 1] - starts[j]
        n_products = n_planes * target_planes.shape[0]
        if 0 < n_products <= MAX_CLASS_PRODUCTS:
            plane_counts(
                planes, starts[j], n_planes, target_planes, np.int64(0), n_target - 1, joint
            )
            complete_counts(joint, counts[j], n_states[j], target_counts, n_target)
        else:
            histogram_counts(D[j], n_states[j], target, n_target, joint)
        out[position] = information(
            joint, n_states[j], n_target, margin_logs[j], target_log, log_n, n_samples, table, unit
        )
