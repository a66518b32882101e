"""Joint counts of two discretised features, and the mutual information they give.

In come codes ``D`` (one row of ``uint8`` states per feature), out come integer counts and
the mutual information in nats

    I(a; b) = [sum_ab L(n_ab) - sum_a L(n_a) - sum_b L(n_b) + L(n)] / n,   L(v) = v log v.

A missing value is one more state of its feature; the kernels do not know which state it is.

Two ways lead to the same counts. A feature of few states is stored as *bit planes*: bit i of
plane ``a`` says that sample i is in state ``a``. A joint count is then the number of ones in
the AND of two planes, 64 samples a word, and the last state of either feature follows from the
margins: three states against three need four counts, not nine. A feature of many states is
counted by a histogram.

L is kept in fixed point (``int64``), so that the sums are exact and their order is irrelevant:
both ways, any relabelling of the states and I(b; a) give the same bits. Features that are equal
up to the names of their states are therefore truly tied.
"""

import math

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

# A feature of more states has no planes: 7 x 7 ANDs a word cost about as much as 64 histogram
# updates where the processor counts the bits of one word at a time.
MAX_PLANE_STATES = 8
# The same balance for a feature against the classes, whose planes are made anyway.
MAX_CLASS_PRODUCTS = 128
# L is tabulated below this count and computed above it: 8 MB at most.
MAX_TABLE = 1 << 20
# Words of one block: eight planes of a block stay in the first-level cache.
BLOCK_WORDS = 512


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
        place = builder.bitcast(builder.gep(data, [args[1]]), vector.as_pointer())
        values = builder.load(place)
        values.align = array_type.dtype.bitwidth // 8
        empty = ir.Constant(vector, ir.Undefined)
        single = builder.insert_element(empty, args[2], ir.Constant(lane, 0))
        everywhere = ir.Constant(ir.VectorType(lane, 64), [0] * 64)
        states = builder.shuffle_vector(single, empty, everywhere)
        return builder.bitcast(builder.icmp_unsigned("==", values, states), ir.IntType(64))

    return types.uint64(codes, types.intp, codes.dtype), codegen


def log_table(n_samples):
    """Tabulate L(v) = v log v in fixed point.

    Parameters
    ----------
    n_samples : int
        The largest count that can occur.

    Returns
    -------
    table : ndarray of shape (min(n_samples + 1, MAX_TABLE),), int64
        ``round(v log v * 2**e)``, with e so large that four such terms fit in 62 bits.
    unit : float
        ``2**e``; a sum of entries divided by ``n_samples * unit`` is an information in nats.
    """
    exponent = 60 - math.frexp(fixed_log_float(n_samples))[1]
    unit = math.ldexp(1.0, min(exponent, 60))
    table = np.empty(min(n_samples + 1, MAX_TABLE), dtype=np.int64)
    _fill_table(unit, table)
    return table, unit


def fixed_log_float(count):
    """Return v log v as a float, 0 for v < 2."""
    return count * math.log(count) if count > 1 else 0.0


@njit(cache=True, nogil=True)
def _exact_log(count, unit):
    """Return L(count) in fixed point without the table."""
    if count < 2:
        return np.int64(0)
    return np.int64(np.rint(count * math.log(count) * unit))


@njit(cache=True, nogil=True)
def _fill_table(unit, table):
    for count in range(table.shape[0]):
        table[count] = _exact_log(count, unit)


@njit(cache=True, nogil=True)
def fixed_log(count, table, unit):
    """Return L(count) in fixed point; every count has one path, hence one value."""
    if count < table.shape[0]:
        return table[count]
    return _exact_log(count, unit)


@njit(cache=True, nogil=True)
def margin_counts(codes, n_states, counts):
    """Count the states of one row of codes into ``counts[:n_states]``."""
    for state in range(n_states):
        counts[state] = 0
    for i in range(codes.shape[0]):
        counts[codes[i]] += 1


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
def feature_margins(D, n_states, starts, table, unit, planes, counts, margin_logs):
    """Prepare features: margins of every row of codes, and planes where there are few states.

    Parameters
    ----------
    D : ndarray of shape (n_features, n_samples), uint8
    n_states : ndarray of shape (n_features,), int64
        Codes of feature j are below ``n_states[j]``.
    starts : ndarray of shape (n_features + 1,), int64
        Feature j owns the planes ``starts[j]`` to ``starts[j + 1]``; none means histograms.
    table, unit : see `log_table`
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
            total += fixed_log(counts[j, state], table, unit)
        margin_logs[j] = total


@njit(cache=True, nogil=True)
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
        end = min(begin + BLOCK_WORDS, n_words)
        # joint holds the counts of the words before begin.
        for a in range(n_a):
            words_a = planes_a[first_a + a, begin:end]
            for b in range(n_b):
                # Slices of one length: the loop has no sign of an index to check, so it is
                # turned into vector instructions.
                words_b = planes_b[first_b + b, begin:end]
                ones = 0
                for w in range(words_a.shape[0]):
                    ones += popcount(words_a[w] & words_b[w])
                joint[a, b] += ones


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def histogram_counts(codes_a, n_states_a, codes_b, n_states_b, joint):
    """Count the samples of every pair of states into ``joint[:n_states_a, :n_states_b]``."""
    for a in range(n_states_a):
        for b in range(n_states_b):
            joint[a, b] = 0
    for i in range(codes_a.shape[0]):
        joint[codes_a[i], codes_b[i]] += 1


@njit(cache=True, nogil=True)
def information(joint, n_states_a, n_states_b, log_a, log_b, log_n, n_samples, table, unit):
    """Return I(a; b) in nats from joint counts; never negative.

    A constant feature gives exactly 0: its joint sum of L equals the other margin's.
    """
    total = np.int64(0)
    for a in range(n_states_a):
        for b in range(n_states_b):
            total += fixed_log(joint[a, b], table, unit)
    total += log_n - log_a - log_b
    # Rounding of the entries of L can leave a few units of either sign.
    return max(total, 0) / (n_samples * unit)


@njit(cache=True, nogil=True)
def class_information(
    D, n_states, starts, planes, counts, margin_logs,
    y, n_classes, class_planes, class_counts, log_y, log_n, table, unit, first, out,
):  # fmt: skip
    """Fill ``out`` with I(f; y) of the features ``first`` to ``first + len(out)``.

    Parameters are those of `feature_margins`; besides

    y : ndarray of shape (n_samples,), int32
    class_planes : ndarray of shape (n_classes - 1, n_words), uint64
    class_counts : ndarray of shape (n_classes,), int64
    log_y, log_n : int
        Sum of L over the classes, and L(n_samples).
    """
    n_samples = y.shape[0]
    joint = np.empty((counts.shape[1], n_classes), dtype=np.int64)
    for position in range(out.shape[0]):
        j = first + position
        n_planes = starts[j + 1] - starts[j]
        if n_planes > 0 and n_planes * (n_classes - 1) <= MAX_CLASS_PRODUCTS:
            plane_counts(planes, starts[j], n_planes, class_planes, 0, n_classes - 1, joint)
            complete_counts(joint, counts[j], n_states[j], class_counts, n_classes)
        else:
            histogram_counts(D[j], n_states[j], y, n_classes, joint)
        out[position] = information(
            joint, n_states[j], n_classes, margin_logs[j], log_y, log_n, n_samples, table, unit
        )
