"""`mauc tables`: a run folder in, tables as the paper's out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mauc.checks import unknown_choice
from mauc.cli.common import AlphaOption, DebugOption, ForceOption, JsonOption, command
from mauc.cli.data import make_comparison
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
    from mauc.report import Table
    from mauc.stats import Comparison

FORMATS = {"text": "txt", "markdown": "md", "latex": "tex", "csv": "csv"}

RunArgument = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="A run folder, see mauc run.", show_default=False)
]
TableFormatOption = Annotated[
    str,
    typer.Option("--format", "-f", metavar="NAME", help=f"What to print: {', '.join(FORMATS)}."),
]
TestOption = Annotated[
    str, typer.Option(metavar="NAME", help="wilcoxon, as in the paper, or corrected_t.")
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FOLDER", help="Write files to this folder, print nothing."
    ),
]


@command
def tables(
    run: RunArgument,
    dataset: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this data set; repeatable."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Baseline selector; mdfs, or the first of the run, by default."
        ),
    ] = None,
    test: TestOption = "wilcoxon",
    alpha: AlphaOption = 0.05,
    table_format: TableFormatOption = "text",
    output: OutputOption = None,
    figures: Annotated[
        bool, typer.Option("--figures", help="With --output: also draw the figures.")
    ] = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Show a run as tables: MAUC with marks, ranks, stability.

    Example: mauc tables runs/smoke --output tables --figures
    """
    from mauc.experiments import load_run
    from mauc.report import run_tables, write_figures, write_tables

    comparison = _check_options(reference, test, alpha, table_format)
    if figures and output is None:
        raise MaucError("--figures needs --output, a folder to draw into.")
    check_folder(output)
    rows = watched(load_run, f"reading {run}")(run)
    for name in dataset or ():
        if name not in set(rows["dataset"]):
            raise unknown_choice("--dataset", name, rows["dataset"].unique())
    if dataset:
        rows = rows[rows["dataset"].isin(dataset)]
    selectors = list(rows["selector"].unique())
    if not selectors:
        raise MaucError(f"{run} has no rows yet.")
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
        _say_written(files, as_json)
        return
    made = run_tables(rows, comparison)
    if as_json:
        print_json({name: frame_records(table.to_frame()) for name, table in made.items()})
        return
    _print(list(made.values()), table_format)


def write_run_tables(run: Path, folder: Path, *, force: bool = False) -> list[Path]:
    """Write the tables of a run, against MDFS or its first selector."""
    from mauc.experiments import load_run
    from mauc.report import write_tables

    rows = watched(load_run, f"reading {run}")(run)
    selectors = list(rows["selector"].unique())
    if not selectors:
        raise MaucError(f"{run} has no rows, so that there are no tables to write.")
    comparison = make_comparison(_first_of(selectors), "wilcoxon", 0.05)
    return write_tables(rows, folder, comparison, force=force)


def _first_of(selectors: list[str]) -> str:
    """Return the baseline of a run if none is named."""
    return "mdfs" if "mdfs" in selectors else selectors[0]


def _check_options(
    reference: str | None, test: str, alpha: float, table_format: str
) -> "Comparison":
    if table_format not in FORMATS:
        raise unknown_choice("--format", table_format, FORMATS)
    return make_comparison(reference, test, alpha)


@contextmanager
def _shown_if_unwritten(make: "Callable[[], list[Table]]", table_format: str) -> Iterator[None]:
    """Print tables whose files cannot be written, and raise the error then."""
    try:
        yield
    except (MaucError, OSError) as error:
        if "exists already" not in str(error):
            _print(make(), table_format)
        raise


def _say_written(files: list[Path], as_json: bool) -> None:
    if as_json:
        print_json({"files": files})
    say_files(files)


def _print(made: "list[Table]", table_format: str) -> None:
    if FORMATS[table_format] == "txt":
        print_report_table(*made)
        return
    print_text("\n\n".join(table.to_format(FORMATS[table_format]).rstrip() for table in made))
