"""Where a run keeps its plan and rows: a folder with one Parquet shard per cell, or memory."""

import contextlib
import io
import json
import os
import platform
import socket
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mauc.checks import check_choice
from mauc.exceptions import (
    DamagedShardError,
    IncompleteRunWarning,
    MaucError,
    first_line,
    warn_user,
)
from mauc.experiments.cell import Tuned
from mauc.experiments.plan import Cell, Plan, is_tuned, plan_to_dict, plan_to_toml
from mauc.experiments.rows import combinations_of, in_plan_order, schema, versions
from mauc.extras import optional_import
from mauc.files import is_part, locked, remove_parts, write_atomic

if TYPE_CHECKING:
    import pyarrow as pa

Described = dict[str, dict[str, Any]]  # what `describe` returned for each data set, by name
Stamp = dict[str, str]
_DIGEST, _STAMP = b"mauc.digest", b"mauc.origin"
_LOCK_SECONDS = 0.2  # another run may be at its very end
_PARTS = ("datasets", "selectors", "classifiers")


def load_run(path: str | Path, *, frame: str = "pandas") -> Any:
    """Read the rows of a run, one per measurement.

    Parameters
    ----------
    path : str or Path
        The run folder.
    frame : {"pandas", "polars", "arrow"}, default="pandas"

    Returns
    -------
    rows : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Columns of `mauc.experiments.Row`, in the order of the plan whatever order the cells ran
        in. Rows of failed combinations have status "failed", their error, and MAUC NaN.

    Raises
    ------
    MaucError
        If a shard is damaged; it names the file. Running the plan again computes it anew.

    Warns
    -----
    IncompleteRunWarning
        If cells of the plan, or some of their selectors or classifiers, have not been run yet.

    Notes
    -----
    The shards are plain Parquet, for DuckDB too:
    ``SELECT selector, avg(mauc) FROM 'run/cells/*/*.parquet' GROUP BY selector``.
    """
    check_choice("frame", frame, ("pandas", "polars", "arrow"))
    table = _collect_rows(RunFolder(path))
    if frame == "polars":
        return optional_import("polars", "polars data frames").from_arrow(table)
    return table.to_pandas() if frame == "pandas" else table


def _collect_rows(store: "RunFolder") -> "pa.Table":
    """Return the rows of all cells of a run, in the order of its plan."""
    import pyarrow as pa

    # The names alone: reading rows must not require that the methods of a plan can be imported.
    plan = store.read_plan()
    datasets, selectors, classifiers = ([spec["name"] for spec in plan[part]] for part in _PARTS)
    cells = [
        Cell(name, repeat, fold)
        for name in datasets
        for repeat in range(plan["repeats"])
        for fold in range(plan["folds"])
    ]
    tables = [store.read(cell) for cell in cells if store.has(cell)]
    n_combinations = len(selectors) * len(classifiers)
    n_whole = sum(len(set(combinations_of(table))) == n_combinations for table in tables)
    if n_whole < len(cells):
        warn_user(
            f"{store.path} has {n_whole} of {len(cells)} cells"
            + (f", and parts of {len(tables) - n_whole}" if n_whole < len(tables) else "")
            + "; run its plan again to go on.",
            IncompleteRunWarning,
        )
    ordered = [in_plan_order(table, selectors, classifiers) for table in tables]
    return pa.concat_tables(ordered) if ordered else schema().empty_table()


class RunFolder:
    """The folder of a run.

    ::

        plan.toml         the plan as given
        plan.json         the same with every default spelled out
        provenance.json   data sets with their fingerprints, versions, every start
        tuning/           parameters of the SVM, a file per data set
        cells/            one Parquet shard per cell, a folder per data set
    """

    def __init__(self, path: str | Path) -> None:
        self.path: Path = Path(path)
        self.cells: Path = self.path / "cells"
        self._stamps: dict[str, Stamp] = {}

    @property
    def exists(self) -> bool:
        """Whether there is a run in the folder."""
        return (self.path / "plan.json").is_file()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other run out of the folder; the lock dies with the process."""
        owner = self.path / ".owner"
        with contextlib.ExitStack() as stack:
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                self._refuse_foreign()
                stack.enter_context(locked(self.path / ".lock", _LOCK_SECONDS))
            except TimeoutError as error:
                who = "another process"
                with contextlib.suppress(OSError):
                    who = owner.read_text(encoding="utf-8")
                raise MaucError(
                    f"{self.path} is in use by {who}; wait for it or give another folder."
                ) from error
            except OSError as error:
                raise MaucError(f"{self.path} cannot be a run folder: {error.strerror}.") from error
            stack.callback(owner.unlink, missing_ok=True)
            write_atomic(owner, f"process {os.getpid()} on {socket.gethostname()}", force=True)
            remove_parts(self.path)
            yield

    def _refuse_foreign(self) -> None:
        """Refuse a folder with other files, before the first one is written or removed there."""
        names = {item.name for item in self.path.iterdir() if not is_part(item)}
        foreign = names - {".lock", ".owner"}
        if foreign and not self.exists:
            raise MaucError(
                f"{self.path} has files that are not of a run, such as {min(foreign)}; give "
                "another folder."
            )

    def begin(self, plan: Plan, text: str | None, described: Described) -> None:
        """Write the plan, its text as given, and the provenance, if the plan fits the folder."""
        values, toml = plan_to_dict(plan), text or plan_to_toml(plan)
        provenance: dict[str, Any] = {"datasets": {}, "starts": []}
        if self.exists:
            # A start that was killed between the two files has a plan and no cell yet.
            if (self.path / "provenance.json").exists() or self.cells.exists():
                provenance = self.provenance()
            changes = plan_changes(self.read_plan(), values)
            changes += [
                f"data of {name}: {known['fingerprint'][:12]} -> "
                f"{described[name]['fingerprint'][:12]}"
                for name, known in provenance["datasets"].items()
                if name in described and known["fingerprint"] != described[name]["fingerprint"]
            ]
            if changes:
                raise MaucError(
                    f"{self.path} holds a run of another plan; give another folder. "
                    "What changed:\n  " + "\n  ".join(changes)
                )
        provenance["datasets"].update(described)
        provenance["starts"].append(
            {
                "date": datetime.now(UTC).isoformat(timespec="seconds"),
                "command": " ".join([Path("".join(sys.argv[:1])).name, *sys.argv[1:]]),
                "versions": versions(),
                "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
            }
        )
        # The plan first: a folder with this file is a run, whenever it is killed.
        write_atomic(self.path / "plan.json", _json(values), force=True)
        write_atomic(self.path / "plan.toml", toml, force=True)
        write_atomic(self.path / "provenance.json", _json(provenance), force=True)
        self._stamps = {}

    def read_plan(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        if not self.exists:
            raise MaucError(f"{self.path} is not a run folder: it has no plan.json.")
        plan = _read_json(self.path / "plan.json")
        plan.setdefault("max_rows", None)  # runs from before it was an option
        missing = {item.name for item in fields(Plan)} - set(plan)
        if missing:
            raise MaucError(f"{self.path / 'plan.json'} is not a plan: it lacks {min(missing)}.")
        return plan

    def provenance(self) -> dict[str, Any]:
        """Return what is known of the data sets and the starts of the run."""
        return _read_json(self.path / "provenance.json")

    def shard(self, cell: Cell) -> Path:
        """Return the path of the rows of a cell."""
        name = f"r{cell.repeat:03d}_f{cell.fold:03d}.parquet"
        return self.cells / quote(cell.dataset, safe=" ") / name

    def has(self, cell: Cell) -> bool:
        """Whether the cell has a shard, damaged or not."""
        return self.shard(cell).is_file()

    def write(self, cell: Cell, table: "pa.Table") -> None:
        """Write the rows of a cell, with their digest and stamp, whole or not at all."""
        import pyarrow.parquet as pq

        path, stamp, buffer = self.shard(cell), self._stamp(cell.dataset), io.BytesIO()
        path.parent.mkdir(parents=True, exist_ok=True)
        needed = {key: stamp[key] for key in sorted(_stamp_keys(table))}
        table = table.replace_schema_metadata(
            {_DIGEST: table_digest(table).encode(), _STAMP: json.dumps(needed).encode()}
        )
        pq.write_table(table, buffer, compression="zstd", write_page_checksum=True)
        write_atomic(path, buffer.getvalue(), force=True)

    def read(self, cell: Cell) -> "pa.Table":
        """Return the rows of a cell; `DamagedShardError` names a file that was altered."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path, stamp = self.shard(cell), self._stamp(cell.dataset)

        def damaged(why: str) -> DamagedShardError:
            return DamagedShardError(f"the shard {path} {why}.")

        try:
            # Read through Python: pyarrow could take a path for a partitioned data set.
            content = pa.BufferReader(path.read_bytes())
            table = pq.ParquetFile(content, page_checksum_verification=True).read()
            metadata = table.schema.metadata or {}
            wanted = metadata.get(_DIGEST, b"").decode(errors="replace")
            found = json.loads(metadata.get(_STAMP, b"{}"))
            table = table.replace_schema_metadata(None).cast(schema())
            got = table_digest(table)
        except Exception as error:  # pyarrow raises all kinds on damaged bytes
            raise damaged(f"cannot be read: {first_line(error)}") from error
        if wanted != got:
            raise damaged("was altered: its rows do not have its digest")
        keys = {key: table[key].unique().to_pylist() for key in ("dataset", "repeat", "fold")}
        if keys != {key: [value] for key, value in asdict(cell).items()}:
            raise damaged(f"must hold rows of {cell} alone, got {keys}")
        for key in sorted(_stamp_keys(table) | set(found)):
            if key not in stamp or found.get(key, stamp[key]) != stamp[key]:
                raise damaged(f"is of another run: its {key} differs")
        return table

    def _stamp(self, dataset: str) -> Stamp:
        if not self._stamps:
            plan, known = self.read_plan(), self.provenance()["datasets"]
            self._stamps = {
                name: make_stamp(plan, described["fingerprint"])
                for name, described in known.items()
            }
        if dataset not in self._stamps:
            raise MaucError(f"{self.path / 'provenance.json'} does not know {dataset}.")
        return self._stamps[dataset]

    def read_tuned(self, name: str) -> dict[int, Tuned] | None:
        """Return what was tuned for a data set, or None if that is not there or damaged."""
        try:
            kept = _read_json(self._tuned_path(name))
            if kept.pop("digest") != digest(kept, 16):
                return None
            return {int(size): Tuned(**values) for size, values in kept.items()}
        except (MaucError, KeyError, TypeError, AttributeError):
            return None

    def write_tuned(self, name: str, tuned: dict[int, Tuned]) -> None:
        """Keep what was tuned for a data set."""
        path = self._tuned_path(name)
        path.parent.mkdir(exist_ok=True)
        values = {str(size): asdict(found) for size, found in tuned.items()}
        write_atomic(path, _json({**values, "digest": digest(values, 16)}), force=True)

    def _tuned_path(self, name: str) -> Path:
        return self.path / "tuning" / f"{quote(name, safe=' ')}.json"


def plan_changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return which definitions of an old plan the new one changes or lacks; it may add some."""
    changes = _changed("", old, new, ("seed", "folds", "sizes", "max_rows"))
    if new["repeats"] < old["repeats"]:
        changes += _changed("", old, new, ("repeats",))
    for part in _PARTS:
        now = {spec["name"]: spec for spec in new[part]}
        for spec in old[part]:
            name = spec["name"]
            if name in now:  # sources may move; their content is compared elsewhere
                keys = (key for key in spec if key != "source")
                changes += _changed(f"{part}, {name}, ", spec, now[name], keys)
            else:
                changes.append(f"{part}: {name} -> (gone)")
    if any(is_tuned(spec["method"], spec["options"]) for spec in old["classifiers"]):
        changes += _changed("tuning ", old["tuning"], new["tuning"], old["tuning"])
        if new["tuning"]["scope"].startswith("dataset"):
            what = "first selector, on whose features the SVM is tuned, "
            changes += _changed(what, old["selectors"][0], new["selectors"][0], ("name",))
    return changes


def _changed(what: str, old: dict[str, Any], new: dict[str, Any], keys: Iterable[str]) -> list[str]:
    # As text, NaN is equal to itself, and 1 is neither 1.0 nor true.
    return [
        f"{what}{key}: {old[key]} -> {new[key]}"
        for key in keys
        if digest(old[key]) != digest(new[key])
    ]


def make_stamp(plan: dict[str, Any], fingerprint: str) -> Stamp:
    """Return the digest of every definition that a cell depends on: no shard of other ones fits."""
    stamp = {"split": digest([fingerprint, plan["seed"], plan["folds"], plan["sizes"]])}
    for spec in plan["selectors"]:
        stamp[f"selector {spec['name']}"] = digest([spec["method"], spec["options"]])
    tuning = [plan["tuning"]]
    if plan["tuning"]["scope"].startswith("dataset"):
        tuning.append(plan["selectors"][0])  # the one on whose features the SVM is tuned
    for spec in plan["classifiers"]:
        extra = tuning if is_tuned(spec["method"], spec["options"]) else []
        stamp[f"classifier {spec['name']}"] = digest([spec["method"], spec["options"], *extra])
    return stamp


def digest(value: Any, n_bytes: int = 8) -> str:
    """Return a digest of what JSON can hold."""
    text = json.dumps(value, sort_keys=True)
    return blake2b(text.encode(), digest_size=n_bytes).hexdigest()


def table_digest(table: "pa.Table") -> str:
    """Return a digest of the values of a table, whatever its chunks."""
    import pyarrow as pa

    made = blake2b(digest_size=16)
    for name in table.column_names:
        column = table[name].combine_chunks()
        made.update(f"{name}:{len(column)}:".encode())
        if pa.types.is_list(column.type):
            made.update(column.value_lengths().to_numpy(zero_copy_only=False).tobytes())
            column = column.flatten()
        if pa.types.is_string(column.type):
            made.update(json.dumps(column.to_pylist()).encode())
        else:
            made.update(column.to_numpy(zero_copy_only=False).tobytes())
    return made.hexdigest()


def _stamp_keys(table: "pa.Table") -> set[str]:
    """Return the keys of a stamp that the rows depend on."""
    names = {key: table[key].unique().to_pylist() for key in ("selector", "classifier")}
    return {"split", *(f"{key} {name}" for key in names for name in names[key])}


def _json(values: Any) -> str:
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    except (OSError, ValueError) as error:
        raise MaucError(f"{path} cannot be read: {error}.") from error
