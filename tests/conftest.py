"""Set-up of all tests: a Numba cache that notices every change, and the data of the paper."""

import contextlib
import hashlib
import os
import socketserver
import subprocess
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]

# Scripts that are tested but not installed; they import one another by name.
sys.path += [str(_ROOT / folder) for folder in ("tools", "benchmarks")]


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
# The workers share the cores: threads of BLAS and OpenMP in each would wait for one another.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

import mauc  # noqa: E402
from mauc.exceptions import MaucError  # noqa: E402
from tests.helpers.strategies import FAST_EXAMPLES  # noqa: E402

# The first example may compile a kernel, so no deadline; the same examples every time.
settings.register_profile("mauc", deadline=None, derandomize=True, max_examples=30, database=None)
settings.register_profile("fast", settings.get_profile("mauc"), max_examples=FAST_EXAMPLES)


def pytest_addoption(parser):
    parser.addoption("--fast", action="store_true", help="a part of the tests, see CONTRIBUTING.md")


def pytest_configure(config):
    settings.load_profile("fast" if config.getoption("fast") else "mauc")


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


def pytest_collection_modifyitems(config, items):
    """Leave out of a fast run what is long, and all but one case of a parametrised test."""
    if not config.getoption("fast"):
        return
    tests = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    # Another case in each test: together the laws of a file go through all of them.
    kept = [cases[number % len(cases)] for number, cases in enumerate(tests.values())]
    for marker in ("long", "processes"):
        kept = [item for item in kept if not item.get_closest_marker(marker)]
    config.hook.pytest_deselected(items=[*set(items).difference(kept)])
    items[:] = kept


@pytest.fixture(scope="session", autouse=True)
def no_process_in_a_fast_run(request):
    """Skip a test of a fast run as soon as it starts a process or a server."""

    def skip(*args, **options):
        pytest.skip("starts a process or a server, which a fast run does not")

    with pytest.MonkeyPatch.context() as patch:
        if request.config.getoption("fast"):
            patch.setattr(subprocess.Popen, "__init__", skip)
            patch.setattr(BaseProcess, "start", skip)
            patch.setattr(socketserver.TCPServer, "__init__", skip)
            if "distributed" in sys.modules:
                patch.setattr(sys.modules["distributed"].LocalCluster, "__init__", skip)
        yield


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
