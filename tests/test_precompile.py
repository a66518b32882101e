"""A warm-up compiles what there is, and a second one finds it all."""

import json
import os
import subprocess
import sys

import pytest

import mauc
from mauc import precompile
from mauc.exceptions import MaucError
from mauc.precompile import warmup
from mauc.registry import CLASSIFIERS, SELECTORS

CLI = "from mauc.cli import main; main()"
# Not guarded by `if __name__ == "__main__"`: processes must not run it again.
SCRIPT = """
import mauc
print(mauc.warmup(["1nn", "nb"], n_jobs=2, progress="quiet").n_methods)
"""


def run(cache, *words):
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )


def test_a_second_warm_up_compiles_nothing(tmp_path):
    words = ("-c", CLI, "warmup", "--methods", "1nn", "--progress", "lines")
    first = run(tmp_path / "cache", *words)
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("1 methods: ")
    assert " 0 were there, in " in first.stdout
    assert f"cache: {tmp_path / 'cache'}\n" in first.stdout
    if float(first.stdout.split(" s\n")[0].split()[-1]) > 3:  # lines begin after two seconds
        assert "mauc: compiling 0:00:02, 0/1 methods" in first.stderr
    second = json.loads(run(tmp_path / "cache", *words, "--json").stdout)
    assert second["n_compiled"] == 0
    # Kernels that others call come along with them.
    assert 0 < second["n_found"] <= int(first.stdout.split()[2])
    assert second["cache"] == str(tmp_path / "cache")


def test_an_unguarded_script_may_warm_up_in_processes(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = run(os.environ["NUMBA_CACHE_DIR"], str(tmp_path / "script.py"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2\n"


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    done = run(tmp_path / "file", "-c", CLI, "warmup", "--methods", "fisher")
    assert done.returncode == 2
    assert f"cannot be kept in {tmp_path / 'file'} (File exists); set the" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["mdsf"]}, "a method must be one of .* did you mean 'mdfs'"),
        ({"methods": []}, "at least one method"),
        ({"methods": "mdfs", "n_jobs": 0}, "n_jobs must be an int of at least 1"),
        ({"methods": "mdfs", "progress": "loud"}, "progress must be one of"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(MaucError, match=message):
        mauc.warmup(**options)


def test_every_method_is_a_job():
    assert set(precompile._check_jobs(None)) == {*SELECTORS, *CLASSIFIERS, precompile._FUNCTIONS}


def fail(name):
    raise OSError("no space")


def test_a_method_that_fails_is_named(monkeypatch):
    monkeypatch.setattr(precompile, "_fit_selector", fail)
    with pytest.raises(MaucError, match="mdfs could not be compiled: OSError: no space"):
        warmup("mdfs", n_jobs=1, progress="quiet")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["fisher", "nb", precompile._FUNCTIONS])
def test_jobs_run_in_any_process(name):
    for kernels in precompile._do_job(name):
        assert all(kernel.startswith("mauc.") for kernel in kernels)
