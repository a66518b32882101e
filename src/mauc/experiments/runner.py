"""Run a plan: cells that are not done yet in, shards in the run folder out."""

from dataclasses import dataclass
from pathlib import Path

from mauc.exceptions import MaucError
from mauc.experiments.engines import check_engine, n_cores, start_engine
from mauc.experiments.plan import Plan
from mauc.experiments.plan_file import parse_plan
from mauc.experiments.progress import make_progress
from mauc.experiments.start import Start
from mauc.experiments.store import RunFolder


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
    [0.982, 0.999, 0.96, 0.996]
    """
    check_engine(engine, n_jobs, scheduler)
    text = None
    if not isinstance(plan, Plan):
        path = Path(plan)
        text = _read_text(path)
        plan = parse_plan(text, name=path.stem, folder=path.parent, where=str(path))
    shown = make_progress(progress)
    run = Start(plan, RunFolder(folder), shown, retry_failed)
    with run.folder.locked():
        try:
            run.prepare(text)
            if run.cells:
                _work(run, engine, n_jobs, scheduler)
        finally:
            shown.close()
    return RunSummary(
        folder=run.folder.path, n_cells=len(plan.cells()), n_run=run.n_run,
        n_damaged=run.n_damaged, n_rows=run.n_rows, failures=dict(run.failures),
        seconds=run.seconds,
    )  # fmt: skip


def _work(run: Start, engine: str, n_jobs: int | None, scheduler: str | None) -> None:
    threads = 1
    if engine == "serial":
        threads = n_cores() if n_jobs in (None, -1) else int(n_jobs or 1)
    elif engine == "processes" and n_jobs not in (None, -1):
        threads = max(1, n_cores() // int(n_jobs or 1))
    workers = start_engine(engine, n_jobs, scheduler)
    try:
        run.work(workers, threads)
    except BaseException:
        workers.close(at_once=True)
        raise
    workers.close()


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MaucError(f"the plan {path} cannot be read: {error}.") from error
