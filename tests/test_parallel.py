"""Fits in many threads and processes at once, and in a process that is forked after use."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.processes
FITS = """
import multiprocessing, os, sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
import numpy as np

def fit(_=None):
    from mauc import MDFS, GreedyMAUC
    rng = np.random.default_rng(0)
    y = np.arange(900) % 5
    X = rng.normal(size=(900, 40)).round(1) + y[:, None] * rng.random(40)
    fits = [s.fit(X, y) for s in (MDFS(9, random_state=0, n_jobs=2), GreedyMAUC(9, n_jobs=2))]
    return sha256(b"".join(s.ranking_.tobytes() + s.pair_auc_.tobytes() for s in fits)).hexdigest()
"""
IN_THREADS = "print(*set(ThreadPoolExecutor(8).map(fit, range(8))))"
# The pools of Arrow, OpenBLAS and this package have threads that a child does not have.
FORKED = """
import pandas as pd
from mauc import MDFS, open_columns
names = list(map(str, range(30)))
pd.DataFrame(np.random.default_rng(0).random((5000, 30)), columns=names).assign(
    y=np.arange(5000) % 3).to_parquet(sys.argv[1])

def work(_=None):
    source, y = open_columns(sys.argv[1], target="y")
    (np.ones((600, 600)) @ np.ones((600, 600))).sum()
    return fit(), pd.read_parquet(sys.argv[1]).size, MDFS(5, n_jobs=2).fit(source, y).scores_.sum()

expected = work()
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(work, range(2)) == [expected] * 2
print("done")
"""


def outputs(code, *words, n=1, **environment):
    """Return what processes print that run at once; they end within bounded time."""
    command, env = [sys.executable, "-c", FITS + code, *words], {**os.environ, **environment}
    started = [subprocess.Popen(command, env=env, stdout=-1, text=True) for _ in range(n)]
    try:
        return [process.communicate(timeout=600)[0].strip() for process in started]
    finally:
        for process in started:
            process.kill()


@pytest.mark.slow
def test_eight_fits_at_once_on_a_cold_cache(tmp_path):
    (expected,) = outputs("print(fit())")
    assert outputs(IN_THREADS, NUMBA_CACHE_DIR=str(tmp_path / "threads")) == [expected]
    for n in (8, 1):  # the last one loads what they kept
        assert outputs("print(fit())", n=n, NUMBA_CACHE_DIR=str(tmp_path)) == [expected] * n


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_forked_after_use_fit_the_same(tmp_path):
    assert outputs(FORKED, str(tmp_path / "a.parquet")) == ["done"]
