"""Where nothing can be written, everything runs without a cache and says so once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mauc
from mauc.compilation import no_cache
from mauc.exceptions import NoCacheWarning

# Numba's locators refuse every folder, as they do where nothing can be written: permissions do not
# stop root, so folders alone would not show it.
REFUSE = """
import tempfile
from numba.core import caching
def refuse(self):
    raise OSError(30, "Read-only file system")
caching._CacheLocator.ensure_cache_path = refuse
from mauc.compilation import cache
cache._why_not = lambda folder: "Read-only file system"
"""
FIT = """
import numpy as np
from mauc import FisherScore
X, y = np.random.default_rng(0).random((40, 4)), np.arange(40) % 2
print(FisherScore(2).fit(X, y).ranking_)
FisherScore(2).fit(X.astype(np.float32), y)
"""
# Each module with kernels is the first of mauc that a process imports; what others wrote, most of
# the time, is imported once.
IMPORTS = """
import importlib, os, sys, warnings
import joblib, numba, scipy.sparse, scipy.special, scipy.stats
import sklearn.base, sklearn.feature_selection, sklearn.model_selection, sklearn.preprocessing
warnings.simplefilter("ignore")
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            importlib.import_module(name)
        except BaseException as error:
            print(name, repr(error), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
COMMAND = "from mauc.cli import main; main()"


def run_read_only(program, *words):
    return subprocess.run(
        [sys.executable, "-c", REFUSE + program, *words], capture_output=True, text=True,
        env={key: os.environ[key] for key in os.environ if key != "NUMBA_CACHE_DIR"},
    )  # fmt: skip


def test_a_fit_works_and_one_warning_names_the_way_out():
    done = run_read_only(FIT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[1 0]\n"
    assert done.stderr.count("NoCacheWarning") == 1
    assert "Read-only file system; set the environment variable NUMBA_CACHE_DIR" in done.stderr
    assert "<string>" in done.stderr.splitlines()[0]  # the line of the user, not one of Numba


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_whichever_module_with_kernels_is_imported_first():
    root = Path(mauc.__file__).parent
    modules = [
        ".".join(path.relative_to(root.parent).with_suffix("").parts)
        for path in sorted(root.rglob("*.py"))
        if "@njit" in path.read_text() or "cache=True" in path.read_text()
    ]
    assert len(modules) > 30
    done = run_read_only(IMPORTS, *modules)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_a_command_prints_one_line():
    done = run_read_only(COMMAND, "rank", "iris", "--method", "fisher", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("mauc: warning: compiled loops cannot be kept") == 1
    assert len(done.stderr.splitlines()) == 1


def test_a_warm_up_has_nowhere_to_keep_and_says_so_in_one_line():
    done = run_read_only(COMMAND, "warmup", "--methods", "fisher")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "can be written: Read-only file system; set the environment variable NUM" in done.stderr


@pytest.fixture
def fresh(monkeypatch):
    monkeypatch.setattr(no_cache, "_is_kept", True)


def test_workers_leave_the_warning_to_the_process_that_started_them(fresh, monkeypatch, recwarn):
    class Worker:
        name = "SpawnProcess-1"

    monkeypatch.setattr(no_cache, "current_process", Worker)
    no_cache._go_without("why")
    assert not no_cache.has_cache()
    assert len(recwarn) == 0


def test_a_full_disk_costs_the_cache_and_not_the_result(fresh, monkeypatch):
    from numba import njit

    def refuse(*_):
        raise OSError(28, "No space left on device")

    def double(x):
        return 2 * x

    double.__module__ = "mauc.double"
    kernel = njit(cache=True)(double)
    assert isinstance(kernel._cache, no_cache._WillingCache)
    monkeypatch.setattr(kernel._cache._cache_file, "save", refuse)
    monkeypatch.setattr(kernel._cache._cache_file, "load", refuse)
    with pytest.warns(NoCacheWarning, match="No space left on device; set the environment"):
        assert kernel(2) == 4
    assert kernel(2.5) == 5.0  # a second warning would be an error


def test_kernels_of_others_keep_numbas_own_cache():
    from numba import njit

    kernel = njit(cache=True)(abs_of)
    assert not isinstance(kernel._cache, no_cache._WillingCache)


def abs_of(x):
    return abs(x)
