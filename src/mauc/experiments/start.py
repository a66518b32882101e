"""One start of a run: the missing cells found, handed to an engine, and their rows kept."""

import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.datasets import load_dataset
from mauc.exceptions import DamagedShardError, MaucError
from mauc.experiments.cell import Combination
from mauc.experiments.engines import Engine
from mauc.experiments.jobs import Job, JobQueue
from mauc.experiments.plan import Cell, Plan
from mauc.experiments.progress import Progress
from mauc.experiments.rows import error_text, import_pyarrow, in_plan_order
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


class Start:
    """The state of one start of a run.

    Parameters
    ----------
    plan : Plan
    folder : RunFolder
    progress : Progress
    retry_failed : bool
        Whether to run combinations again that failed before.

    Attributes
    ----------
    cells : list of Job
        The cells that are not done, once prepared.
    failures : Counter of str
        Rows that failed, by selector, classifier and error.
    n_run, n_damaged, n_rows : int
        Cells that this start ran, shards that were damaged, rows of the plan so far.
    """

    def __init__(
        self, plan: Plan, folder: RunFolder, progress: Progress, retry_failed: bool
    ) -> None:
        self.plan, self.folder, self.progress = plan, folder, progress
        self.retry_failed = retry_failed
        self.cells: list[Job] = []
        self.failures: Counter[str] = Counter()
        self.n_run = self.n_damaged = self.n_rows = 0
        self._fingerprints: dict[str, str] = {}
        self._n_features: dict[str, int] = {}
        self._labels: dict[str, np.ndarray] = {}
        self._tuned: dict[str, dict[int, Tuned] | str] = {}
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self._began

    def prepare(self, text: str | None) -> None:
        """Load the data sets, open the folder and see which cells are missing.

        Parameters
        ----------
        text : str or None
            The plan as given, if it was given as text.
        """
        import_pyarrow()
        data = {}
        for spec in self.plan.datasets:
            try:
                dataset = load_dataset(spec.source, spec.target, **spec.options)
            except MaucError as error:
                raise MaucError(f"data set {spec.name}: {error}") from error
            data[spec.name] = dataset
            self._n_features[spec.name] = int(dataset.X.shape[1])
            self._labels[spec.name] = dataset.y
            # Before the folder is opened: a plan that cannot run must not bind it.
            self._check_data(spec.name, dataset.y)
        self.folder.begin(self.plan, text, data)
        known = self.folder.provenance()["datasets"]
        self._fingerprints = {name: known[name]["fingerprint"] for name in data}
        for cell in self.plan.cells():
            wanted = self._missing(cell)
            if wanted is None or wanted:
                self.cells.append(Job(cell.dataset, cell, wanted))
        n_cells = len(self.plan.cells())
        self.progress.start(n_cells, n_cells - len(self.cells))

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
        too_large = [size for size in self.plan.sizes if size > self._n_features[name]]
        if too_large:
            self.progress.note(
                f"{name} has {self._n_features[name]} features: sizes "
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
        """Run the missing cells; data sets that must be tuned first wait for it.

        Parameters
        ----------
        engine : Engine
        threads : int
            Of each task.
        """
        queue = JobQueue(self.cells, self._to_tune())
        running: dict[Future[Any], Job] = {}
        has_waited = False
        while queue or running:
            while len(running) < engine.n_places and (job := queue.take(len(running))):
                running[self._submit(engine, job, threads)] = job
            if not running:
                if not has_waited:
                    self.progress.note("the cluster has no worker yet; the run waits for one.")
                has_waited = True
                time.sleep(_POLL)
                continue
            done, _ = wait(running, timeout=_POLL, return_when=FIRST_COMPLETED)
            for future in done:
                self._finish(engine, queue, running.pop(future), future)

    def _submit(self, engine: Engine, job: Job, threads: int) -> "Future[Any]":
        fingerprint = self._fingerprints[job.dataset]
        if job.cell is None:
            return engine.submit(work_on_tuning, self.plan, job.dataset, fingerprint, threads)
        return engine.submit(work_on_cell, self._task(job, threads))

    def _task(self, job: Job, threads: int = 1) -> Task:
        assert job.cell is not None
        return Task(
            self.plan, job.cell, self._fingerprints[job.dataset], self._tuned.get(job.dataset),
            job.wanted, threads,
        )  # fmt: skip

    def _finish(self, engine: Engine, queue: JobQueue, job: Job, future: "Future[Any]") -> None:
        """Keep what a job gave, or see to what became of it."""
        if engine.is_unstarted(future):
            queue.put_back(job)
            return
        is_death = engine.is_death(future)
        error = future.exception()
        if isinstance(error, WorkerSetupError):
            raise error
        if is_death:
            if queue.suspect(job):
                self.progress.note(f"a worker died at {job}; it is tried once more, alone.")
                return
            error = RuntimeError("the worker died twice")
        message = None
        if error is not None:
            message = error_text(error)
        if job.cell is None:
            self._keep_tuned(job.dataset, message or future.result())
            queue.tuned(job.dataset)
        elif message is None:
            self._keep(job.cell, job.wanted, future.result())
        else:
            task = self._task(job)
            rows = failed_cell(
                task, self._labels[job.dataset], self._n_features[job.dataset], message
            )
            self._keep(job.cell, job.wanted, rows)

    def _to_tune(self) -> list[str]:
        """Return the data sets that must be tuned; take from the folder what it has."""
        is_wanted = any(self.plan.is_tuned(spec) for spec in self.plan.classifiers)
        if not is_wanted or self.plan.tuning.scope.startswith("fold"):
            return []
        missing = []
        for name in dict.fromkeys(job.dataset for job in self.cells):
            tuned = self.folder.read_tuned(name)
            if tuned is None:
                missing.append(name)
            else:
                self._tuned[name] = tuned
        return missing

    def _keep_tuned(self, name: str, tuned: dict[int, Tuned] | str) -> None:
        self._tuned[name] = tuned
        if isinstance(tuned, str):
            self.progress.note(f"{name}: the SVM could not be tuned: {tuned}")
            return
        self.folder.write_tuned(name, tuned)
        for size, found in tuned.items():
            self.progress.note(
                f"{name}: SVM tuned on {found.n_samples} samples, {size} features: "
                f"C = {found.C:g}, gamma = {found.gamma:g} (MAUC {found.mauc:.3f})"
            )

    def _keep(self, cell: Cell, wanted: frozenset[Combination] | None, new: "pa.Table") -> None:
        """Write the rows of a cell, beside those it had."""
        table = new
        if wanted is not None:
            old = _without(self.folder.read(cell), wanted)
            selectors = [spec.name for spec in self.plan.selectors]
            classifiers = [spec.name for spec in self.plan.classifiers]
            both = import_pyarrow().concat_tables([old, new])
            table = in_plan_order(both, selectors, classifiers)
        self.folder.write(cell, table)
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


def _without(table: "pa.Table", combinations: frozenset[Combination]) -> "pa.Table":
    names = zip(table["selector"].to_pylist(), table["classifier"].to_pylist(), strict=True)
    return table.filter([pair not in combinations for pair in names])
