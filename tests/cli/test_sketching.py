"""Columns or rows: classes are counted where the choice depends on them."""

from itertools import pairwise

import numpy as np
import pytest

from mauc import MDFS
from mauc.cli.fitting import Fitting
from mauc.cli.streaming import choose_strategy, is_by_rows
from mauc.data.source import ColumnSource
from mauc.datasets import Dataset

# By columns 40,000 reads of 2 ms take more than a minute; a sketch takes 983 kB per class.
N, N_COLUMNS, MEMORY = 10_000, 40, 3 * 10**6


class Remote(ColumnSource):
    """Many small parts on another machine."""

    def __init__(self, n_parts):
        super().__init__("remote", N, [np.float32] * N_COLUMNS, memory=MEMORY)
        self.waits, self.n_parts = True, n_parts

    def read(self, places):
        raise AssertionError("nothing is read to choose")

    def row_parts(self):
        edges = np.linspace(0, N, self.n_parts + 1).astype(int).tolist()
        return list(pairwise(edges))


def chosen(y, n_parts):
    X = Remote(n_parts)
    dataset = Dataset("remote", X, y, [f"x{j}" for j in range(N_COLUMNS)])
    return is_by_rows(Fitting(), MDFS(), dataset)


@pytest.mark.parametrize(("n_classes", "is_sketched"), [(3, True), (4, False)])
def test_a_sketch_of_many_classes_does_not_fit(n_classes, is_sketched, capsys):
    assert chosen(np.arange(N) % n_classes, n_parts=1000) == is_sketched
    assert ("sketched by rows" in capsys.readouterr().err) == is_sketched


def test_classes_are_not_counted_for_columns(monkeypatch):
    def refuse(values):
        raise AssertionError("labels are counted")

    monkeypatch.setattr("mauc.data.columns.factorize", refuse)
    assert not chosen(np.arange(N) % 3, n_parts=10)
    with pytest.raises(AssertionError, match="labels are counted"):
        chosen(np.arange(N) % 3, n_parts=1000)


@pytest.mark.parametrize(
    ("options", "is_by_rows", "words"),
    [
        ({}, False, "exact; 800 MB read once"),
        ({"n_rows": 10**9}, True, "its sort would take 60.0 GB of memory, 1.0 GB may be used"),
        ({"n_parts": 50_000, "waits": True}, True, "10,000,000 reads, about 198 times as long"),
        # from a file the same reads take microseconds: slower than a sketch, but not that much
        ({"n_parts": 1000, "waits": True}, True, "200,000 reads, about 143 times as long"),
        ({"n_parts": 1000}, False, "exact; 800 MB read once"),
        ({"n_parts": 50_000}, True, "10,000,000 reads, about 112 times as long"),
        # many reads of small parts, but done in a minute: exact all the same
        ({"n_rows": 10_000, "n_parts": 100, "waits": True}, False, "exact; 8 MB read once"),
        # the sketch itself would not fit either: exact then
        ({"n_parts": 50_000, "n_classes": 1000}, False, "read once"),
    ],
)
def test_exact_where_that_is_affordable(options, is_by_rows, words):
    given = {"n_rows": 10**6, "n_columns": 200, "bytes_per_cell": 4, "memory": 10**9} | options
    found, why = choose_strategy(**given)
    assert found == is_by_rows
    assert words in why
    assert why.startswith("sketched by rows" if is_by_rows else "read by columns")
