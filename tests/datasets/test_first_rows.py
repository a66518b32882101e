"""First rows decide about a column only where all rows would decide the same."""

import numpy as np
import pandas as pd
import pytest

from mauc.datasets.first_rows import N_FIRST, late_reason, may_be_left_out
from mauc.datasets.left_out import column_reason

N = 4 * N_FIRST
rng = np.random.default_rng(0)
WORDS = np.array(["red", "green", "blue"])

COLUMNS = {
    "width": rng.normal(size=N),
    "count": rng.integers(0, 9, N),
    "PassengerId": np.arange(N) + 5,
    "case number": rng.permutation(N),
    "number of rooms": rng.integers(1, 9, N),
    "row": np.arange(N),
    "constant": np.full(N, 2.0),
    "constant at first": np.where(np.arange(N) < 2 * N_FIRST, 0, rng.integers(0, 3, N)),
    "range at first": np.where(np.arange(N) < 2 * N_FIRST, np.arange(N), 3),
    "empty": np.where(np.arange(N) % 40 == 0, 1.0, np.nan),
    "nothing": np.full(N, np.nan),
    "empty at first": np.where(np.arange(N) < N_FIRST, np.nan, rng.normal(size=N)),
    "date": rng.choice([20200101, 20211231], N),
    "wide": rng.integers(2**60, 2**62, N),
    "colour": pd.Categorical(WORDS[rng.integers(0, 3, N)]),
    "one word": pd.Categorical(np.full(N, "red")),
    "key": pd.Categorical([f"{at}-{at}" for at in range(N)]),
    "day": pd.Categorical([f"2020-01-{1 + at % 28:02d}" for at in range(N)]),
    "flag": rng.integers(0, 2, N) == 1,
    "true": np.full(N, True),
    "small words": pd.Categorical(rng.choice(["1.5", "2,5", "x"], N)),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_that_are_settled_are_features(name):
    column = pd.Series(COLUMNS[name])
    reason = column_reason(column, name, 0)
    is_open = may_be_left_out(column[:N_FIRST], name, 0)
    assert is_open or reason is None
    # Measurements and words are not read twice.
    if name in ("width", "count", "colour", "flag", "small words"):
        assert not is_open


LATE = {
    "late numbers": np.where(np.arange(N) < N // 25, rng.normal(size=N), np.nan),
    "late words": pd.Categorical(
        np.where(np.arange(N) < N // 25, WORDS[rng.integers(0, 3, N)], None)
    ),
}


@pytest.mark.parametrize("name", [*COLUMNS, *LATE])
def test_late_reasons_are_those_of_all_rows(name):
    column = pd.Series({**COLUMNS, **LATE}[name])
    if not may_be_left_out(column[: N // 50], name, 0):
        assert late_reason(column, name, 0) == column_reason(column, name, 0)


def test_late_columns_are_noticed():
    for name, values in LATE.items():
        column = pd.Series(values)
        assert not may_be_left_out(column[: N // 50], name, 0)
        assert late_reason(column, name, 0) == "96 % missing"


def test_a_category_is_judged_as_its_texts():
    for texts in (
        [f"{at}-{at}" for at in range(40)], ["a"] * 40, [None] * 40, ["2020-01-01"] * 40,
        ["1.5", "x"] * 20, [str(at / 7) for at in range(40)], ["a", None] * 20,
    ):  # fmt: skip
        column = pd.Series(texts, dtype=object)
        assert column_reason(column.astype("category"), "x", 0) == column_reason(column, "x", 0)
