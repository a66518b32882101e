"""Information about the class and about each other in features of few states.

Information is a quotient of whole numbers: with L(v) = v log v in fixed point,

    n I(f; s) = sum L(n_fs) - sum L(n_f) - sum L(n_s) + L(n),
    n I(f, s; y) = sum L(n_fsy) - sum L(n_fs) - sum L(n_y) + L(n).

States have shape (n_features, n_samples), uint8. A feature of few states is stored as *bit planes*:
bit i of plane ``a`` says that sample i is in state ``a``. A joint count is then the number of ones
in the AND of two planes, 64 samples a word, and the last state of either feature follows from the
margins. A feature of many states is counted by a histogram.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types, uintp
from numba.np.arrayobj import make_array

from mauc.compile import intrinsic, njit, njit_part
from mauc.engine.arrays import RowCounts, count_rows, fixed_log, read_only
from mauc.memory import Workspace
from mauc.parallel import even_ranges, run_in, start_pool

# A feature of more states has no planes: 7 x 7 ANDs a word cost about as much as 64 histogram
# updates where the processor counts the bits of one word at a time.
MAX_PLANE_STATES = 8
# The same balance for a feature against the classes, whose planes are made anyway.
MAX_CLASS_PRODUCTS = 128
# Words of one block: eight planes of a block stay in the first-level cache.
BLOCK_WORDS = 512
# Words and table look-ups of work that make a second thread worth its start; an estimate.
BLOCK_WORK = 1 << 19


class StateArrays(NamedTuple):
    """The discretised features, from which kernels count the information of two of them."""

    states: np.ndarray  #: (n_features, n_samples), uint8
    n_states: np.ndarray  #: states of feature j are below ``n_states[j]``
    starts: np.ndarray  #: feature j owns the planes ``starts[j]`` to ``starts[j + 1]``, if any
    planes: np.ndarray  #: (n_planes, n_words), uint64
    counts: np.ndarray  #: samples in each state, or their weight, (n_features, max(n_states))
    margin_logs: np.ndarray  #: sum of L over the states of a feature
    log_n: int  #: L(n)
    table: np.ndarray | None  #: L(v) = v log v; with the next three the fields of `RowCounts`
    scale: float  #: of L in fixed point
    n: int
    weights: np.ndarray | None  #: with which no feature has planes

    def column(self, f: int) -> "Column":
        """Return one of the features."""
        planes = self.planes[self.starts[f] : self.starts[f + 1]]
        counts, log = self.counts[f], self.margin_logs[f]
        return Column(self.states[f], self.n_states[f], planes, counts, log)


class Column(NamedTuple):
    """A feature, or the class, of which others tell something."""

    states: np.ndarray  #: (n_samples,)
    n_states: int | np.integer
    planes: np.ndarray  #: (n_states - 1, n_words), or none
    counts: np.ndarray  #: samples in each state, or their weight
    log: int  #: sum of L over the states


class MergedClasses(NamedTuple):
    """The classes merged with the states of a feature s, from which I(f, s; y) is counted."""

    codes: np.ndarray  #: (n_samples,), int32
    planes: np.ndarray  #: (n_codes - 1, n_words), or none
    counts: np.ndarray  #: samples of each code
    groups: np.ndarray  #: codes ``groups[b]`` to ``groups[b + 1]`` are of state b of s
    log_y: int  #: sum of L over the classes


@dataclass(frozen=True)
class BinnedFeatures:
    """Features ready for joint counts, and the threads to count them with."""

    arrays: StateArrays
    y: np.ndarray
    class_counts: np.ndarray
    log_y: int  #: sum of L over the classes
    relevance: np.ndarray  #: I(f; y) of every feature
    is_constant: np.ndarray
    blocks: list[tuple[int, int]]  #: ranges of features, one per thread
    pool: Any  #: for `mauc.parallel.run_in`
    max_rows: int  #: rows that a thread may read before it calls ``spilled.release``
    spilled: Workspace | None  #: of the states and planes, if they are in a file

    def merge(self, chosen: int) -> MergedClasses:
        """Return the classes merged with the states of a feature."""
        states = self.arrays.states[chosen]
        codes, counts, groups = merge_classes(states, self.y, len(self.class_counts))
        n_planes = len(counts) - 1 if len(counts) <= MAX_CLASS_PRODUCTS + 1 else 0
        planes = pack_row(read_only(codes.astype(np.uint8)), n_planes)
        return MergedClasses(read_only(codes), planes, counts, groups, self.log_y)

    def uncertainties(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the entropies of all features, and SU(f, y)."""
        arrays = self.arrays
        scale = arrays.n * arrays.scale
        entropies = (arrays.log_n - arrays.margin_logs) / scale
        total = entropies + (arrays.log_n - self.log_y) / scale
        uncertainties = np.zeros(len(total))
        np.divide(2.0 * self.relevance, total, out=uncertainties, where=total > 0.0)
        return entropies, uncertainties


@contextmanager
def binned_features(
    states: np.ndarray,
    n_states: Any,
    y: np.ndarray,
    n_classes: int,
    n_threads: int = 1,
    rows: RowCounts | None = None,
    workspace: Workspace | None = None,
) -> Iterator[BinnedFeatures]:
    """Count margins of discretised features, of 256 states at most, and what each tells of y."""
    n_features, n_samples = states.shape
    workspace = workspace or Workspace()
    # Read-only views: one compiled version of each kernel, whatever the caller holds. Classes have
    # the type of the states where it holds them, for which the loops are compiled anyway.
    states, y = read_only(states), read_only(y)
    classes = read_only(y.astype(np.uint8)) if n_classes <= 256 else y
    rows = rows or count_rows(n_samples)
    class_counts = np.bincount(classes, rows.weights, n_classes).astype(np.int64)
    *class_logs, log_n = rows.fixed_logs(np.append(class_counts, rows.n)).tolist()
    # With more classes no feature is counted by planes.
    class_planes = pack_row(classes, n_classes - 1 if n_classes - 1 <= MAX_CLASS_PRODUCTS else 0)
    target = Column(classes, n_classes, class_planes, class_counts, sum(class_logs))

    n_states = np.ascontiguousarray(np.broadcast_to(n_states, n_features), dtype=np.int64)
    has_planes = (n_states <= MAX_PLANE_STATES) & (rows.weights is None)
    n_planes = np.where(has_planes, n_states - 1, 0)
    starts = np.concatenate([[0], np.cumsum(n_planes)]).astype(np.int64)
    width, n_words = int(n_states.max()), (n_samples + 63) // 64
    blocks = _feature_blocks(states, n_states, n_threads)
    planes = workspace.array((starts[-1], n_words), np.uint64)
    # A feature is read as planes or as states, and as both while planes are made of it.
    row_bytes = n_samples + n_words * planes.itemsize * int(n_planes.max())
    max_rows = workspace.rows_at_once(row_bytes, len(blocks))
    is_spilled = workspace.is_spilled
    counts = np.zeros((n_features, width), np.int64)
    margin_logs, relevance = np.empty(n_features, np.int64), np.empty(n_features)
    arrays = StateArrays(
        states,
        n_states,
        starts,
        planes,
        counts,
        margin_logs,
        log_n,
        rows.fixed,
        rows.unit,
        rows.n,
        rows.weights,
    )

    def count(block: tuple[int, int]) -> None:
        """Fill in what is known of a range of features alone and with the class."""
        joint = np.empty((width, n_classes), np.int64)
        for first in range(*block, max_rows):
            last = min(first + max_rows, block[1])
            if rows.weights is None:
                pack_rows(
                    states[first:last],
                    starts[first : last + 1] - starts[first],
                    planes[starts[first] : starts[last]],
                    counts[first:last],
                )
            else:
                for j in range(first, last):
                    counts[j] = np.bincount(states[j], rows.weights, width)
            margin_logs[first:last] = rows.fixed_logs(counts[first:last]).sum(axis=1)
            features = np.arange(first, last)
            target_information(*arrays, *target, features, joint, relevance[first:last])
            if is_spilled:
                workspace.release()

    with nullcontext() if len(blocks) == 1 else start_pool(len(blocks)) as pool:
        if pool is None:
            count(blocks[0])
        else:
            run_in(pool, count, blocks)
        is_constant = counts.max(axis=1) == rows.n
        yield BinnedFeatures(
            arrays,
            y,
            class_counts,
            target.log,
            relevance,
            is_constant,
            blocks,
            pool,
            max_rows,
            workspace if is_spilled else None,
        )


def _feature_blocks(
    states: np.ndarray, n_states: np.ndarray, n_threads: int
) -> list[tuple[int, int]]:
    """Cut the features into at most ``n_threads`` blocks worth a thread each."""
    n_features, n_samples = states.shape
    if n_threads == 1:
        return [(0, n_features)]
    width = int(n_states.max())
    words = n_samples // 64 * (width - 1) ** 2 if width <= MAX_PLANE_STATES else n_samples
    work = n_features * (words + width**2)
    return even_ranges(n_features, min(n_threads, work // BLOCK_WORK))


def pack_row(codes: np.ndarray, n_planes: int) -> np.ndarray:
    """Return the bit planes of states 0 .. n_planes - 1 of one row of codes, uint8 if any."""
    planes = np.empty((n_planes, (len(codes) + 63) // 64), np.uint64)
    if n_planes > 0:
        counts = np.empty((1, n_planes + 1), np.int64)
        pack_rows(codes[np.newaxis], np.array([0, n_planes]), planes, counts)
    return planes


def merge_classes(
    states: np.ndarray, y: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return codes, int32, of states with classes that occur, their counts, and groups by state.

    States 0, 0, 1 with classes 0, 2, 0 have the codes 0, 1, 2: groups 0 to 2 and 2 to 3.
    """
    pairs = states.astype(np.int64) * n_classes + y
    counts = np.bincount(pairs)
    present = np.flatnonzero(counts)
    codes = np.zeros(len(counts), np.int32)
    codes[present] = np.arange(len(present))
    starts = np.flatnonzero(np.diff(present // n_classes, prepend=-1))
    groups = np.append(starts, len(present)).astype(np.int64)
    return codes[pairs], counts[present].astype(np.int64), groups


@intrinsic
def popcount(typingctx, word):
    """Count the ones of a 64-bit word by the processor's own instruction."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def equal_mask(typingctx, codes, index, state):
    """Compare 64 codes with a state at once: bit i says ``codes[index + i] == state``."""
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
def count_joint(
    states,
    n_states,
    starts,
    planes,
    counts,
    weights,
    f,
    other_states,
    n_other,
    other_planes,
    first,
    n_other_planes,
    other_counts,
    joint,
):
    """Fill ``joint[:n_states[f], :n_other]`` with the samples of each state of f and of another.

    The planes of the other are those from `first` on: taking a part of an array would cost as much
    time as counting a few words. One part, for Numba optimises every part on its own and again in
    its callers.
    """
    n_planes, start = starts[f + 1] - starts[f], starts[f]
    last, last_other = n_states[f] - 1, n_other - 1
    n_products = n_planes * n_other_planes
    for a in range(last + 1):
        for b in range(n_other):
            joint[a, b] = 0
    if n_products == 0 or n_products > MAX_CLASS_PRODUCTS:
        own = states[f]
        for i in range(own.shape[0]):
            joint[own[i], other_states[i]] += 1 if weights is None else weights[i]
        return
    n_words = planes.shape[1]
    for begin in range(0, n_words, BLOCK_WORDS):
        end = begin + BLOCK_WORDS if begin + BLOCK_WORDS < n_words else n_words
        # joint holds the counts of the words before begin.
        for a in range(n_planes):
            words = planes[start + a]
            for b in range(n_other_planes):
                other_words = other_planes[first + b]
                ones = 0
                for w in range(uintp(begin), uintp(end)):
                    ones += popcount(words[w] & other_words[w])
                joint[a, b] += ones
    # The last state of either follows from the margins.
    for a in range(last):
        rest = counts[f, a]
        for b in range(last_other):
            rest -= joint[a, b]
        joint[a, last_other] = rest
    for b in range(n_other):
        rest = other_counts[b]
        for a in range(last):
            rest -= joint[a, b]
        joint[last, b] = rest


@njit_part
def information(joint, n_a, n_b, log_a, log_b, log_n, table, scale, n):
    """Return I(a; b) in nats of joint counts, never negative, exactly 0 for a constant feature."""
    total = np.int64(0)
    for a in range(n_a):
        for b in range(n_b):
            total += fixed_log(table, joint[a, b], scale)
    total += log_n - log_a - log_b
    # Rounding of the entries of L can leave a few steps of either sign. Conditions compile faster
    # than min and max.
    return (total if total > 0 else np.int64(0)) / (n * scale)


@njit_part
def joint_information(joint, n_states, groups, rest, table, scale, n):
    """Return I(f, s; y) of joint counts of f with merged codes; `rest` is L(n) - sum L(n_y)."""
    total = rest
    for a in range(n_states):
        for group in range(groups.shape[0] - 1):
            margin = np.int64(0)
            for code in range(groups[group], groups[group + 1]):
                margin += joint[a, code]
                total += fixed_log(table, joint[a, code], scale)
            total -= fixed_log(table, margin, scale)
    # Rounding of the entries of L can leave a few steps of either sign.
    return (total if total > 0 else np.int64(0)) / (n * scale)


@njit
def pack_rows(states, starts, planes, counts):
    """Fill the planes of `StateArrays` from its states, and add its counts to zeros."""
    n_full = states.shape[1] // 64
    for j in range(states.shape[0]):
        codes, count = states[j], counts[j]
        n_planes, rest = starts[j + 1] - starts[j], states.shape[1]
        if n_planes == 0:
            for i in range(rest):
                count[codes[i]] += 1
            continue
        for state in range(n_planes):
            plane, ones = planes[starts[j] + state], 0
            # Words before w hold the samples before 64 w; the bits past the last sample stay 0.
            for w in range(n_full):
                plane[w] = equal_mask(codes, 64 * w, codes.dtype.type(state))
                ones += popcount(plane[w])
            if n_full < plane.shape[0]:
                word = np.uint64(0)
                for i in range(64 * n_full, states.shape[1]):
                    word |= np.uint64(codes[i] == state) << np.uint64(i - 64 * n_full)
                plane[n_full] = word
                ones += popcount(word)
            count[state] = ones
            rest -= ones
        count[n_planes] = rest


@njit
def target_information(
    states,
    n_states,
    starts,
    planes,
    counts,
    margin_logs,
    log_n,
    table,
    scale,
    n,
    weights,
    target_states,
    n_target,
    target_planes,
    target_counts,
    target_log,
    features,
    joint,
    out,
):
    """Fill `out` with I(f; t) of some features and one target: the class, or a feature."""
    for i in range(features.shape[0]):
        f = features[i]
        count_joint(
            states,
            n_states,
            starts,
            planes,
            counts,
            weights,
            f,
            target_states,
            n_target,
            target_planes,
            np.int64(0),
            target_planes.shape[0],
            target_counts,
            joint,
        )
        out[i] = information(
            joint, n_states[f], n_target, margin_logs[f], target_log, log_n, table, scale, n
        )
