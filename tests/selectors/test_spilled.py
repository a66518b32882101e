"""Greedy selectors on sources whose states or ranks are in a file: the bits of the array."""

import shutil
import subprocess
import sys
import textwrap
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest

from mauc import ARCO, FCBF, JMI, MRMR, GreedyMAUC
from mauc import memory as spill
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError
from mauc.measure import information, ranks
from mauc.selectors import fcbf
from tests.helpers.array_source import BrokenSource, CountingSource

Usage = namedtuple("Usage", "total used free")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 800)
    X = (rng.normal(size=(800, 90)) + y[:, np.newaxis] * rng.uniform(0, 0.5, 90)).astype(np.float32)
    X[:, 5:9] = X[:, 1:5]  # ties
    X[:, 20] = 1.0
    X[:, 30:32] = rng.integers(0, 5, (800, 2)) + y[:, np.newaxis]  # nominal below
    X[:, 33:35] = rng.integers(0, 12, (800, 2))
    X[::7, 3] = X[::5, 30] = X[::9, 34] = np.nan
    return X, y


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return the shapes of the arrays that are put into files."""
    made, map_file = [], spill.map_file

    def observed(shape, dtype, later):
        made.append(shape)
        return map_file(shape, dtype, later)

    monkeypatch.setattr(spill, "map_file", observed)
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path))
    # Threads are worth it for tall data only.
    for module in (fcbf, information, ranks):
        monkeypatch.setattr(module, "BLOCK_WORK", 1)
    return made


NOMINAL = {"categorical_features": [30, 31, 33, 34]}
CASES = [
    MRMR(25),
    MRMR(25, criterion="quotient", binning="equal_frequency", **NOMINAL),
    MRMR("all", binning="equal_width", n_bins=5),
    JMI(25),
    JMI(12, binning="mdl", **NOMINAL),
    FCBF(60, **NOMINAL),
    FCBF(60, binning="three_states"),
    ARCO(25),
    ARCO("all", redundancy_weight=0.3),
]


@pytest.mark.parametrize(("memory", "n_jobs"), [(75_000, 2), (120_000, 1)])
@pytest.mark.parametrize("selector", CASES, ids=str)
def test_equals_array(table, files, tmp_path, selector, memory, n_jobs):
    X, y = table
    selector.set_params(n_jobs=1)
    expected = {name: getattr(selector.fit(X, y), name) for name in ("ranking_", "scores_")}
    expected["trace"], expected["pair_auc_"] = selector.trace_.scores, selector.pair_auc_
    assert files == []
    source = CountingSource(X, memory=memory)
    found = selector.set_params(n_jobs=n_jobs).fit(source, y)
    assert files[0] == (90, 800)
    for name in ("ranking_", "scores_", "pair_auc_"):
        np.testing.assert_array_equal(getattr(found, name), expected[name])
    np.testing.assert_array_equal(found.trace_.scores, expected["trace"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("selector", [MRMR(5), ARCO(5)], ids=str)
def test_every_column_is_read_once(table, files, selector):
    X, y = table
    source = CountingSource(X, memory=120_000)
    selector.fit(source, y)
    n_read = np.bincount(np.concatenate(source.reads), minlength=90)
    # The first column tells that not all are constant; the chosen ones are read for their AUCs.
    n_read[0] -= 1
    n_read[selector.ranking_] -= 1
    np.testing.assert_array_equal(n_read, np.ones(90))


def test_all_in_memory_where_it_fits(table, files):
    X, y = table
    for selector in CASES:
        selector.fit(CountingSource(X, memory=3_000_000), y)
    assert files == []


@pytest.mark.parametrize("selector", [MRMR(5), ARCO(5)], ids=str)
def test_nothing_stays_after_an_error(table, files, tmp_path, selector):
    X, y = table

    with pytest.raises(MaucError, match="part 7 is broken"):
        selector.fit(BrokenSource(X, memory=100_000), y)
    assert len(files) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("selector", [MRMR(5), JMI(5), FCBF(5), ARCO(5)], ids=str)
def test_disk_is_too_small(table, files, tmp_path, monkeypatch, selector):
    X, y = table
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9, 0))
    source = CountingSource(X, memory=75_000)
    with pytest.raises(MaucError, match=f"{tmp_path} has .* free, but .* are needed"):
        selector.fit(source, y)
    assert len(source.reads) <= 1  # before the pass


class FrameSource(ColumnSource):
    """Columns of a data frame, of any types."""

    def __init__(self, frame, memory):
        types = [kind if isinstance(kind, np.dtype) else object for kind in frame.dtypes]
        super().__init__("a frame", len(frame), types, feature_names=frame.columns, memory=memory)
        self.frame = frame

    def read(self, places):
        columns = [self.frame.iloc[:, j] for j in places]
        return [x if x.dtype.kind == "O" else np.ascontiguousarray(x) for x in columns]


@pytest.mark.parametrize(
    "selector",
    [MRMR(12), JMI(12), FCBF(12), GreedyMAUC(12, max_samples=300)],
    ids=str,
)
def test_words_and_types(table, files, selector):
    X, y = table
    frame = pd.DataFrame(X[:, :40], columns=[f"x{j}" for j in range(40)])
    frame["x4"] = frame["x4"].astype(np.float64) * np.pi
    frame["x5"] = (frame["x5"] * 50).astype(np.int32)
    frame["x31"] = frame["x31"].map("word {:.0f}".format)
    frame["x30"] = frame["x30"].map("word {:.0f}".format).where(frame["x30"] > 2, None)
    expected = [getattr(selector.fit(frame, y), name) for name in ("ranking_", "scores_")]
    found = selector.fit(FrameSource(frame, 80_000), y)
    np.testing.assert_array_equal(found.ranking_, expected[0])
    np.testing.assert_array_equal(found.scores_, expected[1])
    assert bool(files) == (not isinstance(selector, GreedyMAUC))


MEASURE = """
    import resource, sys
    import numpy as np
    import mauc
    from mauc.data.source import ColumnSource

    N, M, MEMORY = 200_000, 400, 64 * 10**6

    class Made(ColumnSource):
        def __init__(self):
            super().__init__("made", N, [np.float32] * M, memory=MEMORY)

        def read(self, places):
            return [self.column(j) for j in places]

        def column(self, j):
            x = np.random.default_rng(j).standard_normal(N, np.float32)
            x += np.float32(0.01 * (j % 7)) * floats
            return x

    y = np.arange(N) % 5
    floats = y.astype(np.float32)
    selector = eval("mauc." + sys.argv[1]).set_params(n_jobs=2)
    # What is compiled and loaded does not count.
    X = np.random.default_rng(0).standard_normal((60_000, 40)).astype(np.float32)
    selector.fit(X, y[:60_000])
    del X
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    selector.fit(Made(), y)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print((after - before) * 1024 / MEMORY)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="pages of files are let go on Linux")
@pytest.mark.parametrize(
    "call",
    [
        "MRMR(10)",
        "JMI(10)",
        "FCBF(10)",
        "ARCO(10)",
        "GreedyMAUC(10)",
    ],
)
def test_memory_is_kept(call):
    """States take 80 MB and planes 20, ranks 320 MB: more than the 64 MB that are allowed."""
    command = [sys.executable, "-c", textwrap.dedent(MEASURE), call]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1.5
