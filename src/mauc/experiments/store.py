"""A run folder: the plan, where the results come from, and one shard per cell."""

import contextlib
import json
import os
import platform
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mauc.datasets import Dataset
from mauc.exceptions import MaucError
from mauc.experiments.origin import Stamp, origin_of
from mauc.experiments.plan import Cell, Plan
from mauc.experiments.plan_changes import plan_changes
from mauc.experiments.plan_file import plan_to_dict, plan_to_toml
from mauc.experiments.rows import versions
from mauc.experiments.shards import read_shard, shard_path, write_shard
from mauc.experiments.tuning import Tuned
from mauc.files import is_part, remove_parts, write_atomic

if TYPE_CHECKING:
    import pyarrow as pa


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
        self._origins: dict[str, Stamp] = {}

    @property
    def exists(self) -> bool:
        """Whether there is a run in the folder."""
        return (self.path / "plan.json").is_file()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other run out of the folder; the lock dies with the process."""
        try:
            from filelock import FileLock, Timeout
        except ModuleNotFoundError as error:
            raise MaucError("experiments need filelock: pip install 'mauc[experiments]'") from error
        lock, owner = FileLock(self.path / ".lock"), self.path / ".owner"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._refuse_foreign()
            lock.acquire(timeout=0)
        except Timeout as error:
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
        """Refuse a folder of other things; before the first file is written or removed there."""
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

    def begin(self, plan: Plan, text: str | None, data: dict[str, Dataset]) -> None:
        """Write the plan and the provenance, or check that the plan still fits the folder.

        Parameters
        ----------
        plan : Plan
        text : str or None
            The plan as given, if it was given as text.
        data : dict of str to Dataset
            The data sets, by their names in the plan.
        """
        described = {name: describe(dataset) for name, dataset in data.items()}
        provenance: dict[str, Any] = {"datasets": {}, "starts": []}
        if self.exists:
            # A start that was killed between the two files has a plan and no cell yet.
            if (self.path / "provenance.json").exists() or self.cells.exists():
                provenance = self.provenance()
            changes = plan_changes(self.read_plan_dict(), plan)
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
        write_atomic(self.path / "plan.json", _json(plan_to_dict(plan)), force=True)
        write_atomic(self.path / "plan.toml", text or plan_to_toml(plan), force=True)
        write_atomic(self.path / "provenance.json", _json(provenance), force=True)
        self._origins = {}

    def read_plan_dict(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        if not self.exists:
            raise MaucError(f"{self.path} is not a run folder: it has no plan.json.")
        return _read_json(self.path / "plan.json")

    def provenance(self) -> dict[str, Any]:
        """Return what is known of the data sets and the starts of the run."""
        return _read_json(self.path / "provenance.json")

    def has(self, cell: Cell) -> bool:
        """Whether the cell has a shard, damaged or not."""
        return shard_path(self.cells, cell).is_file()

    def read(self, cell: Cell) -> "pa.Table":
        """Return the rows of a cell, or raise `DamagedShardError`."""
        return read_shard(shard_path(self.cells, cell), cell, self._origin(cell.dataset))

    def write(self, cell: Cell, table: "pa.Table") -> None:
        """Write the rows of a cell, whole or not at all."""
        write_shard(shard_path(self.cells, cell), table, self._origin(cell.dataset))

    def _origin(self, dataset: str) -> Stamp:
        if not self._origins:
            plan, known = self.read_plan_dict(), self.provenance()["datasets"]
            self._origins = {
                name: origin_of(plan, described["fingerprint"]) for name, described in known.items()
            }
        if dataset not in self._origins:
            raise MaucError(f"{self.path / 'provenance.json'} does not know {dataset}.")
        return self._origins[dataset]

    def read_tuned(self, name: str) -> dict[int, Tuned] | None:
        """Return what was tuned for a data set, or None if that is not there or damaged."""
        path = self.path / "tuning" / f"{quote(name, safe=' ')}.json"
        try:
            kept = _read_json(path)
            if kept.pop("digest") != _digest(kept):
                return None
            return {int(size): Tuned(**values) for size, values in kept.items()}
        except (MaucError, KeyError, TypeError, AttributeError):
            return None

    def write_tuned(self, name: str, tuned: dict[int, Tuned]) -> None:
        """Keep what was tuned for a data set."""
        path = self.path / "tuning" / f"{quote(name, safe=' ')}.json"
        path.parent.mkdir(exist_ok=True)
        values = {str(size): asdict(found) for size, found in tuned.items()}
        write_atomic(path, _json({**values, "digest": _digest(values)}), force=True)


def describe(dataset: Dataset) -> dict[str, Any]:
    """Return what tells a data set apart, as plain values."""
    import numpy as np

    classes, counts = np.unique(dataset.y, return_counts=True)
    return {
        "fingerprint": dataset.fingerprint(),
        "n_samples": int(dataset.X.shape[0]),
        "n_features": int(dataset.X.shape[1]),
        "classes": {str(label): int(count) for label, count in zip(classes, counts, strict=True)},
        "feature_names": [str(name) for name in dataset.feature_names],
    }


def _json(values: Any) -> str:
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def _digest(values: Any) -> str:
    return blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=16).hexdigest()


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    except (OSError, ValueError) as error:
        raise MaucError(f"{path} cannot be read: {error}.") from error
