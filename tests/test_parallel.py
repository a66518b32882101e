"""Fits in many threads and processes at once, and in a process that is forked after use."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.processes
FITS = """
import hashlib, multiprocessing, os, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import numpy as np

def fit(_=None):
    from mauc import MDFS, GreedyMAUC
    rng = np.random.default_rng(0)
    y = np.arange(900) % 5
    X = rng.normal(size=(900, 40)).round(1) + y[:, None] * rng.random(40)
    digest = hashlib.sha256()
    for selector in (MDFS(9, random_state=0, n_jobs=2), GreedyMAUC(9, n_jobs=2)):
        selector.fit(X, y)
        digest.update(selector.ranking_.tobytes() + selector.scores_.tobytes())
        digest.update(selector.pair_auc_.tobytes())
    return digest.hexdigest()
"""
IN_THREADS = """
with ThreadPoolExecutor(8) as pool:
    print(*set(pool.map(fit, range(8))))
"""
# The pools of Arrow, OpenBLAS and this package have threads that a child does not have.
FORKED = """
def work(_=None):
    import pandas as pd, pyarrow.parquet as pq
    from mauc import open_columns, MDFS
    path = Path(sys.argv[1]) / "a.parquet"
    if not path.exists():
        pd.DataFrame(np.random.default_rng(0).random((5000, 30))).assign(
            y=np.arange(5000) % 3
        ).rename(columns=str).to_parquet(path)
    table = pq.read_table(path, use_threads=True)
    source, y = open_columns(path, target="y")
    (np.ones((600, 600)) @ np.ones((600, 600))).sum()
    return fit() + hashlib.sha256(MDFS(5, n_jobs=2).fit(source, y).scores_.tobytes()).hexdigest()

expected = work()
child = os.fork()
if child == 0:
    os._exit(0 if work() == expected else 3)
assert os.waitpid(child, 0)[1] == 0
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(work, range(2)) == [expected] * 2
print("done")
"""


def start(code, *words, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", FITS + code, *words], env={**os.environ, **environment},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def output(process, seconds=300):
    """Return what a process printed; it is killed if it takes longer."""
    try:
        return process.communicate(timeout=seconds)[0].strip()
    finally:
        process.kill()


@pytest.mark.slow
def test_eight_fits_at_once_on_a_cold_cache(tmp_path):
    expected = output(start("print(fit())"))
    assert len(expected) == 64
    assert output(start(IN_THREADS, NUMBA_CACHE_DIR=str(tmp_path / "threads"))) == expected
    folder = str(tmp_path / "processes")
    processes = [start("print(fit())", NUMBA_CACHE_DIR=folder) for _ in range(8)]
    assert [output(process, 900) for process in processes] == [expected] * 8
    assert output(start("print(fit())", NUMBA_CACHE_DIR=folder)) == expected  # what they kept


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_forked_after_use_fits_the_same(tmp_path):
    assert output(start(FORKED, str(tmp_path)), 100) == "done"
