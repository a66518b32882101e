"""Where compiled kernels are kept, and what a user reads about compilation."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core import config

import mauc
from mauc import compile as module
from mauc.compile import find_cache, kernel_counts, njit, silenced
from mauc.exceptions import MaucError, NoCacheWarning
from tests.helpers.pseudo_terminal import run_on_terminal

# What compiles least, twice.
FIT = """
import numpy as np
from mauc.classifiers import NearestNeighbor
X, y = np.random.default_rng(0).random((4, 4)), np.arange(4) % 2
print(NearestNeighbor().fit(X, y).predict(X))
NearestNeighbor(smooth=True).fit(X, y).predict(X)
"""
# Folders that cannot be written: permissions do not stop root, so a test cannot make them.
REFUSE = """
import pathlib, tempfile
from numba.core import caching
def refuse(path):
    raise OSError(30, "Read-only file system")
caching._CacheLocator.ensure_cache_path = lambda self: refuse(self.get_cache_path())
tempfile.TemporaryFile = lambda dir: refuse(dir)
"""
COMMAND = "from mauc.cli import main; main()"


def run_read_only(program, *words):
    return subprocess.run(
        [sys.executable, "-c", REFUSE + program, *words],
        capture_output=True,
        text=True,
        env={key: os.environ[key] for key in os.environ if key != "NUMBA_CACHE_DIR"},
    )


@pytest.fixture
def choose(monkeypatch):
    """Choose the folder anew for a setting of NUMBA_CACHE_DIR and folders that are refused."""

    def choose(setting, *refused):
        known = module.tempfile.TemporaryFile

        def temporary_file(dir):
            if any(Path(dir).is_relative_to(other) for other in refused):
                raise PermissionError(13, "Permission denied")
            return known(dir=dir)

        monkeypatch.setattr(config, "CACHE_DIR", str(setting))
        monkeypatch.setattr(module.tempfile, "TemporaryFile", temporary_file)
        folder, problem = module._find_folder()
        monkeypatch.setattr(module, "_folder", folder)
        monkeypatch.setattr(module, "_problem", problem)
        return folder

    return choose


def test_the_folder_of_the_environment_variable_comes_first(choose, tmp_path):
    assert choose(tmp_path / "new") == find_cache() == str(tmp_path / "new")
    assert os.listdir(tmp_path / "new") == []


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such permissions")
def test_a_folder_in_which_others_could_put_code_is_not_used(choose, tmp_path):
    tmp_path.chmod(0o1777)
    assert choose(tmp_path) == ""
    with pytest.raises(MaucError, match=r"other users can change what is in it .*; set"):
        find_cache()


def test_then_the_package_then_the_user(choose, monkeypatch, tmp_path):
    package = Path(mauc.__file__).parent
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert choose("") == f"{package}/__pycache__"
    assert "numba" in choose("", package)
    assert choose("", package, Path("/")) == ""
    with pytest.raises(
        MaucError, match=f"cannot be kept in {package}.* or .*Permission denied.; set"
    ):
        find_cache()


def test_a_setting_that_is_a_file_is_named_with_the_way_out(choose, tmp_path):
    path = tmp_path / "file"
    path.touch()
    choose(path)
    with pytest.raises(MaucError, match=rf"kept in {path} .File exists.; set .*NUMBA_CACHE"):
        find_cache()


def test_nothing_is_compiled_where_compilation_is_off(monkeypatch):
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    with pytest.raises(MaucError, match="NUMBA_DISABLE_JIT"):
        find_cache()


def test_where_nothing_can_be_written_a_fit_works_with_one_warning():
    done = run_read_only(FIT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[0 1 0 1]\n"
    assert done.stderr.count("NoCacheWarning") == 1
    assert "(Read-only file system); set the environment variable NUMBA_CACHE_DIR" in done.stderr


def test_a_command_prints_one_line_where_nothing_can_be_written(tmp_path):
    (tmp_path / "scores.csv").write_text("label,u,v\nu,3,0\nu,1,1\nv,1,2\n")
    done = run_read_only(COMMAND, "score", tmp_path / "scores.csv", "--target", "label", "--json")
    assert done.returncode == 0, done.stderr
    warning, note = done.stderr.splitlines()
    assert warning.startswith("mauc: warning: every process compiles its loops anew")
    assert note == "mauc: scores: 2 columns of scores"


def test_a_warm_up_without_a_folder_is_an_error_in_one_line():
    done = run_read_only(COMMAND, "warmup", "--methods", "fisher")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "(Read-only file system); set the environment variable NUMBA_CACHE_DIR" in done.stderr


def double(x):
    return 2 * x


@pytest.fixture
def kernel(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(module, "_kernels", [])
    monkeypatch.setattr(module, "_is_warned", False)
    return njit(double)


def test_a_kernel_without_a_folder_works_and_warns_once(kernel, monkeypatch):
    monkeypatch.setattr(module, "_problem", "compiled loops cannot be kept in /x (full)")
    with pytest.warns(NoCacheWarning, match=r"anew: .* in /x .full.; set the environment"):
        uncached = njit(double)
    assert uncached(2) == 4
    assert njit(double)(2.5) == 5.0  # a second warning would be an error
    assert kernel_counts()[1] == set()


def test_workers_leave_the_warning_to_the_process_that_started_them(kernel, monkeypatch, recwarn):
    monkeypatch.setattr(module, "current_process", lambda: SimpleNamespace(name="LokyProcess-1"))
    monkeypatch.setattr(module, "_problem", "compiled loops cannot be kept")
    assert njit(double)(2) == 4
    assert len(recwarn) == 0


def test_kernels_are_counted_by_their_types(kernel):
    kernel(2)
    kernel(np.float32(2))
    again = njit(double)
    again(2)
    compiled, found = kernel_counts()
    assert compiled == {f"{__name__}.double(int64,)", f"{__name__}.double(float32,)"}
    assert found == {f"{__name__}.double(int64,)"}


class Terminal:
    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.fixture
def compile_for(monkeypatch):
    """Let a listener hear of a kernel that took so many seconds; give what the user reads."""
    clock, terminal, listener = [100.0], Terminal(), module._Notice()

    def compile_for(seconds, owner="mauc.engine"):
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
        function = SimpleNamespace(__module__=owner)
        event = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})
        listener.on_start(event)
        listener.on_start(event)  # one that it calls
        listener.on_end(event)
        clock[0] += seconds
        listener.on_end(event)
        clock[0] += 50.0
        return terminal.text

    return compile_for


def test_a_line_is_printed_when_a_second_is_over_and_not_again(compile_for):
    assert compile_for(0.6) == compile_for(0.3) == ""
    line = "mauc: compiling loops (once; mauc warmup does it for all methods)\n"
    assert compile_for(0.2) == line
    assert compile_for(5.0) == line


def test_other_kernels_other_processes_and_silence_print_nothing(compile_for, monkeypatch):
    assert compile_for(5.0, owner="other") == ""
    with silenced():
        assert compile_for(5.0) == ""
    monkeypatch.setattr(module, "current_process", lambda: SimpleNamespace(name="SpawnProcess-1"))
    assert compile_for(5.0) == ""


# What compiles for seconds.
LONG_FIT = """
from mauc import FisherScore
print(FisherScore(1).fit([[0.0], [1.0]] * 9, [0, 1] * 9).ranking_)
"""


def test_a_user_at_a_terminal_reads_one_line(tmp_path):
    code, text, _ = run_on_terminal(LONG_FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert code == 0, text
    assert text.count("mauc: compiling loops (once; mauc warmup") == text.count("mauc:") == 1
    code, text, _ = run_on_terminal(LONG_FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert text.strip() == "[0]"


def test_functions_of_others_without_a_module_compile():
    names = {}
    exec("def double(x):\n    return 2 * x", names)
    assert numba.njit(names["double"])(3) == 6
