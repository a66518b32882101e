"""Keep a run as a few files, and make a run folder of them again.

A run folder has a file per fold, and every row repeats the features of the smaller sizes. Here a
data set is one Parquet file, and a ranking is kept once. Beside it lie the plan, what is known of
the data and of every start (date, versions, machine), and what was tuned.
"""

import shutil
import warnings
from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mauc.exceptions import IncompleteRunWarning, MaucError
from mauc.experiments import Cell, Row, RunFolder, load_run

FILES = ("plan.toml", "plan.json", "provenance.json")
FOLD = ["repeat", "fold"]
RANKED = [*FOLD, "selector"]
SECONDS = ["select_seconds", "fit_seconds", "score_seconds"]
NARROW = {
    "repeat": "int16",
    "fold": "int16",
    "size": "int16",
    "n_train": "int32",
    "n_test": "int32",
    "n_features": "int32",
    **dict.fromkeys(SECONDS, "float32"),
}


def load_part(run, frame="pandas"):
    """Return the rows of a run that may lack cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteRunWarning)
        return load_run(run, frame=frame)


def keep_run(run, folder):
    """Write what a run folder has, whole or not, to a folder of few files.

    A data set with as many rows as are kept already is left as it is: rows never change.
    """
    run, folder = Path(run), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    has_news = not all((folder / name).is_file() for name in FILES)
    for dataset, rows in load_part(run).groupby("dataset", sort=False):
        path = folder / f"{dataset}.parquet"
        n_kept = pq.read_metadata(path).num_rows if path.is_file() else 0
        if n_kept < len(rows):
            write_packed(rows, path)
            has_news = True
    if has_news:
        for name in FILES:
            shutil.copyfile(run / name, folder / name)
        if (run / "tuning").is_dir():
            shutil.copytree(run / "tuning", folder / "tuning", dirs_exist_ok=True)


def restore_run(folder, run):
    """Make a run folder of what `keep_run` wrote; running its plan computes what is missing."""
    folder, run = Path(folder), Path(run)
    if run.exists():
        raise MaucError(f"{run} must not exist yet, so that nothing in it is lost.")
    part = run.with_name(f"{run.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for name in FILES:
        shutil.copyfile(folder / name, part / name)
    if (folder / "tuning").is_dir():
        shutil.copytree(folder / "tuning", part / "tuning")
    store, schema = RunFolder(part), load_part(part, "arrow").schema
    for path in sorted(folder.glob("*.parquet")):
        rows = read_packed(path)
        for (repeat, fold), cell_rows in rows.groupby(FOLD, sort=False):
            table = pa.Table.from_pandas(cell_rows, schema=schema, preserve_index=False)
            table = table.replace_schema_metadata(None)
            store.write(Cell(path.stem, int(repeat), int(fold)), table)
    part.rename(run)


def write_packed(rows, path):
    """Write the rows of a data set, each ranking once and seconds to 10 microseconds."""
    rows = rows.copy()
    rows[SECONDS] = rows[SECONDS].round(5)
    rankings = {}
    n_used = rows["features"].map(lambda features: 0 if features is None else len(features))
    for _, group in rows.groupby(RANKED, sort=False):
        longest = n_used[group.index].idxmax()
        ranking = rankings[longest] = rows.at[longest, "features"]
        for features in group["features"]:
            if features is not None and not np.array_equal(features, ranking[: len(features)]):
                raise MaucError(f"{path}: the features of a size must begin its ranking.")
    kept = [rankings.get(line) for line in rows.index]
    rows = rows.assign(n_used=n_used.astype("int16"), features=kept)
    table = pa.Table.from_pandas(rows.drop(columns="dataset").astype(NARROW), preserve_index=False)
    table = table.replace_schema_metadata(None)
    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=19,
        use_byte_stream_split=["mauc"],
        use_dictionary=[name for name in table.column_names if name not in ("mauc", "features")],
    )


def read_packed(path):
    """Return the rows of a data set as a run folder has them."""
    rows = pq.read_table(path).to_pandas()
    rankings = rows[rows["features"].notna()].set_index(RANKED)["features"]
    keys = rows[RANKED].itertuples(index=False, name=None)
    rows["features"] = [
        rankings[key][:n_used] if n_used else None
        for key, n_used in zip(keys, rows.pop("n_used"), strict=True)
    ]
    return rows.assign(dataset=Path(path).stem)[[item.name for item in fields(Row)]]
