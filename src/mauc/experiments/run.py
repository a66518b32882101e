"""Run a plan: cells that are not done yet in, their rows in the run folder or in memory out."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.compile import silenced
from mauc.datasets import Dataset
from mauc.exceptions import DamagedShardError, MaucError
from mauc.experiments.cell import failed_cell
from mauc.experiments.data import describe, load_data
from mauc.experiments.engines import (
    Engine,
    check_engine,
    count_threads,
    count_workers,
    start_engine,
)
from mauc.experiments.load import collect_rows
from mauc.experiments.needs import cell_memory
from mauc.experiments.plan import Cell, Combination, Plan
from mauc.experiments.plan_file import read_plan_text
from mauc.experiments.progress import Progress, make_progress
from mauc.experiments.rows import combinations_of, rows_to_table
from mauc.experiments.shared_data import share_data
from mauc.experiments.store import MemoryStore, RunFolder
from mauc.experiments.tasks import Task, TaskQueue, run_task, run_tasks
from mauc.experiments.tuning import Tuned
from mauc.memory import check_memory, format_bytes, free_memory

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class RunSummary:
    """How a run ended.

    Parameters
    ----------
    folder : Path or None
        None for a run in memory.
    n_cells : int
        Cells of the plan.
    n_run : int
        Cells that were run now; the folder had the others.
    n_damaged : int
        Shards that were damaged and computed anew.
    n_rows : int
        Measurements of the plan.
    failures : Counter of str
        Rows that failed, by selector, classifier and error.
    seconds : float
    rows : pandas.DataFrame or None
        All rows of a run in memory, as `load_run` returns those of a folder.
    """

    folder: Path | None
    n_cells: int
    n_run: int = 0
    n_damaged: int = 0
    n_rows: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    rows: Any = None

    @property
    def n_failed(self) -> int:
        """Number of rows that failed."""
        return sum(self.failures.values())

    def __str__(self) -> str:
        lines = [
            f"{self.folder or 'in memory'}: {self.n_cells} cells, {self.n_run} run now in "
            f"{self.seconds:.1f} s; {self.n_rows} rows, {self.n_failed} failed"
        ]
        lines += [f"  {count} x {what}" for what, count in sorted(self.failures.items())]
        return "\n".join(lines)


def run_plan(
    plan: Plan | str | Path, folder: str | Path | None = None, *, engine: str = "processes",
    n_jobs: int | None = None, scheduler: str | None = None, progress: str = "auto",
    retry_failed: bool = False, data: Mapping[str, Dataset] | None = None, text: str | None = None,
) -> RunSummary:  # fmt: skip
    """Run all cells of a plan that the folder does not have yet.

    A run that was killed, at whatever moment, is resumed: every finished cell is a file
    of its own, written whole or not at all. The rows of a cell depend on its names alone, not on
    the engine, the number of workers or the order.

    Parameters
    ----------
    plan : Plan or path
        A plan, or the TOML file of one.
    folder : str or Path, optional
        The run folder; created if it does not exist. The plan of a run may grow, but not change.
        Without a folder nothing is written, and the summary has the rows.
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
    data : mapping of str to Dataset, optional
        Data sets that are loaded already, by their names in the plan; the others are read from
        their sources. Not for the engine "dask", whose workers read the data themselves.
    text : str, optional
        The TOML text of a `Plan`, to be kept in the folder as it was written.

    Returns
    -------
    summary : RunSummary

    Examples
    --------
    >>> from mauc.experiments import DatasetSpec, MethodSpec, Plan, run_plan
    >>> plan = Plan(
    ...     "small", (DatasetSpec("wine"),), (MethodSpec("mdfs"), MethodSpec("chi")),
    ...     (MethodSpec("nb"),), sizes=(2, 4), repeats=1, folds=3,
    ... )
    >>> rows = run_plan(plan, engine="serial", progress="quiet").rows
    >>> rows.groupby(["selector", "size"]).mauc.mean().round(3).tolist()
    [0.982, 0.999, 0.96, 0.996]
    """
    began = time.monotonic()
    check_engine(engine, n_jobs, scheduler)
    if data is not None and engine == "dask":
        raise MaucError("data= goes with local engines; Dask workers read the data themselves.")
    if not isinstance(plan, Plan):
        plan, text = read_plan_text(plan)
    shown = make_progress(progress)
    store = MemoryStore() if folder is None else RunFolder(folder)
    run = Run(plan, store, shown, retry_failed)
    with store.locked(), silenced() if progress == "quiet" else nullcontext():
        try:
            with run.started(engine, n_jobs, scheduler):
                loaded = run.prepare(data or {}, text)
                if run.tasks:
                    run.work(loaded, data or {})
        finally:
            shown.close()
    run.summary.seconds = time.monotonic() - began
    if folder is None:
        run.summary.rows = collect_rows(store).to_pandas()
    return run.summary


class Run:
    """A plan being run: the missing cells found, given to an engine, and their rows kept.

    Parameters
    ----------
    plan : Plan
    store : RunFolder or MemoryStore
    progress : Progress
    retry_failed : bool
        Whether to run combinations again that failed before.

    Attributes
    ----------
    tasks : list of Task
        The cells that are not done, once prepared.
    summary : RunSummary
        Of what was found and done so far.
    """

    def __init__(
        self, plan: Plan, store: RunFolder | MemoryStore, progress: Progress, retry_failed: bool
    ) -> None:
        self.plan, self.store, self.progress = plan, store, progress
        self.retry_failed = retry_failed
        self.tasks: list[Task] = []
        self.summary = RunSummary(store.path, len(plan.cells()))
        self._described: dict[str, dict[str, Any]] = {}
        self._labels: dict[str, np.ndarray] = {}
        self._tuned: dict[str, dict[int, Tuned] | str] = {}
        self._engine: Engine | None = None
        self._n_at_once: int | None = None

    def prepare(self, given: Mapping[str, Dataset], text: str | None) -> dict[str, Dataset]:
        """Load the data sets that are not given, open the store, find the cells that are missing.

        Returns all data sets; `text` is the plan as given, if it was given as text.
        """
        # Before the folder is opened: a plan that cannot run must not bind it.
        data = load_data(self.plan, given, self.progress.note)
        self._n_at_once = self._check_memory(data)
        self._described = {name: describe(dataset) for name, dataset in data.items()}
        self._labels = {name: dataset.y for name, dataset in data.items()}
        self.store.begin(self.plan, text, self._described)
        for cell in self.plan.cells():
            wanted = self._missing(cell)
            if wanted is None or wanted:
                self.tasks.append(self._task(cell.dataset, cell, wanted))
        # The longest first, so that no worker is left with one when all others are done.
        self.tasks.sort(key=lambda task: -self._cost(task.dataset))
        n_cells = self.summary.n_cells
        self.progress.start(n_cells, n_cells - len(self.tasks))
        return data

    def _check_memory(self, data: Mapping[str, Dataset]) -> int | None:
        """Return how many cells fit into the memory of this host at once; raise if none does."""
        if not self._is_local:
            return None
        needs = {name: cell_memory(self.plan, dataset) for name, dataset in data.items()}
        largest = max(needs, key=needs.__getitem__)
        check_memory(
            needs[largest], f"the methods on a fold of {largest}",
            "use fewer rows, features, classes, sizes or methods",
        )  # fmt: skip
        free = free_memory()
        if free is None:
            return None
        n_fitting = max(1, free // needs[largest])
        if n_fitting < self._n_workers:
            self.progress.note(
                f"{n_fitting} of {self._n_workers} workers are used: a fold of {largest} takes "
                f"about {format_bytes(needs[largest])} of memory, {format_bytes(free)} are free."
            )
        return n_fitting

    def _cost(self, dataset: str) -> int:
        described = self._described[dataset]
        return int(described["n_samples"] * described["n_features"])

    def _task(
        self, dataset: str, cell: Cell | None = None, wanted: frozenset[Combination] | None = None
    ) -> Task:
        return Task(self.plan, dataset, cell, wanted, self._described[dataset]["fingerprint"])

    def _missing(self, cell: Cell) -> frozenset[Combination] | None:
        """Return the combinations that a cell lacks; None stands for all."""
        if not self.store.has(cell):
            return None
        try:
            table = self.store.read(cell)
        except DamagedShardError as error:
            self.progress.note(f"{error} It is computed anew.")
            self.summary.n_damaged += 1
            return None
        known = combinations_of(table)
        missing = {
            (selector.name, classifier.name)
            for selector in self.plan.selectors
            for classifier in self.plan.classifiers
        } - set(known)
        if self.retry_failed:
            statuses = table["status"].to_pylist()
            missing |= {
                pair for pair, status in zip(known, statuses, strict=True) if status != "ok"
            }
        if not missing:
            self._count(table)
        return frozenset(missing)

    @contextmanager
    def started(self, name: str, n_jobs: int | None, scheduler: str | None) -> Iterator[None]:
        """Have an engine; its workers start before the data are read, if a cell lacks a shard."""
        self._engine_name, self._is_local = name, scheduler is None
        self._n_threads = count_threads(name, n_jobs)
        self._n_workers = 1 if name == "serial" else count_workers(n_jobs)
        self._start = partial(start_engine, name, n_jobs, scheduler)
        n_missing = sum(not self.store.has(cell) for cell in self.plan.cells())
        if n_missing:
            self._engine = self._start(n_missing)
        try:
            yield
        except BaseException:
            if self._engine is not None:
                self._engine.close(at_once=True)
            raise
        if self._engine is not None:
            self._engine.close()

    def work(self, data: dict[str, Dataset], given: Mapping[str, Dataset]) -> None:
        """Run the missing cells on the engine.

        Workers of this host share the data sets with this process; where they cannot, they are
        sent those that were `given` and read the others.
        """
        engine = self._engine = self._engine or self._start(len(self.tasks))
        is_serial = self._engine_name == "serial"
        with share_data(data if self._is_local and not is_serial else {}) as shared:
            own = dict(data) if is_serial else {}
            engine.give(
                {
                    self._described[name]["fingerprint"]: data[name]
                    for name in given
                    if name not in shared
                }
            )
            data.clear()

            def submit(task: Task) -> "Future[Any]":
                task = replace(
                    task, tuned=self._tuned.get(task.dataset), n_jobs=self._n_threads,
                    shared=shared.get(task.dataset),
                )  # fmt: skip
                return engine.submit(run_task, task, own.get(task.dataset))

            queue = TaskQueue(self.tasks, self._tunings())
            for task, result, error in run_tasks(
                engine, queue, submit, self.progress.note, self._n_at_once
            ):
                if task.cell is None:
                    self._keep_tuned(task.dataset, error or result)
                else:
                    rows = self._failed(task, error) if error else result
                    self._keep(task.cell, task.wanted, rows)

    def _failed(self, task: Task, error: str) -> "pa.Table":
        """Return the rows of a task without result."""
        assert task.cell is not None
        y, n_features = self._labels[task.dataset], self._described[task.dataset]["n_features"]
        return rows_to_table(failed_cell(self.plan, task.cell, y, n_features, error, task.wanted))

    def _tunings(self) -> list[Task]:
        """Return the data sets that must be tuned; take from the store what it has."""
        is_wanted = any(spec.is_tuned for spec in self.plan.classifiers)
        if not is_wanted or self.plan.tuning.scope.startswith("fold"):
            return []
        missing = []
        for name in dict.fromkeys(task.dataset for task in self.tasks):
            tuned = self.store.read_tuned(name)
            if tuned is None:
                missing.append(self._task(name))
            else:
                self._tuned[name] = tuned
        return missing

    def _keep_tuned(self, name: str, tuned: dict[int, Tuned] | str) -> None:
        self._tuned[name] = tuned
        if isinstance(tuned, str):
            self.progress.note(f"{name}: the SVM could not be tuned: {tuned}")
            return
        self.store.write_tuned(name, tuned)
        for size, found in tuned.items():
            self.progress.note(
                f"{name}: SVM tuned on {found.n_samples} samples, {size} features: "
                f"C = {found.C:g}, gamma = {found.gamma:g} (MAUC {found.mauc:.3f})"
            )

    def _keep(self, cell: Cell, wanted: frozenset[Combination] | None, new: "pa.Table") -> None:
        """Write the rows of a cell, beside those it had."""
        table = new
        if wanted is not None:
            old = self.store.read(cell)
            old = old.filter([pair not in wanted for pair in combinations_of(old)])
            import pyarrow

            table = pyarrow.concat_tables([old, new])
        self.store.write(cell, table)
        self.summary.n_run += 1
        self._count(table)
        self.progress.advance()

    def _count(self, table: "pa.Table") -> None:
        self.summary.n_rows += table.num_rows
        self.progress.add(table)
        columns = [table[key].to_pylist() for key in ("selector", "classifier", "error", "status")]
        for selector, classifier, error, status in zip(*columns, strict=True):
            if status == "failed":
                self.summary.failures[f"{selector}, {classifier}: {error}"] += 1
