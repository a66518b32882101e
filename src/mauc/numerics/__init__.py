"""Numerical kernels that several families share: sorting, v log v, sums about a shift, Phi."""

from mauc.compilation import prepare_numba

prepare_numba()
