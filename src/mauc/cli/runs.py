"""`mauc run` and `mauc tables`: the experiment of a plan, and its tables."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mauc.checks import check_choice
from mauc.cli import common, show
from mauc.cli.outputs import check_folder, use_no_screen
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.report import Table
    from mauc.stats import Comparison

FORMATS = {"text": "txt", "markdown": "md", "latex": "tex", "csv": "csv"}


@common.command()
@click.argument("plan", required=False, type=common.FILE)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=common.FILE,
    help="The run folder; runs/NAME by default.",
)
@click.option(
    "--engine",
    metavar="NAME",
    default="processes",
    help="Where cells run: processes, dask or serial.",
)
@common.scheduler_option
@common.workers_option
@common.progress_option
@click.option("--retry-failed", is_flag=True, help="Run again what failed before.")
@common.path_option(
    "--tables", metavar="FOLDER", help="When done, write the tables of mauc tables to this folder."
)
@common.force_option
@click.option("--schema", is_flag=True, help="Print the JSON Schema of plans, and end.")
def run(
    plan: Path | None,
    output: Path | None,
    engine: str,
    scheduler: str | None,
    jobs: int,
    progress: str,
    retry_failed: bool,
    tables: Path | None,
    force: bool,
    schema: bool,
    as_json: bool,
) -> None:
    """Run the experiment of PLAN, a TOML file, or resume it if it was stopped.

    Example: mauc run plan.toml -o runs/first --tables tables
    """
    from mauc.experiments import plan_schema, read_plan, run_plan
    from mauc.report import write_tables
    from mauc.stats import Comparison

    if schema:
        show.print_json(plan_schema())
        return
    if plan is None:
        raise MaucError("PLAN must be a TOML file; mauc run --schema says what it may hold.")
    read = read_plan(plan)
    folder = output or Path("runs") / read.name
    check_folder(folder)
    check_folder(tables)
    if force and tables is None:
        raise MaucError("--force goes with --tables, whose files it replaces; a run is resumed.")
    if tables is not None and not force and tables.is_dir() and any(tables.iterdir()):
        raise MaucError(
            f"--tables {tables} is a folder with files; name another one, or say --force to "
            f"replace what the tables are called."
        )
    if shortage := Comparison().shortage(read.repeats * read.folds):
        common.echo_stderr(shortage)
    with common.resumable(folder):
        summary = run_plan(
            plan,
            folder,
            engine=engine,
            n_jobs=jobs,
            scheduler=scheduler,
            progress=progress,
            retry_failed=retry_failed,
        )
    files: list[Path] = []
    if tables is not None:
        rows, comparison = _read_run(folder, Comparison(None))
        files = write_tables(rows, tables, comparison, force=force)
    if as_json:
        values = {**vars(summary), "n_failed": summary.n_failed, "files": files}
        del values["rows"]
        show.print_json(values, "run-1")
    else:
        show.print_text(str(summary))
        show.print_text(f"see: mauc tables {folder}")
    show.say_files(files)
    if summary.n_failed:
        click.get_current_context().exit(common.FAILED)


@common.command()
@click.argument("folder", type=common.FILE)
@click.option("--dataset", metavar="NAME", multiple=True, help="Only this data set; repeatable.")
@click.option(
    "--reference",
    metavar="NAME",
    help="Baseline selector; mdfs, or the first of the run, by default.",
)
@click.option(
    "--test",
    metavar="NAME",
    default="wilcoxon",
    help="wilcoxon, as in the paper, or corrected_t.",
)
@common.alpha_option
@click.option(
    "-f",
    "--format",
    "table_format",
    metavar="NAME",
    default="text",
    help=f"What to print: {', '.join(FORMATS)}.",
)
@common.path_option(
    "-o", "--output", metavar="FOLDER", help="Write files to this folder, print nothing."
)
@click.option("--figures", is_flag=True, help="With --output: also draw the figures.")
@common.force_option
def tables(
    folder: Path,
    dataset: tuple[str, ...],
    reference: str | None,
    test: str,
    alpha: float,
    table_format: str,
    output: Path | None,
    figures: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Show the run of FOLDER as tables: MAUC with marks, ranks, stability.

    Example: mauc tables runs/first --output tables --figures
    """
    from mauc.report import run_tables, write_figures, write_tables
    from mauc.stats import Comparison

    check_choice("--format", table_format, FORMATS, quoted=False)
    comparison = Comparison(reference, test, alpha)
    if figures and output is None:
        raise MaucError("--figures needs --output, a folder to draw into.")
    check_folder(output)
    rows, comparison = _read_run(folder, comparison, dataset)
    if output is not None:
        if figures:
            use_no_screen()
        with _shown_if_unwritten(lambda: list(run_tables(rows, comparison).values()), table_format):
            files = write_tables(rows, output, comparison, force=force)
            if figures:
                files += write_figures(rows, output, comparison, force=force)
        if as_json:
            show.print_json({"tables": {}, "files": files}, "tables-1")
        show.say_files(files)
        return
    made = run_tables(rows, comparison)
    if as_json:
        frames = {name: table.to_frame() for name, table in made.items()}
        show.print_json({"tables": frames, "files": []}, "tables-1")
    else:
        _print(list(made.values()), table_format)


def _read_run(
    folder: Path, comparison: "Comparison", datasets: tuple[str, ...] = ()
) -> "tuple[Any, Comparison]":
    """Return the rows of a run, and a comparison with its baseline: mdfs or the first selector."""
    from mauc.experiments import load_run

    rows = show.watched(load_run, f"reading {folder}")(folder)
    for name in datasets:
        check_choice("--dataset", name, rows["dataset"].unique(), quoted=False)
    if datasets:
        rows = rows[rows["dataset"].isin(datasets)]
    selectors = list(rows["selector"].unique())
    if not selectors:
        raise MaucError(f"{folder} has no rows yet.")
    reference = comparison.reference or ("mdfs" if "mdfs" in selectors else selectors[0])
    check_choice("--reference", reference, selectors, quoted=False)
    return rows, replace(comparison, reference=reference)


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
        show.print_report_table(*made)
    else:
        show.print_text(
            "\n\n".join(table.to_format(FORMATS[table_format]).rstrip() for table in made)
        )
