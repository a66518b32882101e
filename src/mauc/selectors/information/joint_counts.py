"""Joint counts of two discretised features: codes or bit planes in, counts and information out.

In come codes ``D``, one row of ``uint8`` states per feature. A missing value is one more state of
its feature; the kernels do not know which state it is.

Two ways lead to the same counts. A feature of few states is stored as *bit planes*: bit i of
plane ``a`` says that sample i is in state ``a``. A joint count is then the number of ones in
the AND of two planes, 64 samples a word, and the last state of either feature follows from the
margins: three states against three need four counts, not nine. A feature of many states is
counted by a histogram.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from mauc.numerics.njit_part import njit_part

# A feature of more states has no planes: 7 x 7 ANDs a word cost about as much as 64 histogram
# updates where the processor counts the bits of one word at a time.
MAX_PLANE_STATES = 8
# The same balance for a feature against the classes, whose planes are made anyway.
MAX_CLASS_PRODUCTS = 128
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
def joint_counts(D, n_states, starts, planes, counts, a, b, joint):
    """Count the samples of every pair of states of two features, by planes if both have them."""
    n_a, n_b = starts[a + 1] - starts[a], starts[b + 1] - starts[b]
    if n_a > 0 and n_b > 0:
        plane_counts(planes, starts[a], n_a, planes, starts[b], n_b, joint)
        complete_counts(joint, counts[a], n_states[a], counts[b], n_states[b])
    else:
        histogram_counts(D[a], n_states[a], D[b], n_states[b], joint)


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
    # Rounding of the entries of L can leave a few units of either sign.
    return max(total, 0) / (n_samples * unit)


@njit_part
def pair_information(
    D, n_states, starts, planes, counts, margin_logs, log_n, table, unit, a, b, joint
):
    """Return I(a; b) of two features in nats; `joint` is room for their counts."""
    joint_counts(D, n_states, starts, planes, counts, a, b, joint)
    return information(
        joint, n_states[a], n_states[b], margin_logs[a], margin_logs[b],
        log_n, D.shape[1], table, unit,
    )  # fmt: skip
