"""Run a plan: cells that are not done yet in, their rows in the run folder or in memory out."""

import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.checks import unknown_word
from mauc.datasets import Dataset, load_dataset
from mauc.exceptions import DamagedShardError, MaucError
from mauc.experiments.cell import failed_cell
from mauc.experiments.engines import check_engine, count_threads, start_engine
from mauc.experiments.load import collect_rows
from mauc.experiments.plan import Cell, Combination, Plan
from mauc.experiments.plan_file import read_plan_text
from mauc.experiments.progress import Progress, make_progress
from mauc.experiments.rows import combinations_of, in_plan_order, rows_to_table
from mauc.experiments.store import MemoryStore, RunFolder, describe
from mauc.experiments.tasks import TaskQueue, run_tasks
from mauc.experiments.tuning import Tuned
from mauc.experiments.worker import Task, run_task
from mauc.extras import optional_import

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
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
    failures : dict of str to int
        Rows that failed, by selector, classifier and error.
    seconds : float
    rows : pandas.DataFrame or None
        All rows of a run in memory, as `load_run` returns those of a folder.
    """

    folder: Path | None
    n_cells: int
    n_run: int
    n_damaged: int
    n_rows: int
    failures: dict[str, int]
    seconds: float
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

    A run that was killed, at whatever moment, goes on where it was: every finished cell is a file
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
    check_engine(engine, n_jobs, scheduler)
    if data is not None and engine == "dask":
        raise MaucError("data= goes with local engines; Dask workers read the data themselves.")
    if not isinstance(plan, Plan):
        plan, text = read_plan_text(plan)
    shown = make_progress(progress)
    store = MemoryStore() if folder is None else RunFolder(folder)
    run = Run(plan, store, shown, count_threads(engine, n_jobs), retry_failed)
    with store.locked():
        try:
            loaded = run.prepare(data or {}, text)
            if run.cells:
                run.work(engine, n_jobs, scheduler, loaded if data or engine == "serial" else {})
        finally:
            shown.close()
    return RunSummary(
        folder=store.path, n_cells=len(plan.cells()), n_run=run.n_run, n_damaged=run.n_damaged,
        n_rows=run.n_rows, failures=dict(run.failures), seconds=time.monotonic() - run.began,
        rows=collect_rows(store).to_pandas() if folder is None else None,
    )  # fmt: skip


class Run:
    """A plan being run: the missing cells found, given to an engine, and their rows kept.

    Parameters
    ----------
    plan : Plan
    store : RunFolder or MemoryStore
    progress : Progress
    n_threads : int
        Of each task.
    retry_failed : bool
        Whether to run combinations again that failed before.

    Attributes
    ----------
    cells : list of Task
        The cells that are not done, once prepared.
    failures : Counter of str
        Rows that failed, by selector, classifier and error.
    n_run, n_damaged, n_rows : int
        Cells run now, shards that were damaged, rows of the plan so far.
    """

    def __init__(
        self, plan: Plan, store: RunFolder | MemoryStore, progress: Progress, n_threads: int,
        retry_failed: bool,
    ) -> None:  # fmt: skip
        self.plan, self.store, self.progress = plan, store, progress
        self.n_threads, self.retry_failed = n_threads, retry_failed
        self.cells: list[Task] = []
        self.failures: Counter[str] = Counter()
        self.n_run = self.n_damaged = self.n_rows = 0
        self.began = time.monotonic()
        self._described: dict[str, dict[str, Any]] = {}
        self._labels: dict[str, np.ndarray] = {}
        self._tuned: dict[str, dict[int, Tuned] | str] = {}

    def prepare(self, data: Mapping[str, Dataset], text: str | None) -> dict[str, Dataset]:
        """Load the data sets, open the store and find the cells that are missing.

        Parameters
        ----------
        data : mapping of str to Dataset
            Those that need not be loaded.
        text : str or None
            The plan as given, if it was given as text.

        Returns
        -------
        data : dict of str to Dataset
            All data sets of the plan.
        """
        optional_import("pyarrow", "experiments")
        names = [spec.name for spec in self.plan.datasets]
        for name in data:
            if name not in names:
                raise unknown_word("a name in data", name, names)
        loaded = dict(data)
        for spec in self.plan.datasets:
            try:
                if spec.name not in loaded:
                    loaded[spec.name] = load_dataset(spec.source, spec.target, **spec.options)
            except MaucError as error:
                raise MaucError(f"data set {spec.name}: {error}") from error
            self._described[spec.name] = describe(loaded[spec.name])
            self._labels[spec.name] = loaded[spec.name].y
            # Before the folder is opened: a plan that cannot run must not bind it.
            self._check_data(spec.name)
        self.store.begin(self.plan, text, self._described)
        for cell in self.plan.cells():
            wanted = self._missing(cell)
            if wanted is None or wanted:
                self.cells.append(self._task(cell.dataset, cell, wanted))
        n_cells = len(self.plan.cells())
        self.progress.start(n_cells, n_cells - len(self.cells))
        return loaded

    def _check_data(self, name: str) -> None:
        classes, counts = np.unique(self._labels[name], return_counts=True)
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
        n_features = self._described[name]["n_features"]
        too_large = [size for size in self.plan.sizes if size > n_features]
        if too_large:
            self.progress.note(
                f"{name} has {n_features} features: sizes {', '.join(map(str, too_large))} are "
                "left out."
            )

    def _task(
        self, dataset: str, cell: Cell | None = None, wanted: frozenset[Combination] | None = None
    ) -> Task:
        fingerprint = self._described[dataset]["fingerprint"]
        return Task(self.plan, dataset, cell, wanted, fingerprint, self.n_threads)

    def _missing(self, cell: Cell) -> frozenset[Combination] | None:
        """Return the combinations that a cell lacks; None stands for all."""
        if not self.store.has(cell):
            return None
        try:
            table = self.store.read(cell)
        except DamagedShardError as error:
            self.progress.note(f"{error} It is computed anew.")
            self.n_damaged += 1
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

    def work(
        self, name: str, n_jobs: int | None, scheduler: str | None, data: Mapping[str, Dataset]
    ) -> None:
        """Run the missing cells on an engine.

        Parameters
        ----------
        name, n_jobs, scheduler
            The engine, as `start_engine` takes it.
        data : mapping of str to Dataset
            Data sets by name that are handed to the engine; workers read the others.
        """
        sent = {self._described[key]["fingerprint"]: dataset for key, dataset in data.items()}
        engine = start_engine(name, n_jobs, scheduler, sent)
        own = data if name == "serial" else {}  # what need not travel

        def submit(task: Task) -> "Future[Any]":
            task = replace(task, tuned=self._tuned.get(task.dataset))
            return engine.submit(run_task, task, own.get(task.dataset))

        queue = TaskQueue(self.cells, self._tunings())
        try:
            for task, result, error in run_tasks(engine, queue, submit, self.progress.note):
                if task.cell is None:
                    self._keep_tuned(task.dataset, error or result)
                else:
                    self._keep(
                        task.cell,
                        task.wanted,
                        result if error is None else self._failed(task, error),
                    )
        except BaseException:
            engine.close(at_once=True)
            raise
        engine.close()

    def _failed(self, task: Task, error: str) -> "pa.Table":
        """Return the rows of a task without result."""
        assert task.cell is not None
        y, n_features = self._labels[task.dataset], self._described[task.dataset]["n_features"]
        return rows_to_table(failed_cell(self.plan, task.cell, y, n_features, error, task.wanted))

    def _tunings(self) -> list[Task]:
        """Return the data sets that must be tuned; take from the store what it has."""
        is_wanted = any(self.plan.is_tuned(spec) for spec in self.plan.classifiers)
        if not is_wanted or self.plan.tuning.scope.startswith("fold"):
            return []
        missing = []
        for name in dict.fromkeys(task.dataset for task in self.cells):
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
            both = optional_import("pyarrow", "experiments").concat_tables([old, new])
            selectors, classifiers = (
                [spec.name for spec in part]
                for part in (self.plan.selectors, self.plan.classifiers)
            )
            table = in_plan_order(both, selectors, classifiers)
        self.store.write(cell, table)
        self.n_run += 1
        self._count(table)
        self.progress.advance(cell, new)

    def _count(self, table: "pa.Table") -> None:
        self.n_rows += table.num_rows
        self.progress.add(table)
        columns = [table[key].to_pylist() for key in ("selector", "classifier", "error", "status")]
        for selector, classifier, error, status in zip(*columns, strict=True):
            if status == "failed":
                self.failures[f"{selector}, {classifier}: {error}"] += 1
