"""`mauc run` and `mauc tables`: the experiment of a plan, and its tables."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mauc.checks import unknown_choice
from mauc.cli.common import (
    FAILED,
    FILE,
    alpha_option,
    command,
    force_option,
    json_option,
    progress_option,
    scheduler_option,
    workers_option,
)
from mauc.cli.outputs import check_folder, use_no_screen
from mauc.cli.show import (
    frame_records,
    print_json,
    print_report_table,
    print_text,
    say_files,
    watched,
)
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.experiments import RunSummary
    from mauc.report import Table

FORMATS = {"text": "txt", "markdown": "md", "latex": "tex", "csv": "csv"}


@command()
@click.argument("plan", required=False, type=FILE)
@click.option(
    "-o", "--output", metavar="FOLDER", type=FILE, help="The run folder; runs/NAME by default."
)
@click.option(
    "--engine", metavar="NAME", default="processes", show_default=True,
    help="Where cells run: processes, dask or serial.",
)  # fmt: skip
@scheduler_option
@workers_option
@progress_option
@click.option("--retry-failed", is_flag=True, help="Run again what failed before.")
@click.option(
    "--tables", metavar="FOLDER", type=FILE,
    help="When done, write the tables of mauc tables to this folder.",
)  # fmt: skip
@force_option
@click.option("--schema", is_flag=True, help="Print the JSON Schema of plans, and end.")
@json_option
def run(
    plan: Path | None, output: Path | None, engine: str, scheduler: str | None, jobs: int,
    progress: str, retry_failed: bool, tables: Path | None, force: bool, schema: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Run the experiment of PLAN, a TOML file, or resume it if it was stopped.

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
    files = [] if tables is None else _write_tables(folder, tables, force=force)
    if as_json:
        print_json({**summary_dict(summary), "files": files})
    else:
        print_text(str(summary))
        print_text(f"see: mauc tables {folder}")
    say_files(files)
    if summary.n_failed:
        click.get_current_context().exit(FAILED)


@command()
@click.argument("folder", type=FILE)
@click.option("--dataset", metavar="NAME", multiple=True, help="Only this data set; repeatable.")
@click.option(
    "--reference", metavar="NAME",
    help="Baseline selector; mdfs, or the first of the run, by default.",
)  # fmt: skip
@click.option(
    "--test", metavar="NAME", default="wilcoxon", show_default=True,
    help="wilcoxon, as in the paper, or corrected_t.",
)  # fmt: skip
@alpha_option
@click.option(
    "-f", "--format", "table_format", metavar="NAME", default="text", show_default=True,
    help=f"What to print: {', '.join(FORMATS)}.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="FOLDER", type=FILE,
    help="Write files to this folder, print nothing.",
)  # fmt: skip
@click.option("--figures", is_flag=True, help="With --output: also draw the figures.")
@force_option
@json_option
def tables(
    folder: Path, dataset: tuple[str, ...], reference: str | None, test: str, alpha: float,
    table_format: str, output: Path | None, figures: bool, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Show the run of FOLDER as tables: MAUC with marks, ranks, stability.

    Example: mauc tables runs/first --output tables --figures
    """
    from mauc.experiments import load_run
    from mauc.report import run_tables, write_figures, write_tables
    from mauc.stats import Comparison

    if table_format not in FORMATS:
        raise unknown_choice("--format", table_format, FORMATS)
    comparison = Comparison(reference, test, alpha)
    if figures and output is None:
        raise MaucError("--figures needs --output, a folder to draw into.")
    check_folder(output)
    rows = watched(load_run, f"reading {folder}")(folder)
    for name in dataset:
        if name not in set(rows["dataset"]):
            raise unknown_choice("--dataset", name, rows["dataset"].unique())
    if dataset:
        rows = rows[rows["dataset"].isin(dataset)]
    selectors = list(rows["selector"].unique())
    if not selectors:
        raise MaucError(f"{folder} has no rows yet.")
    if reference is None:
        comparison = replace(comparison, reference=_first_of(selectors))
    elif reference not in selectors:
        raise unknown_choice("--reference", reference, selectors)
    if output is not None:
        if figures:
            use_no_screen()
        with _shown_if_unwritten(lambda: list(run_tables(rows, comparison).values()), table_format):
            files = write_tables(rows, output, comparison, force=force)
            if figures:
                files += write_figures(rows, output, comparison, force=force)
        if as_json:
            print_json({"files": files})
        say_files(files)
        return
    made = run_tables(rows, comparison)
    if as_json:
        print_json({name: frame_records(table.to_frame()) for name, table in made.items()})
    else:
        _print(list(made.values()), table_format)


def _write_tables(run: Path, folder: Path, *, force: bool = False) -> list[Path]:
    """Write the tables of a run, against MDFS or its first selector."""
    from mauc.experiments import load_run
    from mauc.report import write_tables
    from mauc.stats import Comparison

    rows = watched(load_run, f"reading {run}")(run)
    selectors = list(rows["selector"].unique())
    if not selectors:
        raise MaucError(f"{run} has no rows, so that there are no tables to write.")
    comparison = Comparison(_first_of(selectors), "wilcoxon", 0.05)
    return write_tables(rows, folder, comparison, force=force)


def _first_of(selectors: list[str]) -> str:
    """Return the baseline of a run if none is named."""
    return "mdfs" if "mdfs" in selectors else selectors[0]


@contextmanager
def _shown_if_unwritten(make: "Callable[[], list[Table]]", table_format: str) -> Iterator[None]:
    """Print tables whose files cannot be written, and raise the error then."""
    try:
        yield
    except (MaucError, OSError) as error:
        if "exists already" not in str(error):
            _print(make(), table_format)
        raise


def _print(made: "list[Table]", table_format: str) -> None:
    if FORMATS[table_format] == "txt":
        print_report_table(*made)
    else:
        print_text("\n\n".join(table.to_format(FORMATS[table_format]).rstrip() for table in made))


def summary_dict(summary: "RunSummary") -> dict[str, object]:
    """Return a summary as plain values."""
    return {
        "folder": summary.folder, "n_cells": summary.n_cells, "n_run": summary.n_run,
        "n_damaged": summary.n_damaged, "n_rows": summary.n_rows, "n_failed": summary.n_failed,
        "failures": summary.failures, "seconds": summary.seconds,
    }  # fmt: skip
