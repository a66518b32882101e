"""`--engine dask`: the same result from workers, and errors in the words of the options."""

import pytest

from tests.helpers.cli_helpers import refusal, run, run_json

# Sockets of connections that distributed tried in vain are closed by the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_workers_on_this_machine_find_the_same(rows_file, tmp_path):
    words = ("rank", rows_file, "--target", "label", "-m", "maucd", "-k", "5", "--pairs")
    expected = run_json(*words, tmp_path / "a.csv")
    found = run_json(*words, tmp_path / "b.csv", "--engine", "dask", "--jobs", "2")
    assert found["features"] == expected["features"]
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_scheduler_that_runs_already(rows_file):
    from distributed import LocalCluster

    words = ("select", rows_file, "--target", "label", "-m", "mdfs", "-k", "4")
    with LocalCluster(1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        address = cluster.scheduler_address
        found = run_json(*words, "--engine", "dask", "--scheduler", address, "--memory", "10MB")
    assert found == run_json(*words)


def test_options_that_do_not_go_together(rows_file):
    words = ("select", rows_file, "--target", "label")
    result = run(*words, "--engine", "dusk", code=2)
    assert "--engine must be one of local, dask, got 'dusk'; did you mean 'dask'?" in result.stderr
    result = run(*words, "--scheduler", "tcp://a:1", code=2)
    assert "--scheduler goes with --engine dask, got 'tcp://a:1' without it" in result.stderr
    words = (*words, "--engine", "dask")
    result = run(*words, "--scheduler", "tcp://a:1", "-j", "3", code=2)
    assert "--jobs 3 goes with workers that are started here" in result.stderr
    assert "workers of Dask read the columns in blocks" in refusal(*words, "-k", "auto")
    result = run("select", "siren", "--engine", "dask", code=2)
    assert "--engine dask goes with files, folders and addresses" in result.stderr


def test_a_scheduler_that_does_not_answer(rows_file, monkeypatch):
    monkeypatch.setattr("mauc.cluster.connect.CONNECT_SECONDS", 0.5)
    words = ("select", rows_file, "--target", "label", "--engine", "dask")
    result = run(*words, "--scheduler", "tcp://127.0.0.1:9", code=2)
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in result.stderr
