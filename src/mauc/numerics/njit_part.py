"""The decorator of functions that only kernels call."""

from numba import njit

#: Compile a part of a kernel. Without the wrappers for calls from Python it takes a third less
#: time; a division by zero gives infinity or NaN.
njit_part = njit(
    cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
)
