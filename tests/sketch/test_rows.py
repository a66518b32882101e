"""sketch_rows: sources part by part, and streams of pairs."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc import MDFS, PairAUCSketch, feature_pair_auc, sketch_rows
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError, MaucTypeError


class ListSource(ColumnSource):
    """Columns of several types, read in parts of 70 rows; whole columns are refused."""

    def __init__(self, columns, names=None, types=None):
        self._columns = columns
        self.n_checks = 0
        types = types or [column.dtype for column in columns]
        super().__init__("table.bin", len(columns[0]), types, feature_names=names)

    def read(self, places):
        raise AssertionError("a whole column was read")

    def read_rows(self, start, stop, places):
        return [self._columns[j][start:stop] for j in places]

    def row_parts(self):
        return [(at, min(at + 70, self.shape[0])) for at in range(0, self.shape[0], 70)]

    def check_unchanged(self):
        self.n_checks += 1


@pytest.fixture
def columns(rng):
    n = 500
    days = np.datetime64("2021-03-01", "s") + rng.integers(0, 40, n).astype("m8[D]")
    return [
        rng.normal(size=n).astype(np.float32), rng.integers(0, 9, n), rng.random(n) < 0.4, days,
        np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
    ]  # fmt: skip


def test_a_source_is_read_by_parts_of_its_rows(columns, rng):
    y = rng.integers(0, 3, 500)
    source = ListSource(columns, names=list("abcde"))
    sketch = sketch_rows(source, y, n_bins=64)
    assert source.n_checks == 1
    assert sketch.n_rows == 500
    assert_array_equal(sketch.feature_names, list("abcde"))
    exact = np.concatenate([feature_pair_auc(column[:, np.newaxis], y) for column in columns])
    bound = sketch.error_bound()
    assert (np.abs(sketch.pair_auc() - exact) <= bound).all()
    assert_array_equal(sketch.pair_auc()[1:4], exact[1:4])
    same = PairAUCSketch(64).update(source, y)
    assert_array_equal(same.pair_auc(), sketch.pair_auc())


def test_dask_collections_are_read_by_parts_of_their_rows(columns, rng, monkeypatch):
    da = pytest.importorskip("dask.array")
    X, y = np.column_stack([columns[0], columns[4]]), rng.integers(0, 3, 500)
    blocks = da.from_array(X, chunks=(60, 2))
    monkeypatch.setattr(da.Array, "__array__", lambda *_: pytest.fail("all rows were computed"))
    sketch = PairAUCSketch(64).update(blocks, da.from_array(y, chunks=100))
    parts = PairAUCSketch(64)
    for start in range(0, 500, 60):
        parts.update(X[start : start + 60], y[start : start + 60])
    assert_array_equal(sketch.pair_auc(), parts.pair_auc())
    found = MDFS(1, random_state=0).partial_fit(blocks, y)
    assert found.sketch_.n_rows == 500


def test_pairs_are_added_one_by_one(columns, rng):
    X, y = np.column_stack([columns[0], columns[4]]), rng.integers(0, 2, 500)
    whole = PairAUCSketch(64).update(X, y)
    parts = ((X[at : at + 90], y[at : at + 90]) for at in range(0, 500, 90))
    assert_array_equal(sketch_rows(parts, n_bins=64).pair_auc(), whole.pair_auc())


def test_errors_name_the_thing(columns, rng):
    y = rng.integers(0, 2, 500)
    with pytest.raises(MaucError, match=r"label for every row of table.bin, got None"):
        sketch_rows(ListSource(columns))
    with pytest.raises(MaucError, match=r"table.bin has 500 rows, but y has 3 labels"):
        sketch_rows(ListSource(columns), y[:3])
    types = [column.dtype for column in columns[:-1]] + [np.dtype(object)]
    with pytest.raises(MaucError, match=r"table.bin: column 'x4' holds words"):
        sketch_rows(ListSource(columns, types=types), y)
    with pytest.raises(MaucTypeError, match="data must be a source or a Dask data frame"):
        sketch_rows(np.zeros((3, 2)), [0, 1, 1])
    with pytest.raises(MaucTypeError, match="got ndarray"):
        sketch_rows(np.zeros((3, 2)))
    with pytest.raises(MaucTypeError, match="part 0 of data must be a pair"):
        sketch_rows([np.zeros((3, 2))])
