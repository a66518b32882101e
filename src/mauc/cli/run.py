"""`mauc run`: run the experiment of a plan, or go on with it."""

from pathlib import Path
from typing import Annotated

import typer

from mauc.cli.common import FAILED, DebugOption, JsonOption, command, print_json
from mauc.exceptions import MaucError, unknown_word
from mauc.experiments import RunSummary, read_plan, run_plan
from mauc.experiments.engines import ENGINES
from mauc.experiments.progress import KINDS
from mauc.report import paper_folder

SHIPPED = {"smoke": "smoke.toml", "wang2011": "plan.toml"}


@command
def run(
    plan: Annotated[
        str, typer.Argument(help=f"A TOML file, or a plan that ships: {', '.join(SHIPPED)}.")
    ] = "smoke",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The run folder; runs/NAME by default.")
    ] = None,
    engine: Annotated[str, typer.Option(help=f"One of {', '.join(ENGINES)}.")] = "processes",
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Workers; -1 for all cores.")] = -1,
    progress: Annotated[str, typer.Option(help=f"One of {', '.join(KINDS)}.")] = "auto",
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run again what failed before.")
    ] = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Run an experiment; the same command goes on with one that was stopped or killed.

    Exit code 0: all is there; 1: it is, but some combinations failed; 130: stopped.

    Example: mauc run smoke -o runs/first
    """
    path = find_plan(plan)
    folder = output or Path("runs") / read_plan(path).name
    try:
        summary = run_plan(
            path, folder, engine=engine, n_jobs=jobs, scheduler=scheduler, progress=progress,
            retry_failed=retry_failed,
        )  # fmt: skip
    except KeyboardInterrupt:
        typer.echo(f"mauc: what is done is in {folder}; the same command goes on.", err=True)
        raise
    if as_json:
        print_json(summary_dict(summary))
    else:
        typer.echo(str(summary))
        typer.echo(f"see: mauc tables {folder}")
    if summary.n_failed:
        raise typer.Exit(FAILED)


def find_plan(plan: str) -> Path:
    """Return the file of a plan that is given by path or by the name of one that ships."""
    path = Path(plan)
    if path.is_file():
        return path
    if plan in SHIPPED:
        return paper_folder() / SHIPPED[plan]
    if path.suffix:
        raise MaucError(f"there is no plan {plan}.")
    raise unknown_word("a plan that is no file", plan, SHIPPED)


def summary_dict(summary: RunSummary) -> dict[str, object]:
    """Return a summary as plain values."""
    return {
        "folder": summary.folder, "n_cells": summary.n_cells, "n_run": summary.n_run,
        "n_damaged": summary.n_damaged, "n_rows": summary.n_rows, "n_failed": summary.n_failed,
        "failures": summary.failures, "seconds": summary.seconds,
    }  # fmt: skip
