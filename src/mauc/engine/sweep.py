"""Count class-pair wins in one pass over sorted keys, sixteen classes at a time.

The two loops over 16 lanes that plain Numba cannot express work on addresses of rows whose length
is a multiple of `LANES` and whose first element is aligned to 64 bytes (`aligned_rows`). LLVM
lowers a 16-lane vector to what the processor has: one AVX-512 register, two of AVX2, four of SSE or
NEON.

Why not a plain loop: after ``below[k] += 1`` the next vector load of ``below`` spans that
fresh 4-byte store, which blocks store forwarding and stalls every element. Here ``below`` stays
in registers.
"""

import numpy as np
from llvmlite import ir
from numba import types, uintp

from mauc.compile import intrinsic, njit, njit_part
from mauc.engine.arrays import LANES, aligned_rows, n_pairs_of, padded_length

MAX_VECTORS = 4  # that `sweep_classes` keeps in registers: the counts of 64 classes

_COUNT = ir.IntType(32)
_KEY = ir.IntType(64)
_ADDRESS = ir.IntType(64)
_VECTOR = ir.VectorType(_COUNT, LANES)
_BYTES = 4 * LANES
_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_CHUNK = 32  # neighbours that are checked for ties at once


@intrinsic
def sweep_classes(
    typingctx,
    keys,
    n_keys,
    previous,
    shift,
    label_mask,
    first_class,
    wins,
    below,
    tied,
    vectors,
    has_ties,
):
    """Add the wins of each key of class k in turn: ``wins[k] += below - tied``.

    `below` holds the number of keys so far of every class, `tied` the number of those that share
    the value of the current key; afterwards the key is counted in both. Without ties (a literal
    int), `tied` is left out.

    `keys` is the address of uint64 memory, `wins`, `below` and `tied` of uint32 memory: rows of
    `wins` follow each other and are as many vectors long as the tuple `vectors`, whose length is
    known when a kernel is compiled; so are `below` and `tied`. `previous` is the key before the
    first, or one of another value; `shift` and `label_mask` say where a key holds its value and its
    class, and `first_class` which class the first lane counts.
    """
    if not isinstance(vectors, types.UniTuple):
        return None
    if not isinstance(has_ties, types.IntegerLiteral):
        return None
    n_regs, with_ties = vectors.count, bool(has_ties.literal_value)
    address, key, number = types.uintp, types.uint64, types.uint32
    signature = types.void(
        address, address, key, key, key, number, address, address, address, vectors, has_ties
    )

    def codegen(context, builder, signature, args):
        keys, n_keys, previous, shift, label_mask, first_class, wins, below, tied, _, _ = args
        first = builder.inttoptr(keys, _KEY.as_pointer())
        entry = builder.block
        loop = builder.append_basic_block("sweep")
        done = builder.append_basic_block("swept")
        one = ir.Constant(_ADDRESS, 1)
        below_at = [_vector_at(builder, below, v) for v in range(n_regs)]
        tied_at = [_vector_at(builder, tied, v) for v in range(n_regs if with_ties else 0)]
        below_start = [builder.load(at, align=64) for at in below_at]
        tied_start = [builder.load(at, align=64) for at in tied_at]
        part_start = builder.lshr(previous, shift)
        builder.branch(loop)

        builder.position_at_end(loop)
        i = builder.phi(_ADDRESS)
        i.add_incoming(ir.Constant(_ADDRESS, 0), entry)
        last_part = builder.phi(_KEY)
        last_part.add_incoming(part_start, entry)
        below_counts = [builder.phi(_VECTOR) for _ in below_at]
        tied_counts = [builder.phi(_VECTOR) for _ in tied_at]
        here = builder.load(builder.gep(first, [i]))
        part = builder.lshr(here, shift)
        # All ones or all zeros: a mask costs less than the branch that a select becomes.
        is_tied = builder.sext(builder.icmp_unsigned("==", part, last_part), _COUNT)
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
        last_part.add_incoming(part, loop)
        following = builder.add(i, one)
        i.add_incoming(following, loop)
        builder.cbranch(builder.icmp_unsigned("<", following, n_keys), loop, done)

        builder.position_at_end(done)
        for at, value in zip(below_at + tied_at, below_counts + tied_counts, strict=True):
            builder.store(value.incomings[1][0], at, align=64)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_multiple(typingctx, target, source, factor):
    """Add `factor` times 16 doubles at the address `source` to those at `target`."""
    signature = types.void(types.uintp, types.uintp, types.float64)

    def codegen(context, builder, signature, args):
        target, source = (builder.inttoptr(at, _DOUBLES.as_pointer()) for at in args[:2])
        product = builder.fmul(builder.load(source, align=64), _spread(builder, args[2], _DOUBLES))
        builder.store(builder.fadd(builder.load(target, align=64), product), target, align=64)
        return context.get_dummy_value()

    return signature, codegen


def _vector_at(builder: ir.IRBuilder, address: ir.Value, number: int) -> ir.Value:
    """Return a pointer to vector `number` after an address."""
    at = builder.add(address, ir.Constant(_ADDRESS, number * _BYTES))
    return builder.inttoptr(at, _VECTOR.as_pointer())


def _add_one_where(builder: ir.IRBuilder, vector: ir.Value, is_here: ir.Value) -> ir.Value:
    """Return the vector with 1 added in some lanes."""
    return builder.add(vector, builder.zext(is_here, _VECTOR))


def _spread(builder: ir.IRBuilder, number: ir.Value, vector: ir.VectorType = _VECTOR) -> ir.Value:
    """Return a vector with the number in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(_COUNT, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(_VECTOR, None))


def sweep_keys(
    keys: np.ndarray, n_known: np.ndarray, class_counts: np.ndarray, label_bits: int
) -> np.ndarray:
    """Count, for every column and class pair, how often the first class is higher.

    `keys` and `n_known` are those of `mauc.engine.keys.sort_columns`, `class_counts` the rows of
    each class, missing values included. Returns the wins, of shape (n_features, n_pairs), int64:
    2 * #(x_i > x_j) + #(x_i = x_j) for the pairs i < j in order (0, 1), (0, 2), ...; a pair of rows
    with a missing value counts as equal.

    Of the n_i n_j pairs of rows, a count A of wins and a count B of losses leave n_i n_j - A - B
    ties, so the result is n_i n_j + A - B. The order of tied keys does not matter, nor do missing
    values.
    """
    n_classes = class_counts.shape[0]
    # The counters of at most 64 classes form a tile. The rows of a tile are contiguous: with many
    # classes, strided rows would compete for the same cache lines.
    width = min(padded_length(n_classes), MAX_VECTORS * LANES)
    n_tiles = -(-n_classes // width)
    won = aligned_rows(n_tiles * n_classes, width)
    below, tied = aligned_rows(n_tiles, width), aligned_rows(n_tiles, width)
    wins = np.empty((keys.shape[0], n_pairs_of(n_classes)), np.int64)
    vectors = (0,) * (width // LANES)  # a kernel is compiled for each length
    _sweep_rows(
        keys,
        n_known,
        class_counts,
        _safe_length(class_counts),
        label_bits,
        vectors,
        won,
        below,
        tied,
        wins,
    )
    return wins


def _safe_length(class_counts: np.ndarray) -> int:
    """Return how many keys can be swept before a 32-bit counter must be emptied."""
    second, largest = np.sort(class_counts)[-2:]
    if largest * second < 2**32:
        return int(class_counts.sum())
    # One key adds at most the size of the largest class to a counter.
    return (2**32 - 1) // int(largest)


@njit
def _sweep_rows(keys, n_known, class_counts, n_safe, label_bits, vectors, won, below, tied, wins):
    n, width = uintp(class_counts.shape[0]), uintp(won.shape[1])
    shift, row_size = np.uint64(label_bits), uintp(4) * width
    mask = (np.uint64(1) << shift) - np.uint64(1)
    for j in range(keys.shape[0]):
        w = keys[j]
        pair = uintp(0)
        for i in range(n):
            for k in range(i + uintp(1), n):
                wins[j, pair] = class_counts[i] * class_counts[k]
                pair += uintp(1)
        is_tied = _has_ties(w, n_known[j], mask)
        _clear(below)
        _clear(tied)
        for start in range(0, n_known[j], n_safe):
            _clear(won)
            stop = min(start + n_safe, n_known[j])
            previous = w[start - 1] if start > 0 else ~w[0]
            at, n_keys = uintp(w.ctypes.data + 8 * start), uintp(stop - start)
            for tile in range(uintp(below.shape[0])):
                a = uintp(won.ctypes.data) + tile * n * row_size
                b = uintp(below.ctypes.data) + tile * row_size
                t = uintp(tied.ctypes.data) + tile * row_size
                c = np.uint32(tile * width)
                if is_tied:
                    sweep_classes(at, n_keys, previous, shift, mask, c, a, b, t, vectors, 1)
                else:
                    sweep_classes(at, n_keys, previous, shift, mask, c, a, b, t, vectors, 0)
            # Add to each pair how often its first class won less how often its second did.
            pair = uintp(0)
            for i in range(n):
                losses, lane = i // width * n, i % width
                for tile in range(i // width, uintp(below.shape[0])):
                    row, first = won[tile * n + i], tile * width
                    start_k = first if first > i else i + uintp(1)
                    for k in range(start_k, n if n < first + width else first + width):
                        lost = np.int64(won[losses + k, lane])
                        wins[j, pair] += np.int64(row[k - first]) - lost
                        pair += uintp(1)


@njit_part
def _has_ties(keys, n, label_mask):
    """Return whether neighbours among the first n keys, which are sorted, share a value."""
    for start in range(0, n - 1, _CHUNK):
        n_equal = 0
        for i in range(uintp(start), uintp(min(start + _CHUNK, n - 1))):
            n_equal += (keys[i] ^ keys[i + uintp(1)]) <= label_mask
        if n_equal > 0:
            return True
    return False


@njit_part
def _clear(counters):
    for row in range(counters.shape[0]):
        for column in range(counters.shape[1]):
            counters[row, column] = 0
