"""Discretised features with their joint counts, of which mRMR, JMI and FCBF search.

States have shape (n_features, n_samples), uint8. A missing value is one more state of its feature;
the kernels do not know which state it is.

Two ways lead to the same counts. A feature of few states is stored as *bit planes*: bit i of
plane ``a`` says that sample i is in state ``a``. A joint count is then the number of ones in
the AND of two planes, 64 samples a word, and the last state of either feature follows from the
margins: three states against three need four counts, not nine. A feature of many states is
counted by a histogram.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types, uintp
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from mauc.binning.states import BINNINGS, MAX_BINS, bin_columns
from mauc.checks import check_choice, check_int
from mauc.compile import njit, njit_inline, njit_part
from mauc.engine.arrays import read_only
from mauc.engine.special import log_table
from mauc.memory import Workspace
from mauc.parallel import count_threads, even_ranges, run_in, start_pool
from mauc.selectors.base import RankingSelector, row_parts

# A feature of more states has no planes: 7 x 7 ANDs a word cost about as much as 64 histogram
# updates where the processor counts the bits of one word at a time.
MAX_PLANE_STATES = 8
# The same balance for a feature against the classes, whose planes are made anyway.
MAX_CLASS_PRODUCTS = 128
# Words of one block: eight planes of a block stay in the first-level cache.
BLOCK_WORDS = 512
# Words and table look-ups of work that make a second thread worth its start; an estimate.
BLOCK_WORK = 1 << 19
_TABLE_BYTES = 8  # per sample, of the table of L


class BinnedSelector(RankingSelector):
    """Base of the selectors that discretise all features first: MRMR, JMI and FCBF."""

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        if self.binning not in BINNINGS:
            check_choice("binning", self.binning, BINNINGS)
        if self.binning in ("equal_width", "equal_frequency"):
            check_int("n_bins", self.n_bins, 2, MAX_BINS)

    def binned(self, problem):
        """Return the context that holds the features of a problem, discretised."""
        workspace = problem.workspace
        workspace.reserve(_TABLE_BYTES * problem.n_samples)
        if problem.cluster is None:
            states, n_states = bin_columns(problem, self.binning, self.n_bins, self.n_jobs)
        else:
            states, n_states = _bin_on_cluster(problem, self.binning, self.n_bins)
        return binned_features(
            states, n_states, problem.codes, problem.n_classes, count_threads(self.n_jobs),
            problem.count_logs, workspace,
        )  # fmt: skip


def _bin_on_cluster(problem, binning, n_bins):
    """Return what `bin_columns` does; workers discretise, their states are collected here."""
    states = problem.workspace.array((problem.n_features, problem.n_samples), np.uint8)
    n_states = np.empty(problem.n_features, np.int64)
    for part, found in problem.cluster.map_ranges(problem, bin_columns, binning, n_bins):
        states[part], n_states[part] = found
        problem.workspace.release()
    return states, n_states


class CountArrays(NamedTuple):
    """What the kernels read, in the order of their arguments."""

    D: np.ndarray  #: states, (n_features, n_samples), uint8
    n_states: np.ndarray  #: states of feature j are below ``n_states[j]``
    starts: np.ndarray  #: feature j owns the planes ``starts[j]`` to ``starts[j + 1]``, if any
    planes: np.ndarray  #: (n_planes, n_words), uint64
    counts: np.ndarray  #: samples in each state, (n_features, max(n_states))
    margin_logs: np.ndarray  #: sum of L over the states of a feature
    log_n: int  #: L(n_samples)
    table: np.ndarray  #: L(v) = v log v in fixed point; this and the unit as in `log_table`
    unit: float


@dataclass(frozen=True)
class BinnedFeatures:
    """Features ready for joint counts, and the threads to count them with."""

    arrays: CountArrays
    y: np.ndarray
    class_counts: np.ndarray
    log_y: int  #: sum of L over the classes
    relevance: np.ndarray  #: I(f; y) of every feature
    is_constant: np.ndarray
    blocks: list[tuple[int, int]]  #: ranges of features, one per thread
    pool: Any  #: for `mauc.parallel.run_in`
    workspace: Workspace  #: of the states and planes
    max_rows: int  #: rows of them that a thread may read before it calls ``workspace.release``


@contextmanager
def binned_features(
    D, n_states, y, n_classes, n_threads=1, logs=None, workspace=None
) -> Iterator[BinnedFeatures]:
    """Count the margins of discretised features, and what each tells about the class.

    A state may be empty, and a feature has at most 256. `logs` are L up to the number of samples;
    `workspace`, which gave `D`, gives out the memory for bit planes. No result depends on
    the threads.
    """
    n_features, n_samples = D.shape
    workspace = workspace or Workspace()
    # Read-only views: one compiled version of each kernel, whatever the caller holds. Classes have
    # the type of the states where it holds them, for which the loops are compiled anyway.
    D, y = read_only(D), read_only(y)
    classes = read_only(y.astype(np.uint8)) if n_classes <= 256 else y
    n_states = np.ascontiguousarray(np.broadcast_to(n_states, n_features), dtype=np.int64)
    n_planes = np.where(n_states <= MAX_PLANE_STATES, n_states - 1, 0)
    starts = np.concatenate([[0], np.cumsum(n_planes)]).astype(np.int64)
    planes = workspace.array((starts[-1], (n_samples + 63) // 64), np.uint64)
    counts = np.zeros((n_features, n_states.max()), dtype=np.int64)
    margin_logs = np.empty(n_features, dtype=np.int64)
    table, unit, class_planes, class_counts, log_y = class_margins(classes, n_classes, logs)
    arrays = CountArrays(
        D, n_states, starts, planes, counts, margin_logs, table[n_samples], table, unit
    )
    relevance = np.empty(n_features, dtype=np.float64)

    blocks = _feature_blocks(D, n_states, n_threads)
    plane_bytes = planes.shape[1] * planes.itemsize * int(n_planes.max())
    # A feature is read as planes or as states, and as both while planes are made of it.
    max_rows = workspace.rows_at_once(n_samples + plane_bytes, len(blocks))

    def count(block):
        joint = np.empty((counts.shape[1], n_classes), np.int64)
        for first, last in row_parts(*block, max_rows):
            feature_margins(
                D[first:last], n_states[first:last], starts[first : last + 1] - starts[first],
                table, planes[starts[first] : starts[last]], counts[first:last],
                margin_logs[first:last],
            )  # fmt: skip
            target_information(
                *arrays, classes, n_classes, class_planes, class_counts, log_y,
                np.arange(first, last), joint, relevance[first:last],
            )  # fmt: skip
            workspace.release()

    with nullcontext() if len(blocks) == 1 else start_pool(len(blocks)) as pool:
        if pool is None:
            count(blocks[0])
        else:
            run_in(pool, count, blocks)
        is_constant = counts.max(axis=1) == n_samples
        yield BinnedFeatures(
            arrays, y, class_counts, log_y, relevance, is_constant, blocks, pool, workspace,
            max_rows,
        )  # fmt: skip


def _feature_blocks(D, n_states, n_threads):
    """Cut the features into at most ``n_threads`` blocks worth a thread each."""
    n_features, n_samples = D.shape
    if n_threads == 1:
        return [(0, n_features)]
    states = int(n_states.max())
    words = n_samples // 64 * (states - 1) ** 2 if states <= MAX_PLANE_STATES else n_samples
    work = n_features * (words + states**2)
    return even_ranges(n_features, min(n_threads, work // BLOCK_WORK))


def class_margins(y, n_classes, logs=None):
    """Return L and its unit (see `log_table`), and planes, counts and the sum of L of the classes.

    There are no planes where there are too many classes for them.
    """
    table, unit = logs or log_table(y.shape[0], 1.0)[1:]
    # With more classes no feature is counted by planes.
    n_planes = n_classes - 1 if n_classes - 1 <= MAX_CLASS_PRODUCTS else 0
    class_planes = np.empty((n_planes, (y.shape[0] + 63) // 64), dtype=np.uint64)
    if n_planes > 0:
        pack_planes(y, n_planes, 0, class_planes)
    class_counts = np.bincount(y, minlength=n_classes)
    return table, unit, class_planes, class_counts, int(table[class_counts].sum())


@intrinsic
def popcount(typingctx, word):
    """Count the ones of a 64-bit word by the processor's own instruction."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def equal_mask(typingctx, codes, index, state):
    """Compare 64 codes with a state: bit i of the word says ``codes[index + i] == state``.

    One vector comparison; the compiler cuts it to the width that the processor has.
    """
    if not (isinstance(codes, types.Array) and isinstance(codes.dtype, types.Integer)):
        return None

    def codegen(context, builder, signature, args):
        array_type = signature.args[0]
        element = context.get_data_type(array_type.dtype)
        vector = ir.VectorType(element, 64)
        lane = ir.IntType(32)
        data = make_array(array_type)(context, builder, args[0]).data
        address = builder.bitcast(builder.gep(data, [args[1]]), vector.as_pointer())
        values = builder.load(address)
        values.align = array_type.dtype.bitwidth // 8
        empty = ir.Constant(vector, ir.Undefined)
        single = builder.insert_element(empty, args[2], ir.Constant(lane, 0))
        everywhere = ir.Constant(ir.VectorType(lane, 64), [0] * 64)
        states = builder.shuffle_vector(single, empty, everywhere)
        return builder.bitcast(builder.icmp_unsigned("==", values, states), ir.IntType(64))

    return types.uint64(codes, types.intp, codes.dtype), codegen


@njit_part
def margin_counts(codes, n_states, counts):
    """Count the states of one row of codes into ``counts[:n_states]``."""
    for state in range(n_states):
        counts[state] = 0
    for i in range(codes.shape[0]):
        counts[codes[i]] += 1


@njit_part
def plane_counts(planes_a, first_a, n_a, planes_b, first_b, n_b, joint):
    """Count the samples in plane a and plane b into ``joint[:n_a, :n_b]``."""
    n_words = planes_a.shape[1]
    if n_a == 2 and n_b == 2:
        # The three states of mRMR: one reading of four planes gives the four counts.
        c00, c01, c10, c11 = 0, 0, 0, 0
        for w in range(n_words):
            a0 = planes_a[first_a, w]
            a1 = planes_a[first_a + 1, w]
            b0 = planes_b[first_b, w]
            b1 = planes_b[first_b + 1, w]
            c00 += popcount(a0 & b0)
            c01 += popcount(a0 & b1)
            c10 += popcount(a1 & b0)
            c11 += popcount(a1 & b1)
        joint[0, 0] = c00
        joint[0, 1] = c01
        joint[1, 0] = c10
        joint[1, 1] = c11
        return
    for a in range(n_a):
        for b in range(n_b):
            joint[a, b] = 0
    for begin in range(0, n_words, BLOCK_WORDS):
        end = begin + BLOCK_WORDS if begin + BLOCK_WORDS < n_words else n_words
        # joint holds the counts of the words before begin.
        for a in range(n_a):
            words_a = planes_a[first_a + a]
            for b in range(n_b):
                words_b = planes_b[first_b + b]
                ones = 0
                for w in range(uintp(begin), uintp(end)):
                    ones += popcount(words_a[w] & words_b[w])
                joint[a, b] += ones


@njit_part
def complete_counts(joint, counts_a, n_states_a, counts_b, n_states_b):
    """Fill the last row and column of ``joint`` from the margins."""
    last_a, last_b = n_states_a - 1, n_states_b - 1
    for a in range(last_a):
        rest = counts_a[a]
        for b in range(last_b):
            rest -= joint[a, b]
        joint[a, last_b] = rest
    for b in range(n_states_b):
        rest = counts_b[b]
        for a in range(last_a):
            rest -= joint[a, b]
        joint[last_a, b] = rest


@njit_part
def histogram_counts(codes_a, n_states_a, codes_b, n_states_b, joint):
    """Count the samples of every pair of states into ``joint[:n_states_a, :n_states_b]``."""
    for a in range(n_states_a):
        for b in range(n_states_b):
            joint[a, b] = 0
    for i in range(codes_a.shape[0]):
        joint[codes_a[i], codes_b[i]] += 1


@njit_part
def information(joint, n_states_a, n_states_b, log_a, log_b, log_n, n_samples, table, unit):
    """Return I(a; b) in nats from joint counts; never negative.

    A constant feature gives exactly 0: its joint sum of L equals the other margin's.
    """
    total = np.int64(0)
    for a in range(n_states_a):
        for b in range(n_states_b):
            total += table[joint[a, b]]
    total += log_n - log_a - log_b
    # Rounding of the entries of L can leave a few units of either sign. Conditions compile faster
    # than min and max.
    return (total if total > 0 else np.int64(0)) / (n_samples * unit)


@njit_inline
def shared_information(
    D, n_states, starts, planes, counts, margin_logs, log_n, table, unit,
    j, target, n_target, target_planes, first, n_target_planes, target_counts, target_log, joint,
):  # fmt: skip
    """Return I(f; t) of feature j and a target, see `target_information`.

    The planes of the target are those from `first` on.
    """
    n_planes = starts[j + 1] - starts[j]
    n_products = n_planes * n_target_planes
    if 0 < n_products <= MAX_CLASS_PRODUCTS:
        plane_counts(planes, starts[j], n_planes, target_planes, first, n_target - 1, joint)
        complete_counts(joint, counts[j], n_states[j], target_counts, n_target)
    else:
        histogram_counts(D[j], n_states[j], target, n_target, joint)
    return information(
        joint, n_states[j], n_target, margin_logs[j], target_log, log_n, D.shape[1], table, unit
    )


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


@njit(cache=True, nogil=True)
def feature_margins(D, n_states, starts, table, planes, counts, margin_logs):
    """Fill the planes, counts and logs of `CountArrays` from its states."""
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
    target, n_target, target_planes, target_counts, target_log, features, joint, out,
):  # fmt: skip
    """Fill `out` with I(f; t) of some features and one target: the class, or a feature.

    The target has states, uint8 (int32 for more than 256 classes), planes of all but the last, or
    none, counts and the sum of L over its states. `joint`, (counts.shape[1], n_target), int64, is
    work space.
    """
    for i in range(features.shape[0]):
        out[i] = shared_information(
            D, n_states, starts, planes, counts, margin_logs, log_n, table, unit,
            features[i], target, n_target, target_planes, np.int64(0), target_planes.shape[0],
            target_counts, target_log, joint,
        )  # fmt: skip
