"""Runs without a folder: the same rows, nothing written, and no data set read twice."""

import os

import pytest
from pandas.testing import assert_frame_equal

from mauc import load_run
from mauc.datasets import load_dataset
from mauc.exceptions import MaucError
from mauc.experiments import DatasetSpec, TuningSpec, run_plan
from mauc.experiments import data as data_module
from tests.helpers.run_tools import NOT_RESULTS, crashing, make_plan

WINE = load_dataset("wine")
# No file and no bundled set has this name: whoever were to read it would fail.
PLAN = make_plan(
    datasets=(DatasetSpec("mine", "nowhere.csv"),), classifiers=("nb", "svm"), folds=2,
    tuning=TuningSpec(max_samples=50, n_folds=2),
)  # fmt: skip


@pytest.fixture
def reads(monkeypatch):
    """The sources that the driver, and workers in this process, have read."""
    found = []

    def load_and_count(source, *arguments, **options):
        found.append(source)
        return load_dataset(source, *arguments, **options)

    monkeypatch.setattr(data_module, "load_dataset", load_and_count)
    data_module._read.clear()
    return found


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """The working directory, and where temporary files would go."""
    monkeypatch.chdir(tmp_path)
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folder") / "run"
    run_plan(PLAN, folder, engine="serial", n_jobs=1, progress="quiet", data={"mine": WINE})
    return load_run(folder)


@pytest.mark.parametrize(("engine", "n_jobs"), [("serial", 1), ("processes", 2)])
def test_a_run_in_memory_has_the_rows_of_a_folder_and_writes_nothing(
    reads, empty_folder, expected, engine, n_jobs
):
    summary = run_plan(PLAN, engine=engine, n_jobs=n_jobs, progress="quiet", data={"mine": WINE})
    assert (summary.folder, summary.n_run, summary.n_failed) == (None, 2, 0)
    assert str(summary).startswith("in memory: 2 cells, 2 run now")
    got, wanted = (rows.drop(columns=NOT_RESULTS) for rows in (summary.rows, expected))
    assert_frame_equal(got, wanted, check_exact=True)
    assert reads == []
    assert os.listdir(empty_folder) == []


@pytest.mark.parametrize("is_in_memory", [True, False])
def test_a_process_reads_a_data_set_once(reads, tmp_path, is_in_memory):
    folder = None if is_in_memory else tmp_path / "run"
    run_plan(make_plan(), folder, engine="serial", progress="quiet")
    assert reads == ["wine", "iris"]
    data_module.find_data(make_plan(), "wine", WINE.fingerprint())
    data_module.find_data(make_plan(), "wine", WINE.fingerprint())
    assert reads == ["wine", "iris", "wine"]


def test_a_file_that_changed_since_it_was_read_is_not_taken_from_memory(tmp_path):
    path = tmp_path / "data.csv"
    lines = ["a,b,label", *(f"{i % 7},{i * i % 11},{'xyz'[i % 3]}" for i in range(60))]
    plan = make_plan(datasets=(DatasetSpec("mine", str(path), "label"),))
    for text in ("\n".join(lines), "\n".join(lines).replace("6,", "5,")):
        path.write_text(text)
        fingerprint = load_dataset(path, "label").fingerprint()
        assert data_module.find_data(plan, "mine", fingerprint).fingerprint() == fingerprint


@pytest.mark.skipif(os.name != "posix", reason="kills a process as POSIX does")
def test_a_worker_in_place_of_a_dead_one_gets_the_data_too(tmp_path):
    mark = tmp_path / "mark"
    dying = crashing("DyingOnceSelector", mark=str(mark))
    plan = make_plan(datasets=PLAN.datasets, selectors=(dying,), folds=2)
    summary = run_plan(plan, n_jobs=1, progress="quiet", data={"mine": WINE})
    assert mark.exists()
    assert (summary.n_run, summary.n_failed) == (2, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": {"wins": WINE}}, "a name in data .* did you mean 'wine'"),
        ({"data": {"wine": WINE}, "engine": "dask"}, "data= goes with local engines"),
    ],
)
def test_data_that_no_worker_would_get_are_refused(options, message):
    with pytest.raises(MaucError, match=message):
        run_plan(make_plan(datasets=("wine",)), progress="quiet", **options)
