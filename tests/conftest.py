"""Set-up of all tests: a Numba cache that notices every change, and the data of the paper."""

import contextlib
import csv
import hashlib
import os
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]

# Scripts that are tested but not installed; they import one another by name.
sys.path += [
    str(_ROOT / folder) for folder in ("tools", "benchmarks", "docs/beyond", "docs/reproduction")
]


def _kernel_hash():
    digest = hashlib.sha256()
    for path in sorted((_ROOT / "src" / "mauc").rglob("*.py")):
        source = path.read_bytes()
        if b"njit" in source:
            digest.update(path.as_posix().encode() + b"\0" + source)
    return digest.hexdigest()[:16]


# Before the first import of numba and scipy, which read these once. Numba's cache looks at the
# file of a kernel but not at the files of the kernels that it calls, so a cache serves only
# the sources that it was made of. Without SCIPY_ARRAY_API scikit-learn skips a check.
os.environ["NUMBA_CACHE_DIR"] = str(_ROOT / ".numba_cache" / _kernel_hash())
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

import mauc  # noqa: E402
from mauc.exceptions import MaucError  # noqa: E402

# The first example may compile a kernel, so no deadline; the same examples every time.
settings.register_profile("mauc", deadline=None, derandomize=True, max_examples=30, database=None)
settings.load_profile("mauc")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    """Fill an empty cache before workers run all tests: each of them would compile most kernels."""
    config = session.config
    n_workers = config.getoption("numprocesses", None)  # workers themselves have none
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if n_workers and is_whole and not Path(os.environ["NUMBA_CACHE_DIR"]).exists():
        with contextlib.suppress(MaucError):  # what is broken is for the tests to tell
            mauc.warmup(progress="quiet")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Run one worker more than there are cores: some tests wait for processes that they start."""
    return (os.cpu_count() or 1) + 1


# A test is marked "processes" if its module imports one of these, which start processes, or is in
# a folder whose tests do.
_STARTERS = {"subprocess", "multiprocessing", "distributed", "run_on_terminal"}
_FOLDERS = {"benchmarks", "browser", "cli", "cluster", "docs", "experiments"}

_LONG_FOLDERS = {"plotting", "report"}  # figures and pages


def pytest_collection_modifyitems(items):
    for item in items:
        names = vars(getattr(item, "module", pytest)).keys()
        folders = {*item.path.relative_to(_ROOT).parts}
        if _STARTERS & names or _FOLDERS & folders:
            item.add_marker("processes")
        if _LONG_FOLDERS & folders:
            item.add_marker("long")


@pytest.fixture
def rng():
    """A generator that starts alike in every test."""
    return np.random.default_rng(20110)


@pytest.fixture(scope="session")
def load_paper_data():
    """Give ``name -> (X, y)`` for the data sets of the paper, or skip without MAUC_DATA."""
    folder = os.environ.get("MAUC_DATA")
    if not folder:
        pytest.skip("MAUC_DATA is not set to the folder with the data sets of the paper")

    def load(name):
        path = Path(folder) / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"MAUC_DATA has no {path.name}")
        with np.load(path, allow_pickle=False) as parts:
            return parts["X"], parts["y"]

    return load


@pytest.fixture(scope="session")
def published_mauc():
    """Give ``(dataset, classifier, method, n_features) -> MAUC`` as the paper prints it."""
    path = _ROOT / "papers" / "wang2011" / "published" / "mauc.csv"
    with path.open(newline="") as file:
        return {
            (row["dataset"], row["classifier"], row["method"], int(row["n_features"])): float(
                row["mauc"]
            )
            for row in csv.DictReader(file)
        }
