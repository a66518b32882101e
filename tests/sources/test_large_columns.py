"""Columns judged by parts of their rows are judged as by all of them."""

import numpy as np
import pandas as pd
import pytest

from mauc.data.source import ColumnSource
from mauc.datasets.left_out import column_reason
from mauc.exceptions import MaucError
from mauc.sources.large_columns import is_large, reason_by_parts

N = 600
rng = np.random.default_rng(0)
HOLES = np.arange(N) % 5 == 0
COLUMNS = {
    "width": rng.normal(size=N),
    "with holes": np.where(HOLES, np.nan, rng.normal(size=N)),
    "row": np.arange(N), "case": np.arange(N) + 1.0, "from five": np.arange(N) + 5,
    "PassengerId": np.arange(N) + 5, "user id": rng.permutation(N) * 3,
    "id with holes": np.where(HOLES, np.nan, rng.permutation(N)),
    "ids twice": rng.integers(0, 50, N), "id halves": np.arange(N) + 0.5,
    "plot index": rng.permutation(N) + 9, "refractive index": rng.permutation(N) * 2,
    "number of rooms": rng.integers(1, 9, N), "falling id": np.arange(N)[::-1] * 7,
    "constant": np.full(N, 4.0), "constant with holes": np.where(HOLES, np.nan, 1.0),
    "nearly constant": (np.arange(N) == N - 1).astype(np.int8),
    "empty": np.where(np.arange(N) % 40 == 0, 1.5, np.nan), "nothing": np.full(N, np.nan),
    "date": rng.choice([20200101, 20211231], N), "no date": rng.integers(0, 9, N),
    "wide": 2**60 + np.arange(N) * 8, "wide twice": np.full(N, 2**60) + np.arange(N) // 2 * 4096,
    "infinite id": np.where(HOLES, np.inf, np.arange(N)),
    "column1": np.arange(N) + 77,
    "flag": rng.integers(0, 2, N) == 1, "true": np.full(N, True),
    "colour": rng.choice(["red", "green"], N).astype(object),
    "key": np.array([f"{at}-{at}" for at in range(N)], object),
    "key with holes": np.array([None if hole else f"k{at}-" for at, hole in enumerate(HOLES)]),
    "day": np.array([f"2020-01-{1 + at % 28:02d}" for at in range(N)], object),
    "one word": np.array(["red"] * N, object), "no words": np.array([None] * N, object),
    "numbers": np.array([f"{at / 7:.4f}" for at in range(N)], object),
}  # fmt: skip


class Parts(ColumnSource):
    """One column, read in parts of 70 rows."""

    def __init__(self, values, memory):
        super().__init__("a table", len(values), [values.dtype], memory=memory)
        self._values = values

    def read(self, places):
        raise AssertionError("the column was read whole")

    def read_rows(self, start, stop, places):
        part = self._values[start:stop]
        return [pd.Series(pd.Categorical(part)) if part.dtype.kind == "O" else part]

    def row_parts(self):
        return [(start, min(start + 70, N)) for start in range(0, N, 70)]


@pytest.mark.parametrize("name", COLUMNS)
def test_parts_are_judged_as_the_whole(name):
    values = COLUMNS[name]
    column = pd.Series(pd.Categorical(values)) if values.dtype.kind == "O" else pd.Series(values)
    assert reason_by_parts(Parts(values, 10**6), 0, name) == column_reason(column, name, 0)


def test_what_counts_as_large():
    assert is_large(Parts(COLUMNS["width"], 40_000), 0)
    assert not is_large(Parts(COLUMNS["width"], 50_000), 0)


def test_what_cannot_be_told_is_said():
    with pytest.raises(MaucError, match="whether column 'user id' is an identifier; leave it out"):
        reason_by_parts(Parts(COLUMNS["user id"] * 10**6, 20_000), 0, "user id")
    found = reason_by_parts(Parts(COLUMNS["key"], 20_000), 0, "key")
    assert found == "more different texts than fit into memory"
    many = np.array([f"{at % 100}-" for at in range(N)], object)
    with pytest.raises(MaucError, match="more different texts than fit into the memory"):
        reason_by_parts(Parts(many, 45_000), 0, "many")
