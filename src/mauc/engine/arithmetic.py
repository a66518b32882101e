"""Sums of products and exponentials that have the same bits on every processor, for kernels."""

import math

import numpy as np
from llvmlite import ir
from numba import types, uintp

from mauc.compile import intrinsic, njit_part

_CHUNK = 1 << 16  # products of two 8-bit numbers: as many never overflow a 32-bit sum


@njit_part
def dot(a, b):
    """Return the sum of products of a row of int16, or float64, and one of int8, up to -+127."""
    n = a.shape[0]
    total = np.int64(0)
    for start in range(0, n, _CHUNK):
        part = np.int32(0)
        stop = start + _CHUNK if start + _CHUNK < n else n
        for i in range(uintp(start), uintp(stop)):
            part = add_product(part, a[i], b[i])
        total += part
    return total


_WORD, _WIDE = ir.IntType(32), ir.IntType(64)


@intrinsic
def add_product(typingctx, total, a, b):
    """Return total + a b, of whole a in 32 bits: Numba would use 64 and half the lanes."""

    def codegen(context, builder, signature, args):
        total, a, b = args
        return builder.add(total, builder.mul(builder.sext(a, _WORD), builder.sext(b, _WORD)))

    def codegen_float(context, builder, signature, args):
        return builder.fma(args[1], builder.sitofp(args[2], ir.DoubleType()), args[0])

    if a == types.float64:
        return types.float64(a, a, types.int8), codegen_float
    return types.int32(types.int32, types.int16, types.int8), codegen


@intrinsic
def fused(typingctx, a, b, c):
    """Return a b + c, rounded once: the same bits on every processor."""
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, args):
        return builder.fma(*args)

    return signature, codegen


@intrinsic
def two_to_the(typingctx, shifted):
    """Return 2^k, given k + 1.5 * 2^52, whose lowest bits are k."""
    signature = types.float64(types.float64)

    def codegen(context, builder, signature, args):
        bits = builder.shl(builder.bitcast(args[0], _WIDE), ir.Constant(_WIDE, 52))
        bits = builder.add(bits, ir.Constant(_WIDE, 1023 << 52))
        return builder.bitcast(bits, ir.DoubleType())

    return signature, codegen


_SHIFT = 1.5 * 2.0**52
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11 = (1.0 / math.factorial(k) for k in range(3, 12))


@njit_part
def exp_minus(x):
    """Return exp(-x) for x >= 0, to 1e-14 of itself; exp(-700) for all beyond.

    exp(-x) = 2^k exp(r) with |r| <= log(2) / 2, and exp(r) by its series. There is no branch
    and no call, so a loop over it runs in vectors, with the same bits in each lane.
    """
    x = x if x < 700.0 else 700.0
    shifted = fused(x, -_LOG2_E, _SHIFT)
    k = shifted - _SHIFT
    r = fused(k, -_LN2_LOW, fused(k, -_LN2_HIGH, -x))
    r2 = r * r
    r4 = r2 * r2
    low = fused(r2, fused(r, _C3, 0.5), 1.0 + r)
    middle = fused(r2, fused(r, _C7, _C6), fused(r, _C5, _C4))
    high = fused(r2, fused(r, _C11, _C10), fused(r, _C9, _C8))
    return fused(r4, fused(r4, high, middle), low) * two_to_the(shifted)
