"""The decorators of compiled loops; importing this module prepares Numba."""

from typing import Any

from numba import njit

from mauc.compilation import prepare_numba

__all__ = ["njit", "njit_inline", "njit_part"]

prepare_numba()  # before the first kernel is made

_OPTIONS: Any = {
    "cache": False,
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}

#: Compile a part of a kernel. Without the wrappers for calls from Python it takes a third less
#: time; a division by zero gives infinity or NaN.
njit_part = njit(**_OPTIONS)

#: Compile a part in the place of its call. Numba optimises a part on its own and again in every
#: caller: of parts that call parts, those in the middle are better copied.
njit_inline = njit(inline="always", cache=True, nogil=True)
