"""Two 16-lane loops that plain Numba cannot express: addresses in, memory updated.

Both work on rows of unsigned 32-bit counters whose length is a multiple of `LANES` and whose
first element is aligned to 64 bytes (`aligned_rows`). LLVM lowers a 16-lane vector to what
the machine has: one AVX-512 register, two of AVX2, four of SSE or NEON.

Why not a plain loop: after ``below[k] += 2`` the next vector load of ``below`` spans that
fresh 4-byte store, which blocks store forwarding and costs about ten cycles an element.
Keeping ``below`` in registers and adding a one-hot row to it makes the sweep four times
faster.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types, uintp
from numba.extending import intrinsic

LANES = 16
MOST_VECTORS = 4  # registers that `add_below` may hold the counts in: up to 64 classes

_WORD = ir.IntType(32)
_ADDRESS = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, LANES)
_BYTES = 4 * LANES


def padded_length(n_classes):
    """Return the least multiple of LANES that is not below `n_classes`."""
    return -(-n_classes // LANES) * LANES


def aligned_rows(n_rows, length):
    """Return zeroed uint32 rows that start on a cache line: no access straddles two lines."""
    raw = np.zeros(n_rows * length + LANES, np.uint32)
    skip = -(raw.ctypes.data // 4) % LANES
    return raw[skip : skip + n_rows * length].reshape(n_rows, length)


def _vector_at(builder, address, offset):
    if not isinstance(offset, int):
        address = builder.add(address, offset)
    elif offset:
        address = builder.add(address, ir.Constant(_ADDRESS, offset))
    return builder.inttoptr(address, _VECTOR.as_pointer())


@intrinsic
def add_below(typingctx, words, n_words, label_mask, wins, unit_rows, below, n_vectors):
    """For each word of class k in turn: ``wins[k] += below``, then ``below += unit_rows[k]``.

    Parameters
    ----------
    words, wins, unit_rows, below : uintp
        Addresses of uint32 memory; rows of `wins` and `unit_rows` are `n_vectors` vectors.
    n_words : uintp
        At least 1.
    label_mask : uint32
    n_vectors : literal int
    """
    if not isinstance(n_vectors, types.IntegerLiteral):
        return None
    n_regs = n_vectors.literal_value
    signature = types.void(
        types.uintp, types.uintp, types.uint32, types.uintp, types.uintp, types.uintp, n_vectors
    )

    def codegen(context, builder, signature, args):
        words, n_words, label_mask, wins, unit_rows, below, _ = args
        first = builder.inttoptr(words, _WORD.as_pointer())
        entry = builder.block
        loop = builder.append_basic_block("sweep")
        done = builder.append_basic_block("swept")
        start = [builder.load(_vector_at(builder, below, v * _BYTES), align=64) for v in range(n_regs)]
        builder.branch(loop)

        builder.position_at_end(loop)
        i = builder.phi(_ADDRESS)
        i.add_incoming(ir.Constant(_ADDRESS, 0), entry)
        counts = [builder.phi(_VECTOR) for _ in range(n_regs)]
        label = builder.and_(builder.load(builder.gep(first, [i])), label_mask)
        row = builder.mul(builder.zext(label, _ADDRESS), ir.Constant(_ADDRESS, n_regs * _BYTES))
        updated = []
        for v, count in enumerate(counts):
            count.add_incoming(start[v], entry)
            offset = builder.add(row, ir.Constant(_ADDRESS, v * _BYTES))
            won = _vector_at(builder, wins, offset)
            builder.store(builder.add(builder.load(won, align=64), count), won, align=64)
            unit = builder.load(_vector_at(builder, unit_rows, offset), align=64)
            updated.append(builder.add(count, unit))
            count.add_incoming(updated[v], loop)
        following = builder.add(i, ir.Constant(_ADDRESS, 1))
        i.add_incoming(following, loop)
        builder.cbranch(builder.icmp_unsigned("<", following, n_words), loop, done)

        builder.position_at_end(done)
        for v, count in enumerate(updated):
            builder.store(count, _vector_at(builder, below, v * _BYTES), align=64)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_multiple(typingctx, target, source, factor):
    """Add `factor` times 16 lanes at `source` to the 16 lanes at `target`."""
    signature = types.void(types.uintp, types.uintp, types.uint32)

    def codegen(context, builder, signature, args):
        target, source, factor = args
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        lane = builder.insert_element(undefined, factor, ir.Constant(_WORD, 0))
        zeros = ir.Constant(ir.VectorType(_WORD, LANES), None)
        factors = builder.shuffle_vector(lane, undefined, zeros)
        place = _vector_at(builder, target, 0)
        product = builder.mul(builder.load(_vector_at(builder, source, 0), align=64), factors)
        builder.store(builder.add(builder.load(place, align=64), product), place, align=64)
        return context.get_dummy_value()

    return signature, codegen


@njit(cache=True, nogil=True)
def sweep_segment(words, label_mask, wins, unit_rows, below):
    """Run `add_below` over one stretch of words, whatever the number of classes."""
    first, n_words = uintp(words.ctypes.data), uintp(words.shape[0])
    a, u, b = uintp(wins.ctypes.data), uintp(unit_rows.ctypes.data), uintp(below.ctypes.data)
    n_vectors = wins.shape[1] // LANES
    mask = np.uint32(label_mask)
    if n_words == 0:
        return
    if n_vectors == 1:
        add_below(first, n_words, mask, a, u, b, 1)
    elif n_vectors == 2:
        add_below(first, n_words, mask, a, u, b, 2)
    elif n_vectors == 3:
        add_below(first, n_words, mask, a, u, b, 3)
    elif n_vectors == 4:
        add_below(first, n_words, mask, a, u, b, 4)
    else:
        # Too many counts for the registers: they stay in memory, and only the vector that
        # holds class k changes, by a whole-vector store that the next load can be fed from.
        size = uintp(4 * LANES)
        row_size = uintp(n_vectors) * size
        one = np.uint32(1)
        for i in range(n_words):
            k = uintp(words[i] & mask)
            for v in range(uintp(n_vectors)):
                add_multiple(a + k * row_size + v * size, b + v * size, one)
            v = k // uintp(LANES)
            add_multiple(b + v * size, u + k * row_size + v * size, one)
