"""Two loops over 16 lanes that plain Numba cannot express: addresses in, memory updated.

Both work on rows of unsigned 32-bit counters whose length is a multiple of `LANES` and whose
first element is aligned to 64 bytes (`aligned_rows`). LLVM lowers a 16-lane vector to what
the processor has: one AVX-512 register, two of AVX2, four of SSE or NEON.

Why not a plain loop: after ``below[k] += 1`` the next vector load of ``below`` spans that
fresh 4-byte store, which blocks store forwarding and stalls every element. Here ``below`` stays
in registers.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

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
