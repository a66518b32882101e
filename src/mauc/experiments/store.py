"""Where a run keeps its plan and rows: a folder with one shard per cell, or memory."""

import contextlib
import json
import os
import platform
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mauc.exceptions import MaucError
from mauc.experiments.plan import Cell, Plan, is_tuned
from mauc.experiments.plan_file import plan_to_dict, plan_to_toml
from mauc.experiments.rows import versions
from mauc.experiments.shards import Stamp, digest, make_stamp, read_shard, shard_path, write_shard
from mauc.experiments.tuning import Tuned
from mauc.files import is_part, remove_parts, write_atomic

if TYPE_CHECKING:
    import pyarrow as pa

Described = dict[str, dict[str, Any]]  # what `describe` returned for each data set, by name


class RunFolder:
    """The folder of a run.

    ::

        plan.toml         the plan as given
        plan.json         the same with every default spelled out
        provenance.json   data sets with their fingerprints, versions, every start
        tuning/           parameters of the SVM, a file per data set
        cells/            one Parquet shard per cell, a folder per data set

    Parameters
    ----------
    path : str or Path
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.cells = self.path / "cells"
        self._stamps: dict[str, Stamp] = {}

    @property
    def exists(self) -> bool:
        """Whether there is a run in the folder."""
        return (self.path / "plan.json").is_file()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other run out of the folder; the lock dies with the process."""
        import filelock

        lock, owner = filelock.FileLock(self.path / ".lock"), self.path / ".owner"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._refuse_foreign()
            lock.acquire(timeout=0)
        except filelock.Timeout as error:
            who = "another process"
            with contextlib.suppress(OSError):
                who = owner.read_text(encoding="utf-8")
            raise MaucError(
                f"{self.path} is in use by {who}; wait for it or give another folder."
            ) from error
        except OSError as error:
            raise MaucError(f"{self.path} cannot be a run folder: {error.strerror}.") from error
        try:
            write_atomic(owner, f"process {os.getpid()} on {socket.gethostname()}", force=True)
            remove_parts(self.path)
            yield
        finally:
            owner.unlink(missing_ok=True)
            lock.release()

    def _refuse_foreign(self) -> None:
        """Refuse a folder with other files, before the first one is written or removed there."""
        if self.exists:
            return
        foreign = [
            item.name
            for item in self.path.iterdir()
            if item.name not in (".lock", ".owner") and not is_part(item)
        ]
        if foreign:
            raise MaucError(
                f"{self.path} has files that are not of a run, such as {min(foreign)}; give "
                "another folder."
            )

    def begin(self, plan: Plan, text: str | None, described: Described) -> None:
        """Write the plan and the provenance, or check that the plan still fits the folder.

        `text` is the plan as given, if it was given as text.
        """
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

    def has(self, cell: Cell) -> bool:
        """Whether the cell has a shard, damaged or not."""
        return shard_path(self.cells, cell).is_file()

    def read(self, cell: Cell) -> "pa.Table":
        """Return the rows of a cell, or raise `DamagedShardError`."""
        return read_shard(shard_path(self.cells, cell), cell, self._stamp(cell.dataset))

    def write(self, cell: Cell, table: "pa.Table") -> None:
        """Write the rows of a cell, whole or not at all."""
        write_shard(shard_path(self.cells, cell), table, self._stamp(cell.dataset))

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


class MemoryStore:
    """What a run folder keeps, in memory; the run itself holds what it has tuned."""

    path = None

    def __init__(self) -> None:
        self._plan: dict[str, Any] = {}
        self._tables: dict[Cell, pa.Table] = {}

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Lock nothing: nobody else has this memory."""
        return contextlib.nullcontext()

    def begin(self, plan: Plan, text: str | None, described: Described) -> None:
        """Keep the plan."""
        self._plan = plan_to_dict(plan)

    def read_plan(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        return self._plan

    def has(self, cell: Cell) -> bool:
        """Whether the cell has been run."""
        return cell in self._tables

    def read(self, cell: Cell) -> "pa.Table":
        """Return the rows of a cell."""
        return self._tables[cell]

    def write(self, cell: Cell, table: "pa.Table") -> None:
        """Keep the rows of a cell."""
        self._tables[cell] = table

    def read_tuned(self, name: str) -> None:
        """Return None."""

    def write_tuned(self, name: str, tuned: dict[int, Tuned]) -> None:
        """Do nothing."""


def plan_changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return which definitions of an old plan the new one changes or lacks.

    What is only added (data sets, repeats, selectors, classifiers) is no change: the results so
    far stay what they are. Sources of data sets may move; their content is compared elsewhere.

    Returns one line per change, "what: old -> new"; both plans come from `plan_to_dict`.
    """
    changes = _changed("", old, new, ("seed", "folds", "sizes", "max_rows"))
    if new["repeats"] < old["repeats"]:
        changes += _changed("", old, new, ("repeats",))
    for part in ("datasets", "selectors", "classifiers"):
        now = {spec["name"]: spec for spec in new[part]}
        for spec in old[part]:
            name = spec["name"]
            if name in now:
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


def _json(values: Any) -> str:
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    except (OSError, ValueError) as error:
        raise MaucError(f"{path} cannot be read: {error}.") from error
