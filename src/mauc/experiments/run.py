"""Run a plan: cells that are not done yet in, their rows in the run folder out."""

import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from mauc.checks import allow_many_classes, check_choice
from mauc.compile import silenced
from mauc.datasets import Dataset
from mauc.exceptions import DamagedShardError, MaucError, option
from mauc.experiments.cell import Tuned, failed_cell, run_cell, split_rows, tune_dataset
from mauc.experiments.data import (
    WorkerSetupError,
    cell_memory,
    describe,
    find_data,
    load_data,
    map_data,
    write_data,
)
from mauc.experiments.parallel import Engine, run_tasks
from mauc.experiments.plan import Cell, Combination, Plan, read_plan_text
from mauc.experiments.rows import combinations_of, error_text, rows_to_table
from mauc.experiments.store import RunFolder, load_run
from mauc.memory import check_memory, format_bytes, free_memory
from mauc.progress import KINDS, Display, note, progress, track
from mauc.results import plural

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class RunSummary:
    """How a run ended."""

    folder: Path | None  #: None for a run in memory
    n_cells: int  #: cells of the plan
    n_run: int = 0  #: cells that were run now; the folder had the others
    n_damaged: int = 0  #: shards that were damaged and computed anew
    n_rows: int = 0  #: measurements of the plan
    #: rows that failed, by selector, classifier and error
    failures: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    rows: Any = None  #: pandas.DataFrame of a run in memory, as `load_run` returns one of a folder

    @property
    def n_failed(self) -> int:
        """Number of rows that failed."""
        return sum(self.failures.values())

    def __str__(self) -> str:
        lines = [
            f"{self.folder or 'in memory'}: {plural(self.n_cells, 'cell')}, {self.n_run} run now "
            f"in {self.seconds:.1f} s; {plural(self.n_rows, 'row')}, {self.n_failed} failed"
        ]
        lines += [f"  {count} x {what}" for what, count in sorted(self.failures.items())]
        return "\n".join(lines)


def run_plan(
    plan: Plan | str | Path,
    folder: str | Path | None = None,
    *,
    engine: str = "processes",
    n_jobs: int | None = None,
    scheduler: str | None = None,
    progress: str = "auto",
    retry_failed: bool = False,
    data: Mapping[str, Dataset] | None = None,
) -> RunSummary:
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
    check_choice(option("progress"), progress, KINDS, quoted=False)
    workers = Engine(engine, n_jobs, scheduler)
    if data is not None and engine == "dask":
        raise MaucError("data= goes with local engines; Dask workers read the data themselves.")
    plan, text = (plan, None) if isinstance(plan, Plan) else read_plan_text(plan)
    if folder is not None:
        summary = _run(plan, Path(folder), workers, progress, retry_failed, data or {}, text)
    else:
        with tempfile.TemporaryDirectory(prefix="mauc-run-") as made:
            summary = _run(plan, Path(made), workers, progress, retry_failed, data or {}, text)
            summary.folder, summary.rows = None, load_run(made)
    summary.seconds = time.monotonic() - began
    return summary


def _run(
    plan: Plan,
    folder: Path,
    engine: Engine,
    kind: str,
    retry_failed: bool,
    data: Mapping[str, Dataset],
    text: str | None,
) -> RunSummary:
    store = RunFolder(folder)
    with (
        store.locked(),
        _end_on_termination(),
        silenced() if kind == "quiet" else nullcontext(),
        progress(plan.name, verbose=kind != "quiet", style=kind) as display,
    ):
        try:
            run = Run(plan, store, engine, display)
            run.prepare(data, text, retry_failed)
            run.work()
        finally:
            engine.close()
    return run.summary


@contextmanager
def _end_on_termination() -> Iterator[None]:
    """Let SIGTERM end this process as Ctrl-C does, so that its workers end with it."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@dataclass(frozen=True, eq=False)
class Task:
    """A cell to run or, without a cell, a data set to tune: all that a worker needs."""

    plan: Plan
    dataset: str
    fingerprint: str  #: of the data; those of a worker must have the same
    n_jobs: int  #: threads
    path: Path | None = None  #: where a worker of the same host finds the data
    cell: Cell | None = None
    wanted: frozenset[Combination] | None = None  #: combinations to run; None for all
    tuned: dict[int, Tuned] | str | None = None  #: for the data set, or why that failed

    def __str__(self) -> str:
        return str(self.cell) if self.cell else f"the tuning of {self.dataset}"


def run_task(task: Task, data: Mapping[str, Dataset] = {}) -> Any:
    """Return the rows of a cell, or what was tuned; an exception as a value; runs in a worker."""
    try:
        if task.dataset in data:
            dataset = data[task.dataset]
        elif task.path is not None:
            dataset = map_data(task.path)
        else:
            dataset = find_data(task.plan, task.dataset, task.fingerprint)
        # The number of classes was checked, or allowed, when the data were loaded.
        with _one_blas_thread(), allow_many_classes():
            if task.cell is None:
                return tune_dataset(task.plan, task.dataset, dataset, task.n_jobs)
            rows = run_cell(
                task.plan,
                task.cell,
                dataset,
                tuned=task.tuned,
                wanted=task.wanted,
                n_jobs=task.n_jobs,
            )
            return rows_to_table(rows)
    except WorkerSetupError:
        raise  # it concerns all cells
    except Exception as error:
        return RuntimeError(error_text(error))


_blas_lock = threading.Lock()
_blas_limits: list[threadpool_limits] = []
_n_in_blas = 0


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread, as the order of its sums depends on it, while tasks are at work."""
    # The limit is that of the process: of the threads of a Dask worker the first sets it and the
    # last restores it.
    global _n_in_blas
    with _blas_lock:
        _n_in_blas += 1
        if _n_in_blas == 1:
            _blas_limits.append(threadpool_limits(1))
    try:
        yield
    finally:
        with _blas_lock:
            _n_in_blas -= 1
            if _n_in_blas == 0:
                _blas_limits.pop().restore_original_limits()


class Run:
    """A plan being run: the missing cells found, given to an engine, and their rows kept."""

    def __init__(
        self, plan: Plan, store: RunFolder, engine: Engine, display: Display | None
    ) -> None:
        self.plan: Plan = plan
        self.store: RunFolder = store
        self.engine: Engine = engine
        self._display = display
        self.note: Callable[[str], None] = note if display else lambda message: None
        self.summary: RunSummary = RunSummary(store.path, len(plan.cells()))
        self._missing: dict[Cell, frozenset[Combination] | None] = {}
        self._data: dict[str, Dataset] = {}
        self._labels: dict[str, tuple[np.ndarray, np.ndarray | None]] = {}  # and groups
        self._described: dict[str, dict[str, Any]] = {}
        self._sums: dict[str, list[float]] = {}  # of MAUC by selector, and how many
        self._n_workers = engine.n_workers

    def prepare(self, given: Mapping[str, Dataset], text: str | None, retry_failed: bool) -> None:
        """Load what data sets are not given, open the store, find the cells that are missing."""
        # Before the folder is opened: a plan that cannot run must not bind it.
        self._data = load_data(self.plan, given, self.note)
        if self.engine.is_local:
            self._check_memory()
        self._labels = {name: (data.y, data.groups) for name, data in self._data.items()}
        self._described = {name: describe(dataset) for name, dataset in self._data.items()}
        self.store.begin(self.plan, text, self._described)
        for cell in self.plan.cells():
            missing = self._find_missing(cell, retry_failed)
            if missing is None or missing:
                self._missing[cell] = missing
        self.note(f"{plural(self.summary.n_cells, 'cell')}, {self._n_done} done before")

    @property
    def _n_done(self) -> int:
        return self.summary.n_cells - len(self._missing)

    def _check_memory(self) -> None:
        """Use no more workers than fit into the memory of this host; raise if none does."""
        needs = {name: cell_memory(self.plan, dataset) for name, dataset in self._data.items()}
        largest = max(needs, key=needs.__getitem__)
        check_memory(
            needs[largest],
            f"the methods on a fold of {largest}",
            "use fewer rows, features, classes, sizes or methods",
        )
        free = free_memory()
        if free is not None and free < self._n_workers * needs[largest]:
            n_fitting = max(1, free // needs[largest])
            self.note(
                f"{n_fitting} of {self._n_workers} workers are used: a fold of {largest} takes "
                f"about {format_bytes(needs[largest])} of memory, {format_bytes(free)} are free."
            )
            self._n_workers = n_fitting

    def _find_missing(self, cell: Cell, retry_failed: bool) -> frozenset[Combination] | None:
        """Return the combinations that a cell lacks; None stands for all."""
        if not self.store.has(cell):
            return None
        try:
            table = self.store.read(cell)
        except DamagedShardError as error:
            self.note(f"{error} It is computed anew.")
            self.summary.n_damaged += 1
            return None
        known = combinations_of(table)
        pairs = product(self.plan.selectors, self.plan.classifiers)
        missing = {(one.name, other.name) for one, other in pairs} - set(known)
        if retry_failed:
            statuses = table["status"].to_pylist()
            missing |= {
                pair for pair, status in zip(known, statuses, strict=True) if status != "ok"
            }
        if not missing:
            self._count(table)
        return frozenset(missing)

    def work(self) -> None:
        """Run the missing cells, data sets that need it tuned first."""
        if not self._missing:
            return
        self._n_workers = min(self._n_workers, len(self._missing))
        with ExitStack() as files:
            function: Callable[[Task], Any] = run_task
            names = dict.fromkeys(cell.dataset for cell in self._missing)
            paths: dict[str, Path] = {}
            if self.engine.name == "serial":
                function = partial(run_task, data=self._data)
            elif self.engine.is_local:
                for name in names:
                    paths[name] = write_data(self._data[name], self.store.path)
                    files.callback(paths[name].unlink, missing_ok=True)
                self._data.clear()  # of which all workers share one copy
            tasks = {
                name: Task(
                    self.plan,
                    name,
                    self._described[name]["fingerprint"],
                    self.engine.n_threads,
                    paths.get(name),
                )
                for name in names
            }
            tuned = self._tune(tasks, function)
            sizes = {name: d["n_samples"] * d["n_features"] for name, d in self._described.items()}
            # The longest first, so that no worker is left with one when all others are done.
            cells = [
                replace(
                    tasks[cell.dataset],
                    cell=cell,
                    wanted=self._missing[cell],
                    tuned=tuned.get(cell.dataset),
                )
                for cell in sorted(self._missing, key=lambda cell: -sizes[cell.dataset])
            ]
            results = run_tasks(self.engine, function, cells, self.note, self._n_workers)
            for task, rows in track(results, "cells", self.summary.n_cells, n_before=self._n_done):
                self._keep(task, rows)
        if self._display is not None:
            n_cells = self.summary.n_cells
            self.note(f"{n_cells}/{n_cells} cells are done; {self._display.results}")

    def _tune(
        self, tasks: Mapping[str, Task], function: Callable[[Task], Any]
    ) -> dict[str, dict[int, Tuned] | str]:
        """Return what is tuned for each data set, or why that failed; the store may have it."""
        is_wanted = any(spec.is_tuned for spec in self.plan.classifiers)
        if not is_wanted or self.plan.tuning.scope.startswith("fold"):
            return {}
        found: dict[str, Any] = {name: self.store.read_tuned(name) for name in tasks}
        untuned = [task for name, task in tasks.items() if found[name] is None]
        results = run_tasks(self.engine, function, untuned, self.note, self._n_workers)
        for task, tuned in track(results, "data sets tuned", len(untuned)):
            if isinstance(tuned, RuntimeError):
                found[task.dataset] = str(tuned)
                self.note(f"{task.dataset}: the SVM could not be tuned: {tuned}")
                continue
            found[task.dataset] = tuned
            self.store.write_tuned(task.dataset, tuned)
            for size, one in tuned.items():
                self.note(
                    f"{task.dataset}: SVM tuned on {plural(one.n_samples, 'sample')}, "
                    f"{plural(size, 'feature')}: C = {one.C:g}, gamma = {one.gamma:g} "
                    f"(MAUC {one.mauc:.3f})"
                )
        return found

    def _keep(self, task: Task, rows: "pa.Table | RuntimeError") -> None:
        """Write the rows of a cell, beside those it had."""
        assert task.cell is not None
        if isinstance(rows, RuntimeError):
            n_features = self._described[task.dataset]["n_features"]
            parts = split_rows(self.plan, task.cell, *self._labels[task.dataset])
            failed = failed_cell(self.plan, task.cell, parts, n_features, str(rows), task.wanted)
            rows = rows_to_table(failed)
        if task.wanted is not None:
            import pyarrow

            old = self.store.read(task.cell)
            old = old.filter([pair not in task.wanted for pair in combinations_of(old)])
            rows = pyarrow.concat_tables([old, rows])
        self.store.write(task.cell, rows)
        self.summary.n_run += 1
        self._count(rows)

    def _count(self, table: "pa.Table") -> None:
        """Add rows to the summary, and to the means that are shown."""
        self.summary.n_rows += table.num_rows
        for row in table.select(["selector", "classifier", "mauc", "error", "status"]).to_pylist():
            if row["status"] == "failed":
                what = f"{row['selector']}, {row['classifier']}: {row['error']}"
                self.summary.failures[what] += 1
                continue
            total = self._sums.setdefault(row["selector"], [0.0, 0])
            total[0] += row["mauc"]
            total[1] += 1
        if self._display is not None:
            means = {name: total / n for name, (total, n) in self._sums.items()}
            shown = sorted(means.items(), key=lambda item: -item[1])
            self._display.results = "mean MAUC " + ", ".join(f"{k} {v:.3f}" for k, v in shown)
