"""Scores that float64 would round keep their order."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from mauc import mauc_interval, mauc_score
from mauc.exceptions import MaucError
from mauc.metrics.mauc import ordered_scores

BIG = 2**53
Y = [0, 0, 1, 1]
STEPS = np.array([0, 1, 2, 3])  # class 1 is above class 0; float64 ties BIG and BIG + 1

TABLES = {
    "int64": BIG + STEPS,
    "uint64": np.uint64(2**63) + STEPS.astype(np.uint64),
    "negative": -BIG - 10 + STEPS,
    "list": (BIG + STEPS).tolist(),
    "Int64": pd.Series(BIG + STEPS, dtype="Int64"),
    "UInt64": pd.Series(np.uint64(2**63) + STEPS.astype(np.uint64), dtype="UInt64"),
    "polars": pl.Series(BIG + STEPS),
    "Python integers": [2**80 + int(step) for step in STEPS],
    "fractions": [Fraction(int(step), 10**30) + 1 for step in STEPS],
    "decimals": [1 + Decimal(int(step)) / 10**25 for step in STEPS],
}


@pytest.mark.parametrize("scores", TABLES.values(), ids=TABLES)
def test_one_column_keeps_its_order(scores):
    assert mauc_score(Y, scores) == 1.0
    assert mauc_score([0, 1, 0, 1], scores) == 0.75
    assert mauc_interval(Y, scores).mauc == 1.0


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="no longer type")
def test_extended_precision_keeps_its_order():
    scores = np.longdouble(1) + STEPS * np.finfo(np.longdouble).eps
    assert mauc_score(Y, scores) == 1.0
    assert mauc_score(Y, np.column_stack((-scores, scores))) == 1.0
    with pytest.raises(MaucError, match="must not contain NaN"):
        mauc_score(Y, np.where(STEPS == 2, np.longdouble(np.nan), scores))


@pytest.mark.parametrize("kind", ["int64", "Int64"])
def test_integers_beside_floats_keep_their_order(kind):
    frame = pd.DataFrame({"a": -STEPS / 4.0, "b": pd.Series(BIG + STEPS, dtype=kind)})
    assert mauc_score(Y, frame) == 1.0
    assert mauc_score(Y, pl.DataFrame({"a": -STEPS / 4.0, "b": BIG + STEPS})) == 1.0


def test_denormal_numbers_are_told_apart():
    assert mauc_score(Y, 5e-324 * STEPS) == 1.0
    assert mauc_score(Y, -5e-324 * STEPS) == 0.0


def test_a_missing_score_is_named():
    with pytest.raises(MaucError, match="y_score must not contain NaN"):
        mauc_score(Y, pd.Series([BIG, BIG + 1, None, BIG + 3], dtype="Int64"))
    frame = pd.DataFrame({"a": STEPS, "b": pd.Series([1, 2, None, 4], dtype="Int64")})
    with pytest.raises(MaucError, match="y_score must not contain NaN"):
        mauc_score(Y, frame)
    with pytest.raises(MaucError, match="rows of the same length"):
        mauc_score(Y, [[1, 2], [1], [2, 3], [4, 5]])


def test_what_float64_holds_is_not_touched():
    scores = np.arange(6.0).reshape(3, 2)
    assert ordered_scores(scores) is scores
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 0.1]})
    assert ordered_scores(frame) is frame
    assert_array_equal(ordered_scores([3, 1]), [[3], [1]])
