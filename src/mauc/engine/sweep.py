"""Two loops over 16 lanes that plain Numba cannot express: addresses in, memory updated.

Both work on rows of unsigned 32-bit counters whose length is a multiple of `LANES` and whose
first element is aligned to 64 bytes (`aligned_rows`). LLVM lowers a 16-lane vector to what
the processor has: one AVX-512 register, two of AVX2, four of SSE or NEON.

Why not a plain loop: after ``below[k] += 1`` the next vector load of ``below`` spans that
fresh 4-byte store, which blocks store forwarding and stalls every element. Here ``below`` stays
in registers.
"""

import numpy as np
from llvmlite import ir
from numba import types, uintp
from numba.extending import intrinsic

from mauc.compile import njit, njit_part
from mauc.engine.sort import has_ties

LANES = 16
MAX_VECTORS = 4  # that `sweep_classes` keeps in registers: the counts of 64 classes

_COUNT = ir.IntType(32)
_WORD = ir.IntType(64)
_ADDRESS = ir.IntType(64)
_VECTOR = ir.VectorType(_COUNT, LANES)
_BYTES = 4 * LANES


@intrinsic
def sweep_classes(
    typingctx, words, n_words, previous, shift, label_mask, first_class,
    wins, below, tied, vectors, has_ties,
):  # fmt: skip
    """Add the wins of each word of class k in turn: ``wins[k] += below - tied``.

    `below` holds the number of words so far of every class, `tied` the number of those that
    share the key of the current word; afterwards the word is counted in both. Without ties,
    `tied` is left out.

    Parameters
    ----------
    words : uintp
        Address of uint64 memory.
    wins, below, tied : uintp
        Addresses of uint32 memory. Rows of `wins` follow each other and are as many vectors
        long, as are `below` and `tied`.
    n_words : uintp
        At least 1.
    previous : uint64
        The word before the first, or one of another key.
    shift, label_mask : uint64
        Where a word holds its key and its class.
    first_class : uint32
        The class that the first lane counts.
    vectors : tuple of int
        Its length is the number of vectors, which is known when a kernel is compiled.
    has_ties : literal int
    """
    if not isinstance(vectors, types.UniTuple):
        return None
    if not isinstance(has_ties, types.IntegerLiteral):
        return None
    n_regs, with_ties = vectors.count, bool(has_ties.literal_value)
    address, word, number = types.uintp, types.uint64, types.uint32
    signature = types.void(
        address, address, word, word, word, number, address, address, address, vectors, has_ties
    )  # fmt: skip

    def codegen(context, builder, signature, args):
        words, n_words, previous, shift, label_mask, first_class, wins, below, tied, _, _ = args
        first = builder.inttoptr(words, _WORD.as_pointer())
        entry = builder.block
        loop = builder.append_basic_block("sweep")
        done = builder.append_basic_block("swept")
        one = ir.Constant(_ADDRESS, 1)
        below_at = [_vector_at(builder, below, v) for v in range(n_regs)]
        tied_at = [_vector_at(builder, tied, v) for v in range(n_regs if with_ties else 0)]
        below_start = [builder.load(place, align=64) for place in below_at]
        tied_start = [builder.load(place, align=64) for place in tied_at]
        key_start = builder.lshr(previous, shift)
        builder.branch(loop)

        builder.position_at_end(loop)
        i = builder.phi(_ADDRESS)
        i.add_incoming(ir.Constant(_ADDRESS, 0), entry)
        last_key = builder.phi(_WORD)
        last_key.add_incoming(key_start, entry)
        below_counts = [builder.phi(_VECTOR) for _ in below_at]
        tied_counts = [builder.phi(_VECTOR) for _ in tied_at]
        here = builder.load(builder.gep(first, [i]))
        key = builder.lshr(here, shift)
        # All ones or all zeros: a mask costs less than the branch that a select becomes.
        is_tied = builder.sext(builder.icmp_unsigned("==", key, last_key), _COUNT)
        keep = _spread(builder, is_tied) if with_ties else None
        label = builder.and_(here, label_mask)
        row = builder.mul(label, ir.Constant(_ADDRESS, n_regs * _BYTES))
        lane = _spread(builder, builder.sub(builder.trunc(label, _COUNT), first_class))
        for v, (below_now, start) in enumerate(zip(below_counts, below_start, strict=True)):
            below_now.add_incoming(start, entry)
            # A comparison, not a load of a one-hot row: loads would alias with the stores.
            numbers = ir.Constant(_VECTOR, list(range(v * LANES, (v + 1) * LANES)))
            is_here = builder.icmp_unsigned("==", lane, numbers)
            gain = below_now
            if with_ties:
                tied_counts[v].add_incoming(tied_start[v], entry)
                tied_now = builder.and_(tied_counts[v], keep)
                gain = builder.sub(below_now, tied_now)
                tied_counts[v].add_incoming(_add_one_where(builder, tied_now, is_here), loop)
            won = _vector_at(builder, builder.add(wins, row), v)
            builder.store(builder.add(builder.load(won, align=64), gain), won, align=64)
            below_now.add_incoming(_add_one_where(builder, below_now, is_here), loop)
        last_key.add_incoming(key, loop)
        following = builder.add(i, one)
        i.add_incoming(following, loop)
        builder.cbranch(builder.icmp_unsigned("<", following, n_words), loop, done)

        builder.position_at_end(done)
        for place, value in zip(below_at + tied_at, below_counts + tied_counts, strict=True):
            builder.store(value.incomings[1][0], place, align=64)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_multiple(typingctx, target, source, factor):
    """Add `factor` times 16 lanes at `source` to the 16 lanes at `target`."""
    signature = types.void(types.uintp, types.uintp, types.uint32)

    def codegen(context, builder, signature, args):
        target, source, factor = args
        place = _vector_at(builder, target, 0)
        lanes = builder.load(_vector_at(builder, source, 0), align=64)
        product = builder.mul(lanes, _spread(builder, factor))
        builder.store(builder.add(builder.load(place, align=64), product), place, align=64)
        return context.get_dummy_value()

    return signature, codegen


def _vector_at(builder, address, number):
    """Return a pointer to vector `number` after an address."""
    place = builder.add(address, ir.Constant(_ADDRESS, number * _BYTES))
    return builder.inttoptr(place, _VECTOR.as_pointer())


def _add_one_where(builder, vector, is_here):
    """Return the vector with 1 added in some lanes."""
    return builder.add(vector, builder.zext(is_here, _VECTOR))


def _spread(builder, count):
    """Return a vector with the count in every lane."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, count, ir.Constant(_COUNT, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(_VECTOR, None))


def sweep_words(words, n_known, class_counts, label_bits):
    """Count, for every column and class pair, how often the first class is higher.

    Parameters
    ----------
    words : ndarray of shape (n_features, n_samples), uint64
        Sorted words, of `mauc.engine.words.sort_columns`.
    n_known : ndarray of shape (n_features,), int64
        Filled words of each row.
    class_counts : ndarray of shape (n_classes,), int64
        Rows of each class, missing values included.
    label_bits : int

    Returns
    -------
    wins : ndarray of shape (n_features, n_pairs), int64
        2 * #(x_i > x_j) + #(x_i = x_j) for the pairs i < j in order (0, 1), (0, 2), ...;
        a pair of rows with a missing value counts as equal.

    Notes
    -----
    Of the n_i n_j pairs of rows, a count A of wins and a count B of losses leave n_i n_j - A - B
    ties, so the result is n_i n_j + A - B. The order of tied words does not matter, nor do missing
    values.
    """
    n_classes = class_counts.shape[0]
    # The counters of at most 64 classes form a tile. The rows of a tile are contiguous: with many
    # classes, strided rows would compete for the same cache lines.
    width = min(padded_length(n_classes), MAX_VECTORS * LANES)
    n_tiles = -(-n_classes // width)
    won = aligned_rows(n_tiles * n_classes, width)
    below, tied = aligned_rows(n_tiles, width), aligned_rows(n_tiles, width)
    first, second = np.triu_indices(n_classes, 1)
    wins = np.tile(class_counts[first] * class_counts[second], (words.shape[0], 1))
    n_safe = _safe_length(class_counts)
    vectors = (0,) * (width // LANES)  # a kernel is compiled for each length
    _sweep_rows(words, n_known, n_classes, n_safe, label_bits, vectors, won, below, tied, wins)
    return wins


def padded_length(n_classes):
    """Return the smallest multiple of LANES that is not below `n_classes`."""
    return -(-n_classes // LANES) * LANES


def aligned_rows(n_rows, length):
    """Return zeroed uint32 rows that start on a cache line: no access straddles two lines."""
    raw = np.zeros(n_rows * length + LANES, np.uint32)
    skip = -(raw.ctypes.data // 4) % LANES
    return raw[skip : skip + n_rows * length].reshape(n_rows, length)


def _safe_length(class_counts):
    """Return how many words can be swept before a 32-bit counter must be emptied."""
    second, largest = np.sort(class_counts)[-2:]
    if largest * second < 2**32:
        return int(class_counts.sum())
    # One word adds at most the size of the largest class to a counter.
    return (2**32 - 1) // int(largest)


@njit(cache=True, nogil=True)
def _sweep_rows(words, n_known, n_classes, n_safe, label_bits, vectors, won, below, tied, wins):
    for j in range(words.shape[0]):
        w = words[j]
        is_tied = has_ties(w[: n_known[j]], np.uint64(label_bits))
        _clear(below)
        _clear(tied)
        for start in range(0, n_known[j], n_safe):
            _clear(won)
            stop = min(start + n_safe, n_known[j])
            _sweep_segment(
                w, start, stop, label_bits, is_tied, vectors, n_classes, won, below, tied
            )
            _add_differences(won, n_classes, wins[j])


@njit_part
def _clear(counters):
    for row in range(counters.shape[0]):
        for column in range(counters.shape[1]):
            counters[row, column] = 0


@njit_part
def _sweep_segment(words, start, stop, label_bits, is_tied, vectors, n_classes, won, below, tied):
    """Sweep some of the words, one tile of classes after the other."""
    first, n_words = uintp(words.ctypes.data + 8 * start), uintp(stop - start)
    shift, mask = np.uint64(label_bits), np.uint64((1 << label_bits) - 1)
    previous = words[start - 1] if start > 0 else ~words[0]
    row = uintp(4 * won.shape[1])
    for tile in range(uintp(below.shape[0])):
        rows = tile * uintp(n_classes) * row
        a = uintp(won.ctypes.data) + rows
        b, t = uintp(below.ctypes.data) + tile * row, uintp(tied.ctypes.data) + tile * row
        k = np.uint32(tile * uintp(won.shape[1]))
        if is_tied:
            sweep_classes(first, n_words, previous, shift, mask, k, a, b, t, vectors, 1)
        else:
            sweep_classes(first, n_words, previous, shift, mask, k, a, b, t, vectors, 0)


@njit_part
def _add_differences(won, n_classes, out):
    """Add to each pair how often its first class won less how often its second did."""
    width = uintp(won.shape[1])
    n = uintp(n_classes)
    pair = uintp(0)
    for i in range(n):
        losses, column = i // width * n, i % width
        for tile in range(i // width, (n + width - uintp(1)) // width):
            row, first = tile * n + i, tile * width
            for j in range(max(i + uintp(1), first), min(n, first + width)):
                lost = np.int64(won[losses + j, column])
                out[pair] += np.int64(won[row, j - first]) - lost
                pair += uintp(1)
