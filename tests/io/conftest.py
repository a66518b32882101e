import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from mauc.data.source import ColumnSource


def assert_same_fit(selector, source, X, y, names=("ranking_", "scores_", "pair_auc_")):
    """A fit on a source gives what a fit on the same values in memory gives, to the bit."""
    known, found = clone(selector).fit(X, y), clone(selector).fit(source, y)
    for name in names:
        assert_array_equal(getattr(found, name), getattr(known, name))
    return found


class DictSource(ColumnSource):
    """Columns of a dict, in parts of some rows; notes what is read to the end."""

    def __init__(self, columns, memory=10**6, n_rows=None):
        self.columns, self.whole = list(columns.values()), []
        kinds = [values.dtype for values in self.columns]
        n = len(self.columns[0])
        super().__init__("a table", n, kinds, feature_names=list(columns), memory=memory)
        self._step = n_rows or n

    def read_rows(self, start, stop, columns):
        self.whole += columns.tolist() if stop == self.shape[0] else []
        parts = [self.columns[j][start:stop] for j in columns]
        return [pd.Series(pd.Categorical(p)) if p.dtype.kind == "O" else p for p in parts]

    def row_parts(self):
        n = self.shape[0]
        return [(start, min(start + self._step, n)) for start in range(0, n, self._step)]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A folder of its own for tables that are transposed."""
    monkeypatch.delenv("MAUC_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def write(tmp_path):
    """Write a file, and return its path."""

    def write(content, name="data.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


@pytest.fixture(scope="session")
def numbers():
    """Float32 features in an array by rows, and labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    X = rng.normal(size=(900, 37)) + y[:, np.newaxis] * np.linspace(0, 0.5, 37)
    X = X.astype(np.float32)
    X[::9, 4] = np.nan
    return X, y


@pytest.fixture(scope="session")
def mixed():
    """A pandas frame of every kind of column, with missing values, and labels in "label"."""
    rng = np.random.default_rng(1)
    n = 600
    y = rng.integers(0, 3, n)
    whole = rng.integers(-9, 9, n) + y
    is_missing = rng.random(n) < 0.1
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n) + 9 * y, unit="D")
    words = pd.Series(np.array(["red", "green", "blue", "Ünder"])[rng.integers(0, 2, n) + y])
    frame = pd.DataFrame({f"f{j}": rng.normal(size=n) + 0.1 * j * y for j in range(3)})
    frame["narrow"] = (rng.normal(size=n) + y).astype(np.float32)
    frame["whole"] = pd.array(whole, dtype="Int32")
    frame.loc[is_missing, "whole"] = pd.NA
    frame["wide"] = pd.array(2**60 + whole, dtype="Int64")
    frame.loc[is_missing, "wide"] = pd.NA
    frame["byte"] = (whole + 20).astype(np.uint8)
    frame["yes"] = rng.random(n) < 0.2 + 0.2 * y
    frame["maybe"] = pd.array(rng.random(n) < 0.2 + 0.2 * y, dtype="boolean")
    frame.loc[is_missing, "maybe"] = pd.NA
    frame["words"] = words.mask(is_missing)
    frame["kind"] = words.astype("category")
    frame["day"] = pd.Series(days).mask(is_missing)
    frame["wait"] = pd.to_timedelta(rng.integers(0, 99, n) + 9 * y, unit="s")
    frame["label"] = np.array(["u", "v", "w"])[y]
    return frame
