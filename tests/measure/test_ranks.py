"""Centred ranks of columns, whose products are rank correlations."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import spearmanr

from mauc.data.door import make_problem
from mauc.measure.ranks import measure_ranks, rank_product, rank_step


@pytest.mark.parametrize("n", [50, 2**15, 2**15 + 1])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_correlations_of_ranks_are_spearman(rng, n, dtype):
    XT = (rng.normal(size=(2, n)) * 30 + 100).clip(0, 255).astype(dtype)
    XT[1] = XT[0] // 2 + XT[1] // 2
    ranks, squares = measure_ranks(make_problem(XT.T, np.arange(n) % 2))[0]
    assert ranks.dtype == (np.int16 if n <= 2**15 else np.int32)
    product = rank_product(ranks[0], ranks[1])
    assert_array_equal(squares, (ranks.astype(np.int64) ** 2).sum(axis=1))
    rho = product / math.sqrt(float(squares[0]) * float(squares[1]))
    assert rho == pytest.approx(spearmanr(XT[0], XT[1]).statistic, abs=1e-12)


@pytest.mark.parametrize("n", [100, 2_000_000, 10**7, 10**9])
def test_squares_of_ranks_fit_63_bits(n):
    step = rank_step(n)
    assert (step == 1) == (n <= 2_000_000)
    assert n**3 / 3 / step**2 < 2**63
