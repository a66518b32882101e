"""`mauc run`: run the experiment of a plan, or resume it, and write its tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mauc.cli.common import (
    FAILED,
    DebugOption,
    ForceOption,
    JsonOption,
    ProgressOption,
    SchedulerOption,
    WorkersOption,
    command,
)
from mauc.cli.outputs import check_folder
from mauc.cli.show import print_json, print_text, say_files
from mauc.cli.tables import write_run_tables
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.experiments import RunSummary


@command
def run(
    plan: Annotated[
        Path | None,
        typer.Argument(metavar="PLAN", help="A TOML file.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="The run folder; runs/NAME by default."
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Where cells run: processes, dask or serial.")
    ] = "processes",
    scheduler: SchedulerOption = None,
    jobs: WorkersOption = -1,
    progress: ProgressOption = "auto",
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run again what failed before.")
    ] = False,
    tables: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="When done, write the tables of mauc tables to this folder.",
        ),
    ] = None,
    force: ForceOption = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of plans, for editors, and end.")
    ] = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Run an experiment, or resume one that was stopped.

    Example: mauc run plan.toml -o runs/first --tables tables
    """
    from mauc.experiments import plan_schema, run_plan
    from mauc.experiments.plan import read_plan_text

    if schema:
        print_json(plan_schema())
        return
    if plan is None:
        raise MaucError("PLAN must be a TOML file; mauc run --schema says what it may hold.")
    parsed, text = read_plan_text(plan)
    folder = output or Path("runs") / parsed.name
    check_folder(folder)
    check_folder(tables)
    if force and tables is None:
        raise MaucError("--force goes with --tables, whose files it replaces; a run is resumed.")
    if tables is not None and not force and tables.is_dir() and any(tables.iterdir()):
        raise MaucError(
            f"--tables {tables} is a folder with files; name another one, or say --force to "
            f"replace what the tables are called."
        )
    try:
        summary = run_plan(
            parsed, folder, text=text, engine=engine, n_jobs=jobs, scheduler=scheduler,
            progress=progress, retry_failed=retry_failed,
        )  # fmt: skip
    except KeyboardInterrupt:
        kept = f"finished cells are in {folder}; the same command resumes the run."
        raise KeyboardInterrupt(kept) from None
    files = [] if tables is None else write_run_tables(folder, tables, force=force)
    if as_json:
        print_json({**summary_dict(summary), "files": files})
    else:
        print_text(str(summary))
        print_text(f"see: mauc tables {folder}")
    if files:
        say_files(files)
    if summary.n_failed:
        raise typer.Exit(FAILED)


def summary_dict(summary: "RunSummary") -> dict[str, object]:
    """Return a summary as plain values."""
    return {
        "folder": summary.folder, "n_cells": summary.n_cells, "n_run": summary.n_run,
        "n_damaged": summary.n_damaged, "n_rows": summary.n_rows, "n_failed": summary.n_failed,
        "failures": summary.failures, "seconds": summary.seconds,
    }  # fmt: skip
