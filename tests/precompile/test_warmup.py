"""A warm-up compiles what there is, and a second one finds it all."""

import json
import os
import subprocess
import sys

import pytest

import mauc
from mauc.compilation.once import called_kernels
from mauc.exceptions import MaucError
from mauc.precompile import jobs, warmup
from mauc.registry import CLASSIFIERS, SELECTORS

CLI = "from mauc.cli import main; main()"


def run_command(cache, *words):
    return subprocess.run(
        [sys.executable, "-c", CLI, "warmup", *words], capture_output=True, text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )  # fmt: skip


def test_a_second_warm_up_compiles_nothing(tmp_path):
    words = ("--methods", "fisher", "--progress", "lines")
    first = run_command(tmp_path / "cache", *words)
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("1 methods: ")
    assert " 0 were there, in " in first.stdout
    assert f"cache: {tmp_path / 'cache'}\n" in first.stdout
    assert "mauc: 1/1 jobs, " in first.stderr
    second = json.loads(run_command(tmp_path / "cache", *words, "--json").stdout)
    assert second["n_compiled"] == 0
    # `has_ties` is also a part of another loop: compiled with it at first, loaded by itself now.
    n_compiled = int(first.stdout.split()[2])
    assert 0 <= second["n_found"] - n_compiled <= 1
    assert second["n_found"] > 3
    assert second["cache"] == str(tmp_path / "cache")


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    done = run_command(tmp_path / "file", "--methods", "fisher")
    assert done.returncode == 2
    assert f"the cache folder {tmp_path / 'file'} (NUMBA_CACHE_DIR) cannot be" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["mdsf"]}, "a method must be one of .* did you mean 'mdfs'"),
        ({"methods": []}, "at least one method"),
        ({"methods": "mdfs", "n_jobs": 0}, "n_jobs must be at least 1"),
        ({"methods": "mdfs", "progress": "loud"}, "progress must be one of"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(MaucError, match=message):
        mauc.warmup(**options)


def test_every_method_is_a_job():
    assert sorted(jobs.job_names()) == sorted([*SELECTORS, *CLASSIFIERS, jobs.FUNCTIONS])


def test_a_job_that_fails_is_named(monkeypatch):
    monkeypatch.setattr(
        "mauc.precompile.processes._PROGRAM",
        'print(\'{"error": "OSError: no space", "called": [], "compiled": []}\')',
    )
    with pytest.raises(MaucError, match="mdfs could not be compiled: OSError: no space"):
        warmup("mdfs", progress="quiet")
    monkeypatch.setattr("mauc.precompile.processes._PROGRAM", "raise SystemExit('no memory')")
    with pytest.raises(MaucError, match="process that compiled mdfs ended: no memory"):
        warmup("mdfs", progress="quiet")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["fisher", "nb", jobs.FUNCTIONS])
def test_jobs_run_in_any_process(name):
    jobs.do_job(name)
    assert all(key.startswith("mauc.") for key in called_kernels())
