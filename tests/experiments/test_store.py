"""A run folder: damage is seen and named, plans may grow but not change."""

import json
import shutil
import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from mauc import load_run
from mauc.exceptions import DamagedShardError, IncompleteRunWarning, MaucError
from mauc.experiments import Cell, DatasetSpec, MethodSpec, TuningSpec, run_plan
from mauc.experiments.rows import schema
from mauc.experiments.store import RunFolder
from tests.helpers.run_tools import (
    NOT_RESULTS,
    ROOT,
    assert_same_results,
    crashing,
    make_plan,
    results,
    run_quietly,
)

pytestmark = pytest.mark.long

PLAN = make_plan(selectors=("mdfs", "chi"), classifiers=("nb",))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("done") / "run"
    run_quietly(PLAN, folder)
    return folder


@pytest.fixture
def run(done, tmp_path):
    return shutil.copytree(done, tmp_path / "run")


def shard_of(run, dataset="wine", repeat=0, fold=0):
    return RunFolder(run).shard(Cell(dataset, repeat, fold))


def test_a_run_folder_holds_what_its_documents_say(done):
    names = {path.name for path in done.iterdir() if not path.name.startswith(".")}
    assert names == {"plan.toml", "plan.json", "provenance.json", "cells"}
    files = sorted(str(path.relative_to(done)) for path in done.rglob("*.parquet"))
    assert files == [
        f"cells/{name}/r000_f00{i}.parquet" for name in ("iris", "wine") for i in range(3)
    ]
    provenance = json.loads((done / "provenance.json").read_text())
    assert provenance["datasets"]["wine"]["n_features"] == 13
    assert len(provenance["starts"]) == 1


def test_rows_come_in_the_order_of_the_plan_with_the_columns_of_the_contract(done):
    rows = load_run(done)
    assert list(rows.columns) == [
        "dataset",
        "repeat",
        "fold",
        "selector",
        "classifier",
        "size",
        "mauc",
        "select_seconds",
        "fit_seconds",
        "score_seconds",
        "features",
        "status",
        "error",
        "n_train",
        "n_test",
        "n_features",
        "seed",
        "versions",
    ]
    keys = rows[["dataset", "fold", "selector", "size"]].to_records(index=False).tolist()
    assert keys == [
        (dataset, fold, selector, size)
        for dataset in ("wine", "iris")
        for fold in range(3)
        for selector in ("mdfs", "chi")
        for size in (2, 4)
    ]
    assert rows.features[1].tolist()[:2] == rows.features[0].tolist()


def test_pandas_polars_arrow_and_plain_parquet_agree(done):
    import polars as pl

    table = load_run(done, frame="arrow")
    frame = load_run(done, frame="polars")
    assert isinstance(frame, pl.DataFrame)
    assert frame["mauc"].to_list() == table["mauc"].to_pylist() == load_run(done).mauc.tolist()
    assert frame["features"].to_list() == table["features"].to_pylist()
    # As DuckDB would: the files themselves, without this library.
    plain = pyarrow.dataset.dataset(done / "cells", format="parquet").to_table()
    assert plain.num_rows == table.num_rows
    assert sorted(plain["mauc"].to_pylist()) == sorted(table["mauc"].to_pylist())
    with pytest.raises(MaucError, match="frame must be"):
        load_run(done, frame="numpy")


def test_what_is_no_run_or_not_whole_is_said(run, tmp_path):
    with pytest.raises(MaucError, match=r"nowhere is not a run folder: it has no plan\.json"):
        load_run(tmp_path / "nowhere")
    shard_of(run).unlink()
    with pytest.warns(IncompleteRunWarning, match="has 5 of 6 cells; run its plan again"):
        assert len(load_run(run)) == 20
    shutil.rmtree(run / "cells")
    with pytest.warns(IncompleteRunWarning, match="has 0 of 6 cells"):
        assert len(load_run(run)) == 0
    (run / "plan.json").write_text("{}")
    with pytest.raises(MaucError, match=r"plan\.json is not a plan"):
        load_run(run)
    (run / "plan.json").write_text("{")
    with pytest.raises(MaucError, match=r"plan\.json cannot be read"):
        load_run(run)


def test_a_folder_written_by_the_first_version_is_read_and_resumed(tmp_path):
    # golden/run has four of the eight cells of its plan, as version 0.1.0 wrote them.
    folder = shutil.copytree(ROOT / "tests" / "golden" / "run", tmp_path / "run")
    with pytest.warns(IncompleteRunWarning, match="has 4 of 8 cells"):
        assert len(load_run(folder)) == 3 * 30 + 45
    summary = run_quietly(folder / "plan.toml", folder)
    assert (summary.n_run, summary.n_damaged, summary.n_failed) == (4, 0, 0)
    run_quietly(folder / "plan.toml", tmp_path / "anew")
    assert_same_results(results(folder), results(tmp_path / "anew"))
    tuned = [path / "tuning" / "w.json" for path in (folder, tmp_path / "anew")]
    assert tuned[0].read_bytes() == tuned[1].read_bytes()


def other_run(run, name, **changes):
    folder = run.with_name(name)
    run_quietly(replace(PLAN, **changes), folder)
    return folder


def altered_table(path):
    """A shard whose rows were changed by a tool that keeps everything else."""
    table = pq.read_table(path, partitioning=None)
    mauc = pa.array(np.array(table["mauc"]) + 1e-9)
    return table.set_column(table.column_names.index("mauc"), "mauc", mauc)


DAMAGES = {
    "truncated": lambda path, run: path.write_bytes(path.read_bytes()[:-100]),
    "empty": lambda path, run: path.write_bytes(b""),
    "zeros": lambda path, run: path.write_bytes(bytes(path.stat().st_size)),
    "foreign": lambda path, run: pq.write_table(pa.table({"x": [1, 2]}), path),
    "no rows": lambda path, run: pq.write_table(schema().empty_table(), path),
    "altered": lambda path, run: pq.write_table(altered_table(path), path),
    "swapped": lambda path, run: shutil.copy(shard_of(run, fold=1), path),
    "other data set": lambda path, run: shutil.copy(shard_of(run, "iris"), path),
    "other seed": lambda path, run: shutil.copy(shard_of(other_run(run, "s", seed=1)), path),
    "other options": lambda path, run: shutil.copy(
        shard_of(other_run(run, "p", selectors=(MethodSpec("mdfs", "maucd"), MethodSpec("chi")))),
        path,
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_shard_is_named_and_computed_anew(run, capsys, damage):
    before, path = results(run), shard_of(run)
    DAMAGES[damage](path, run)
    with pytest.raises(DamagedShardError) as caught:
        load_run(run)
    assert str(path) in str(caught.value)
    summary = run_plan(PLAN, run, engine="serial", n_jobs=1, progress="lines")
    assert (summary.n_run, summary.n_damaged) == (1, 1)
    said = capsys.readouterr().err
    assert str(path) in said
    assert "It is computed anew." in said
    assert_same_results(results(run), before)


def test_a_shard_of_the_same_experiment_may_come_from_another_folder(run, tmp_path):
    run_quietly(PLAN, tmp_path / "twin")
    shutil.copy(shard_of(tmp_path / "twin"), shard_of(run))
    assert run_quietly(PLAN, run).n_run == 0


@pytest.mark.parametrize(
    "n_flips", [pytest.param(400), pytest.param(20000, marks=pytest.mark.slow)]
)
def test_a_flipped_bit_is_seen_or_changes_no_row(run, rng, n_flips):
    path, cell, folder = shard_of(run), Cell("wine", 0, 0), RunFolder(run)
    content, expected = path.read_bytes(), folder.read(cell)
    n_seen, n_same = 0, 0
    for place, bit in zip(
        rng.integers(len(content), size=n_flips), rng.integers(8, size=n_flips), strict=True
    ):
        damaged = bytearray(content)
        damaged[place] ^= 1 << bit
        path.write_bytes(damaged)
        try:
            table = folder.read(cell)
        except DamagedShardError as error:
            n_seen += str(path) in str(error)
        else:
            assert_same_results(table, expected)
            n_same += 1
    assert n_seen + n_same == n_flips
    assert n_seen > n_flips / 3


def test_a_killed_write_leaves_nothing_that_counts(run):
    shard = shard_of(run)
    part = shard.with_name(f".{shard.name}.{'0' * 32}.part")
    part.write_bytes(b"half a sha")
    assert len(load_run(run)) == 24
    pyarrow.dataset.dataset(run / "cells", format="parquet").to_table()
    run_quietly(PLAN, run)
    assert not part.exists()


def grown(**changes):
    return replace(PLAN, **changes)


@pytest.mark.parametrize(
    ("plan", "n_run", "n_rows"),
    [
        (grown(datasets=(DatasetSpec("digits"), *PLAN.datasets)), 3, 36),
        (grown(repeats=2), 6, 48),
        (grown(selectors=(MethodSpec("maucd"), *PLAN.selectors)), 6, 36),
        (grown(classifiers=(MethodSpec("1nn"), *PLAN.classifiers)), 6, 48),
        (grown(name="another name"), 0, 24),
        (grown(selectors=PLAN.selectors[::-1]), 0, 24),
        (grown(tuning=TuningSpec(scope="fold")), 0, 24),
        (grown(datasets=(DatasetSpec("wine"), DatasetSpec("iris", "iris"))), 0, 24),
    ],
    ids=["data set", "repeat", "selector", "classifier", "name", "order", "idle tuning", "source"],
)
def test_a_plan_may_grow_and_the_old_rows_stay_bit_for_bit(run, tmp_path, plan, n_run, n_rows):
    before = load_run(run)
    summary = run_quietly(plan, run)
    assert (summary.n_run, summary.n_rows) == (n_run, n_rows)
    after = load_run(run)
    keys = ["dataset", "repeat", "fold", "selector", "classifier", "size"]
    both = before.merge(after, on=keys, suffixes=("", "_now"))
    assert len(both) == len(before)
    for column in (*NOT_RESULTS, "mauc", "seed", "n_train"):  # the old seconds too
        assert both[column].tolist() == both[f"{column}_now"].tolist(), column
    assert [list(x) for x in both.features] == [list(x) for x in both.features_now]
    # And the whole is what the grown plan gives at once, in its order.
    run_quietly(plan, tmp_path / "anew")
    assert_same_results(results(run), results(tmp_path / "anew"))


def test_a_run_that_has_not_grown_up_yet_warns(run):
    folder = RunFolder(run)
    plan = grown(selectors=(*PLAN.selectors, MethodSpec("maucd")))
    run_quietly(plan, run)
    # As if it had been killed after the first cell.
    for fold in (1, 2):
        cell = Cell("wine", 0, fold)
        table = folder.read(cell)
        folder.write(
            cell, table.filter([name != "maucd" for name in table["selector"].to_pylist()])
        )
    with pytest.warns(IncompleteRunWarning, match="4 of 6 cells, and parts of 2; run its plan"):
        load_run(run)
    assert run_quietly(plan, run).n_run == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_run(run)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (grown(seed=1), "seed: 0 -> 1"),
        (grown(folds=4), "folds: 3 -> 4"),
        (grown(max_rows=100), "max_rows: None -> 100"),
        (grown(sizes=(2, 4, 8)), r"sizes: \[2, 4\] -> \[2, 4, 8\]"),
        (grown(datasets=PLAN.datasets[:1]), r"datasets: iris -> \(gone\)"),
        (grown(selectors=PLAN.selectors[1:]), r"selectors: mdfs -> \(gone\)"),
        (
            grown(selectors=(MethodSpec("mdfs", options={"ties": "mauc"}), PLAN.selectors[1])),
            r"selectors, mdfs, options: {} -> {'ties': 'mauc'}",
        ),
        (grown(classifiers=(MethodSpec("nb", "1nn"),)), "classifiers, nb, method: nb -> 1nn"),
        (
            grown(datasets=(DatasetSpec("wine", "digits"), PLAN.datasets[1])),
            "data of wine: [0-9a-f]{12} -> [0-9a-f]{12}",
        ),
    ],
)
def test_a_changed_plan_is_refused_with_the_difference(run, plan, message):
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with pytest.raises(MaucError, match=f"(?s)holds a run of another plan.*{message}"):
        run_quietly(plan, run)
    after = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert after == before
    run_quietly(PLAN, run)


def test_repeats_and_what_the_machine_was_tuned_on_must_stay(tmp_path):
    tuning = TuningSpec(max_samples=50, n_folds=2)
    plan = make_plan(
        datasets=("iris",),
        selectors=("mdfs", "chi"),
        classifiers=("svm",),
        repeats=2,
        folds=2,
        tuning=tuning,
    )
    run_quietly(plan, tmp_path)
    for changed, message in (
        (replace(plan, repeats=1), "repeats: 2 -> 1"),
        (replace(plan, tuning=replace(tuning, n_folds=3)), "tuning n_folds: 2 -> 3"),
        (replace(plan, selectors=plan.selectors[::-1]), "first selector.*mdfs -> chi"),
    ):
        with pytest.raises(MaucError, match=message):
            run_quietly(changed, tmp_path)


def test_changed_data_are_refused_and_moved_data_are_not(tmp_path):
    path = tmp_path / "data.csv"
    lines = ["a,b,label", *(f"{i % 7},{i * i % 11},{'xyz'[i % 3]}" for i in range(60))]
    path.write_text("\n".join(lines))

    def plan(source):
        spec = DatasetSpec("mine", str(source), "label")
        return make_plan(datasets=(spec,), sizes=(1, 2))

    run_quietly(plan(path), tmp_path / "run")
    moved = path.rename(tmp_path / "moved.csv")
    assert run_quietly(plan(moved), tmp_path / "run").n_run == 0
    moved.write_text("\n".join(lines).replace("6,", "5,"))
    with pytest.raises(MaucError, match="data of mine: "):
        run_quietly(plan(moved), tmp_path / "run")


def test_tuned_parameters_are_kept_and_a_damaged_file_is_made_anew(tmp_path):
    plan = make_plan(
        datasets=("iris",),
        selectors=("mdfs",),
        classifiers=("svm",),
        folds=2,
        tuning=TuningSpec(max_samples=50, n_folds=2),
    )
    run_quietly(plan, tmp_path)
    before = results(tmp_path)
    path = tmp_path / "tuning" / "iris.json"
    content = path.read_text()
    kept = json.loads(content)
    kept["4"]["C"] *= 2
    for damaged in ("", "{", "[]", '{"4": {"C": 1}}', json.dumps(kept), "\udcff"):
        path.write_text(damaged, errors="surrogateescape")
        shard_of(tmp_path, "iris").unlink()
        run_quietly(plan, tmp_path)
        assert_same_results(results(tmp_path), before)
        assert path.read_text() == content


def test_a_foreign_folder_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    (tmp_path / ".film.part").write_text("a download")
    with pytest.raises(MaucError, match=r"has files that are not of a run, such as \.film\.part"):
        run_quietly(PLAN, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"thesis.tex", ".film.part"}
    with pytest.raises(MaucError, match="cannot be a run folder"):
        run_quietly(PLAN, tmp_path / "thesis.tex")


@pytest.mark.parametrize("n_written", range(3))
def test_a_start_killed_while_it_opens_the_folder_can_go_on(tmp_path, monkeypatch, n_written):
    from mauc.experiments import store

    class Killed(BaseException):
        pass

    def write_some(path, *arguments, **options):
        nonlocal n_written
        if path.name != ".owner":
            if not n_written:
                (path.parent / f".{path.name}.{'0' * 32}.part").touch()
                raise Killed
            n_written -= 1
        return write(path, *arguments, **options)

    write = store.write_atomic
    with monkeypatch.context() as patched:
        patched.setattr(store, "write_atomic", write_some)
        with pytest.raises(Killed):
            run_quietly(PLAN, tmp_path)
    assert run_quietly(PLAN, tmp_path).n_run == 6


def test_strange_names_make_files_and_come_back(tmp_path):
    name = 'a "b" c:*?<>|% é 中'
    plan = make_plan(
        datasets=(DatasetSpec(name, "wine"),),
        selectors=(MethodSpec(name, "mdfs"),),
        classifiers=(MethodSpec(name, "nb"),),
        folds=2,
    )
    run_quietly(plan, tmp_path)
    rows = load_run(tmp_path)
    assert set(rows.dataset) == set(rows.selector) == set(rows.classifier) == {name}
    assert run_quietly(tmp_path / "plan.toml", tmp_path).n_run == 0
    for path in (tmp_path / "cells").iterdir():
        assert not set(path.name) & set('"*?<>|:')


def test_rows_can_be_read_where_their_methods_are_not_installed(tmp_path):
    plan = make_plan(datasets=("iris",), selectors=(crashing("VarianceSelector"),), folds=2)
    run_quietly(plan, tmp_path)
    path = tmp_path / "plan.json"
    path.write_text(path.read_text().replace("tests.helpers.crashing_methods", "not_here_at_all"))
    with pytest.raises(DamagedShardError, match="is of another run"):
        load_run(tmp_path)  # the definition changed, but nothing was imported
