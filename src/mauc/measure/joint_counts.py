"""Joint counts of discretised features, of which mRMR, JMI and FCBF search: the compiled loops.

States have shape (n_features, n_samples), uint8. A feature of few states is stored as *bit planes*:
bit i of plane ``a`` says that sample i is in state ``a``. A joint count is then the number of ones
in the AND of two planes, 64 samples a word, and the last state of either feature follows from the
margins. A feature of many states is counted by a histogram.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types, uintp
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from mauc.compile import njit, njit_part
from mauc.engine.arrays import fixed_log

# A feature of more states has no planes: 7 x 7 ANDs a word cost about as much as 64 histogram
# updates where the processor counts the bits of one word at a time.
MAX_PLANE_STATES = 8
# The same balance for a feature against the classes, whose planes are made anyway.
MAX_CLASS_PRODUCTS = 128
# Words of one block: eight planes of a block stay in the first-level cache.
BLOCK_WORDS = 512


class CountArrays(NamedTuple):
    """What the kernels read, in the order of their arguments."""

    D: np.ndarray  #: states, (n_features, n_samples), uint8
    n_states: np.ndarray  #: states of feature j are below ``n_states[j]``
    starts: np.ndarray  #: feature j owns the planes ``starts[j]`` to ``starts[j + 1]``, if any
    planes: np.ndarray  #: (n_planes, n_words), uint64
    counts: np.ndarray  #: samples in each state, or their weight, (n_features, max(n_states))
    margin_logs: np.ndarray  #: sum of L over the states of a feature
    log_n: int  #: L(n)
    table: np.ndarray | None  #: L(v) = v log v; this and the next three as in `RowCounts`
    unit: float
    n: int
    weights: np.ndarray | None  #: with which no feature has planes


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
def count_pairs(
    D,
    n_states,
    starts,
    planes,
    counts,
    weights,
    j,
    target,
    n_target,
    target_planes,
    first,
    n_target_planes,
    target_counts,
    joint,
):
    """Count the samples by the state of feature j and that of a target, see `target_information`.

    They fill ``joint[:n_states[j], :n_target]``; the planes of the target are those from `first`
    on. One part, for Numba optimises every part on its own and again in its callers.
    """
    n_planes, n_words = starts[j + 1] - starts[j], planes.shape[1]
    last, last_target = n_states[j] - 1, n_target - 1
    n_products = n_planes * n_target_planes
    for a in range(last + 1):
        for b in range(n_target):
            joint[a, b] = 0
    if n_products == 0 or n_products > MAX_CLASS_PRODUCTS:
        codes = D[j]
        for i in range(codes.shape[0]):
            joint[codes[i], target[i]] += 1 if weights is None else weights[i]
        return
    for begin in range(0, n_words, BLOCK_WORDS):
        end = begin + BLOCK_WORDS if begin + BLOCK_WORDS < n_words else n_words
        # joint holds the counts of the words before begin.
        for a in range(n_planes):
            words_a = planes[starts[j] + a]
            for b in range(n_target_planes):
                words_b = target_planes[first + b]
                ones = 0
                for w in range(uintp(begin), uintp(end)):
                    ones += popcount(words_a[w] & words_b[w])
                joint[a, b] += ones
    # The last state of either follows from the margins.
    for a in range(last):
        rest = counts[j, a]
        for b in range(last_target):
            rest -= joint[a, b]
        joint[a, last_target] = rest
    for b in range(n_target):
        rest = target_counts[b]
        for a in range(last):
            rest -= joint[a, b]
        joint[last, b] = rest


@njit_part
def information(joint, n_states_a, n_states_b, log_a, log_b, log_n, table, unit, n):
    """Return I(a; b) in nats, never negative, exactly 0 for a constant feature."""
    total = np.int64(0)
    for a in range(n_states_a):
        for b in range(n_states_b):
            total += fixed_log(table, joint[a, b], unit)
    total += log_n - log_a - log_b
    # Rounding of the entries of L can leave a few units of either sign. Conditions compile faster
    # than min and max.
    return (total if total > 0 else np.int64(0)) / (n * unit)


@njit(cache=True, nogil=True)
def pack_rows(D, starts, planes, counts):
    """Fill the planes of `CountArrays` from its states, and add its counts to zeros."""
    n_full = D.shape[1] // 64
    for j in range(D.shape[0]):
        codes, count = D[j], counts[j]
        n_planes, rest = starts[j + 1] - starts[j], D.shape[1]
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
                for i in range(64 * n_full, D.shape[1]):
                    word |= np.uint64(codes[i] == state) << np.uint64(i - 64 * n_full)
                plane[n_full] = word
                ones += popcount(word)
            count[state] = ones
            rest -= ones
        count[n_planes] = rest


@njit(cache=True, nogil=True)
def target_information(
    D,
    n_states,
    starts,
    planes,
    counts,
    margin_logs,
    log_n,
    table,
    unit,
    n,
    weights,
    target,
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
        j = features[i]
        count_pairs(
            D,
            n_states,
            starts,
            planes,
            counts,
            weights,
            j,
            target,
            n_target,
            target_planes,
            np.int64(0),
            target_planes.shape[0],
            target_counts,
            joint,
        )
        out[i] = information(
            joint, n_states[j], n_target, margin_logs[j], target_log, log_n, table, unit, n
        )
