"""Run a plan: cells that are not done yet in, shards in the run folder out."""

import time
from collections import Counter, deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.datasets import load_dataset
from mauc.exceptions import DamagedShardError, MaucError
from mauc.experiments.cell import Combination
from mauc.experiments.engines import Engine, n_cores, start_engine
from mauc.experiments.plan import Cell, Plan
from mauc.experiments.plan_file import parse_plan
from mauc.experiments.progress import Progress, make_progress
from mauc.experiments.rows import import_pyarrow
from mauc.experiments.store import RunFolder
from mauc.experiments.tuning import Tuned
from mauc.experiments.worker import (
    Task,
    WorkerSetupError,
    failed_cell,
    work_on_cell,
    work_on_tuning,
)

if TYPE_CHECKING:
    import pyarrow as pa

_POLL = 1.0  # seconds: a cluster may have grown


@dataclass(frozen=True)
class RunSummary:
    """How a run ended.

    Parameters
    ----------
    folder : Path
    n_cells : int
        Cells of the plan.
    n_run : int
        Cells that this start ran; the others were there.
    n_damaged : int
        Shards that were damaged and computed anew.
    n_rows : int
        Measurements of the plan.
    failures : dict of str to int
        Rows that failed, by selector, classifier and error.
    seconds : float
    """

    folder: Path
    n_cells: int
    n_run: int
    n_damaged: int
    n_rows: int
    failures: dict[str, int]
    seconds: float

    @property
    def n_failed(self) -> int:
        """Number of rows that failed."""
        return sum(self.failures.values())

    def __str__(self) -> str:
        lines = [
            f"{self.folder}: {self.n_cells} cells, {self.n_run} run now in {self.seconds:.1f} s; "
            f"{self.n_rows} rows, {self.n_failed} failed"
        ]
        lines += [f"  {count} x {what}" for what, count in sorted(self.failures.items())]
        return "\n".join(lines)


def run_plan(
    plan: Plan | str | Path, folder: str | Path, *, engine: str = "processes",
    n_jobs: int | None = None, scheduler: str | None = None, progress: str = "auto",
    retry_failed: bool = False,
) -> RunSummary:  # fmt: skip
    """Run all cells of a plan that the folder does not have yet.

    A run that was killed, at whatever moment, goes on where it was: every finished cell is a file
    of its own, written whole or not at all. What a cell gives depends on its names alone, not on
    the engine, the number of workers or the order.

    Parameters
    ----------
    plan : Plan or path
        A plan, or the TOML file of one.
    folder : str or Path
        The run folder; made if it is not there. The plan of a run may grow, but not change.
    engine : {"processes", "dask", "serial"}, default="processes"
        Local processes, a Dask cluster, or this process alone.
    n_jobs : int, optional
        Local workers; one per core by default.
    scheduler : str, optional
        Address of a Dask scheduler; without it the engine "dask" starts workers here. Workers
        need the package, and the data under the same names.
    progress : {"auto", "bar", "lines", "quiet"}, default="auto"
        A live display, lines to log, or nothing; by default what fits standard error.
    retry_failed : bool, default=False
        Whether to run combinations again that failed before.

    Returns
    -------
    summary : RunSummary

    Examples
    --------
    >>> import tempfile
    >>> from mauc import load_run
    >>> from mauc.experiments import DatasetSpec, MethodSpec, Plan, run_plan
    >>> plan = Plan(
    ...     "small", (DatasetSpec("wine"),), (MethodSpec("mdfs"), MethodSpec("chi")),
    ...     (MethodSpec("nb"),), sizes=(2, 4), repeats=1, folds=3,
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = run_plan(plan, folder, engine="serial", progress="quiet")
    ...     rows = load_run(folder)
    >>> rows.groupby(["selector", "size"]).mauc.mean().round(3).tolist()
    [0.951, 0.97, 0.95, 0.979]
    """
    text = None
    if not isinstance(plan, Plan):
        path = Path(plan)
        text = _read_text(path)
        plan = parse_plan(text, name=path.stem, folder=path.parent, where=str(path))
    run = _Run(plan, RunFolder(folder), make_progress(progress), retry_failed)
    with run.folder.locked():
        run.prepare(text)
        threads = 1
        if engine == "serial":
            threads = n_cores() if n_jobs in (None, -1) else int(n_jobs or 1)
        elif engine == "processes" and n_jobs not in (None, -1):
            threads = max(1, n_cores() // int(n_jobs or 1))
        if run.pending:
            workers = start_engine(engine, n_jobs, scheduler)
            try:
                run.work(workers, threads)
            except BaseException:
                run.progress.close()
                workers.close(at_once=True)
                raise
            workers.close()
        return run.summary()


class _Run:
    """The state of one start."""

    def __init__(
        self, plan: Plan, folder: RunFolder, progress: Progress, retry_failed: bool
    ) -> None:
        self.plan, self.folder, self.progress = plan, folder, progress
        self.retry_failed = retry_failed
        self.pending: deque[tuple[Cell, frozenset[Combination] | None]] = deque()
        self.fingerprints: dict[str, str] = {}
        self.n_features: dict[str, int] = {}
        self.tuned: dict[str, dict[int, Tuned]] = {}
        self.failures: Counter[str] = Counter()
        self.n_run = self.n_damaged = self.n_rows = 0
        self.started = time.monotonic()

    def prepare(self, text: str | None) -> None:
        """Load the data sets, open the folder and see which cells are missing."""
        data = {}
        for spec in self.plan.datasets:
            try:
                data[spec.name] = load_dataset(spec.source, spec.target, **spec.options)
            except MaucError as error:
                raise MaucError(f"data set {spec.name}: {error}") from error
        self.folder.begin(self.plan, text, data)
        known = self.folder.provenance()["datasets"]
        for name, dataset in data.items():
            self.fingerprints[name] = known[name]["fingerprint"]
            self.n_features[name] = known[name]["n_features"]
            self._check_data(name, dataset.y)
        done = []
        for cell in self.plan.cells():
            wanted = self._missing(cell)
            if wanted is None or wanted:
                self.pending.append((cell, wanted))
            else:
                done.append(cell)
        self.progress.start(len(self.plan.cells()), len(done))

    def _check_data(self, name: str, y: np.ndarray) -> None:
        classes, counts = np.unique(y, return_counts=True)
        if len(classes) < 2:
            raise MaucError(f"data set {name} must have at least 2 classes, got {len(classes)}.")
        if counts.max() < self.plan.folds:
            raise MaucError(
                f"data set {name} cannot be split into {self.plan.folds} folds: its largest class "
                f"has {counts.max()} samples."
            )
        if counts.min() < self.plan.folds:
            self.progress.note(
                f"{name}: class {classes[counts.argmin()]!s} has {counts.min()} samples, fewer "
                f"than folds; MAUC of a fold is over the classes that its test part has."
            )
        too_large = [size for size in self.plan.sizes if size > self.n_features[name]]
        if too_large:
            self.progress.note(
                f"{name} has {self.n_features[name]} features: sizes "
                f"{', '.join(map(str, too_large))} are left out."
            )

    def _missing(self, cell: Cell) -> frozenset[Combination] | None:
        """Return the combinations that a cell lacks; None stands for all."""
        if not self.folder.has(cell):
            return None
        try:
            table = self.folder.read(cell)
        except DamagedShardError as error:
            self.progress.note(f"{error} It is computed anew.")
            self.n_damaged += 1
            return None
        names = zip(
            table["selector"].to_pylist(), table["classifier"].to_pylist(),
            table["status"].to_pylist(), strict=True,
        )  # fmt: skip
        known, failed = set(), set()
        for selector, classifier, status in names:
            known.add((selector, classifier))
            if status == "failed":
                failed.add((selector, classifier))
        wanted = {
            (selector.name, classifier.name)
            for selector in self.plan.selectors
            for classifier in self.plan.classifiers
        }
        missing = frozenset(wanted - known | (failed if self.retry_failed else set()))
        if not missing:
            self._count(table)
        return missing

    def work(self, engine: Engine, threads: int) -> None:
        """Run the pending cells; data sets that must be tuned first wait for it."""
        deaths: Counter[object] = Counter()
        running: dict[Future[Any], Task | str] = {}
        to_tune = deque(self._to_tune())
        waiting = set(to_tune)
        while self.pending or to_tune or running:
            while len(running) < engine.n_places:
                if to_tune:
                    name = to_tune.popleft()
                    running[
                        engine.submit(
                            work_on_tuning, self.plan, name, self.fingerprints[name], threads
                        )
                    ] = name
                    continue
                task = self._next_task(waiting, threads)
                if task is None:
                    break
                running[engine.submit(work_on_cell, task)] = task
            done, _ = wait(running, timeout=_POLL, return_when=FIRST_COMPLETED)
            for future in done:
                task_or_name = running.pop(future)
                error = future.exception()
                if error is not None and engine.is_death(error):
                    key = task_or_name if isinstance(task_or_name, str) else task_or_name.cell
                    deaths[key] += 1
                    if deaths[key] == 1:
                        self.progress.note(f"a worker died at {key}; it is tried once more.")
                        if isinstance(task_or_name, str):
                            to_tune.append(task_or_name)
                        else:
                            self.pending.appendleft((task_or_name.cell, task_or_name.wanted))
                        continue
                    error = RuntimeError("the worker died twice at this cell")
                if isinstance(task_or_name, str):
                    if error is not None:
                        raise MaucError(
                            f"the SVM of {task_or_name} cannot be tuned: {error}"
                        ) from error
                    self._keep_tuned(task_or_name, future.result())
                    waiting.discard(task_or_name)
                    continue
                if isinstance(error, WorkerSetupError):
                    raise error
                self._keep(task_or_name, None if error else future.result(), error)

    def _next_task(self, waiting: set[str], threads: int) -> Task | None:
        for _ in range(len(self.pending)):
            cell, wanted = self.pending.popleft()
            if cell.dataset not in waiting:
                return Task(
                    self.plan, cell, self.fingerprints[cell.dataset],
                    self.tuned.get(cell.dataset), wanted, threads,
                )  # fmt: skip
            self.pending.append((cell, wanted))
        return None

    def _to_tune(self) -> list[str]:
        """Return the data sets that must be tuned; take from the folder what it has."""
        is_wanted = any(self.plan.is_tuned(spec) for spec in self.plan.classifiers)
        if not is_wanted or self.plan.tuning.scope.startswith("fold"):
            return []
        missing = []
        for name in dict.fromkeys(cell.dataset for cell, _ in self.pending):
            tuned = self.folder.read_tuned(name)
            if tuned is None:
                missing.append(name)
            else:
                self.tuned[name] = tuned
        return missing

    def _keep_tuned(self, name: str, tuned: dict[int, Tuned]) -> None:
        self.folder.write_tuned(name, tuned)
        self.tuned[name] = tuned
        for size, found in tuned.items():
            self.progress.note(
                f"{name}: SVM tuned on {found.n_samples} samples, {size} features: "
                f"C = {found.C:g}, gamma = {found.gamma:g} (MAUC {found.mauc:.3f})"
            )

    def _keep(self, task: Task, table: "pa.Table | None", error: BaseException | None) -> None:
        """Write the rows of a cell, beside those it had."""
        pa = import_pyarrow()
        if table is None:
            message = f"{type(error).__name__}: {error}"
            table = failed_cell(task, self.n_features[task.cell.dataset], message)
        new = table
        if task.wanted is not None:
            old = self.folder.read(task.cell)
            table = _in_plan_order(self.plan, pa.concat_tables([_without(old, task.wanted), table]))
        self.folder.write(task.cell, table)
        self.n_run += 1
        self._count(table)
        self.progress.advance(task.cell, new)

    def _count(self, table: "pa.Table") -> None:
        self.n_rows += table.num_rows
        self.progress.add(table)
        columns = [table[key].to_pylist() for key in ("selector", "classifier", "error", "status")]
        for selector, classifier, error, status in zip(*columns, strict=True):
            if status == "failed":
                self.failures[f"{selector}, {classifier}: {error}"] += 1

    def summary(self) -> RunSummary:
        """Return how the run ended, and show it."""
        summary = RunSummary(
            folder=self.folder.path, n_cells=len(self.plan.cells()), n_run=self.n_run,
            n_damaged=self.n_damaged, n_rows=self.n_rows, failures=dict(self.failures),
            seconds=time.monotonic() - self.started,
        )  # fmt: skip
        self.progress.close()
        return summary


def _without(table: "pa.Table", combinations: frozenset[Combination]) -> "pa.Table":
    names = zip(table["selector"].to_pylist(), table["classifier"].to_pylist(), strict=True)
    return table.filter([pair not in combinations for pair in names])


def _in_plan_order(plan: Plan, table: "pa.Table") -> "pa.Table":
    selectors = {spec.name: place for place, spec in enumerate(plan.selectors)}
    classifiers = {spec.name: place for place, spec in enumerate(plan.classifiers)}
    keys = zip(
        table["selector"].to_pylist(), table["classifier"].to_pylist(),
        table["size"].to_pylist(), strict=True,
    )  # fmt: skip
    places = [(selectors[s], classifiers[c], size) for s, c, size in keys]
    return table.take(sorted(range(len(places)), key=places.__getitem__))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MaucError(f"the plan {path} cannot be read: {error}.") from error
