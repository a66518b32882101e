"""Numerical kernels that several families share: sorting, v log v, sums about a shift, Phi."""
