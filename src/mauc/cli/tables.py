"""`mauc tables` and `mauc published`: a run folder in, the paper's tables out."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mauc.checks import unknown_word
from mauc.cli.common import DebugOption, ForceOption, JsonOption, command, complain
from mauc.cli.compare import check_test
from mauc.cli.show import frame_records, print_json, print_text, say_files
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.report import Table

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
AlphaOption = Annotated[float, typer.Option(metavar="FLOAT", help="Level of the test.")]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FOLDER", help="Write files there, print nothing."),
]


@command
def tables(
    run: RunArgument,
    dataset: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this data set; may be given again."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Whom the others are marked against; mdfs or the first by default."
        ),
    ] = None,
    test: TestOption = "wilcoxon",
    alpha: AlphaOption = 0.05,
    table_format: TableFormatOption = "text",
    output: OutputOption = None,
    figures: Annotated[
        bool, typer.Option("--figures", help="With --output: draw the figures, too.")
    ] = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Show a run as tables: MAUC with marks, ranks, stability.

    Example: mauc tables runs/smoke --output tables --figures
    """
    from mauc.experiments import load_run

    _check_options(test, alpha, table_format)
    if figures and output is None:
        raise MaucError("--figures needs --output, a folder to draw into.")
    rows = load_run(run)
    for name in dataset or ():
        if name not in set(rows["dataset"]):
            raise unknown_word("--dataset", name, rows["dataset"].unique())
    if dataset:
        rows = rows[rows["dataset"].isin(dataset)]
    selectors = list(rows["selector"].unique())
    if reference is None:
        reference = "mdfs" if "mdfs" in selectors else selectors[0]
    elif reference not in selectors:
        raise unknown_word("--reference", reference, selectors)
    options: dict[str, Any] = {"reference": reference, "test": test, "alpha": alpha}
    if output is not None:
        _say_written(_write(rows, output, options, figures=figures, force=force), as_json)
        return
    made = _make_tables(rows, options)
    if as_json:
        print_json({name: frame_records(table.frame()) for name, table in made.items()})
        return
    _print(list(made.values()), table_format)


def _make_tables(rows: Any, options: dict[str, Any]) -> "dict[str, Table]":
    from mauc.report import (
        mauc_table,
        ranks_table,
        runtime_table,
        stability_table,
        win_draw_loss_table,
    )

    made: dict[str, Table] = {}
    for name in rows["dataset"].unique():
        made[f"mauc {name}"] = mauc_table(rows, name, **options)
    others: dict[str, Callable[[], Table]] = {
        "win/draw/loss": lambda: win_draw_loss_table(rows, **options),
        "ranks": lambda: ranks_table(rows, reference=options["reference"], alpha=options["alpha"]),
        "stability": lambda: stability_table(rows),
        "runtime": lambda: runtime_table(rows),
    }
    for name, make in others.items():
        # A small run has too little for some of them: one selector, one fold, one data set.
        try:
            made[name] = make()
        except MaucError as error:
            complain(f"no table of {name}: {error}")
    return made


def _write(
    rows: Any, output: Path, options: dict[str, Any], *, figures: bool, force: bool
) -> list[Path]:
    from mauc.report import write_figures, write_tables

    if figures:
        import matplotlib

        matplotlib.use("Agg")  # files need no screen
    files = write_tables(rows, output, force=force, **options)
    if figures:
        files += write_figures(rows, output, force=force, **options)
    return files


@command
def published(
    run: RunArgument,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar="NAME=METHOD",
            help='A selector under another name, such as "fsdd2=fsdd"; may be given again.',
        ),
    ] = None,
    test: TestOption = "wilcoxon",
    alpha: AlphaOption = 0.05,
    table_format: TableFormatOption = "text",
    output: OutputOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Put a run beside the numbers of the paper.

    Example: mauc published runs/wang2011 --output reproduction
    """
    from mauc.experiments import load_run
    from mauc.report import compare_published, write_published

    _check_options(test, alpha, table_format)
    methods = {}
    for entry in variant or ():
        name, equals, method = entry.rpartition("=")
        if not equals:
            raise MaucError(f"--as must be NAME=METHOD, got {entry!r}.")
        methods[name] = method
    rows = load_run(run)
    options: dict[str, Any] = {"methods": methods or None, "test": test, "alpha": alpha}
    if output is not None:
        _say_written(write_published(rows, output, force=force, **options), as_json)
        return
    comparison = compare_published(rows, **options)
    if as_json:
        print_json(frame_records(comparison.frame()))
        return
    _print([comparison], table_format)


def _check_options(test: str, alpha: float, table_format: str) -> None:
    check_test(test, alpha)
    if table_format not in FORMATS:
        raise unknown_word("--format", table_format, FORMATS)


def _say_written(files: list[Path], as_json: bool) -> None:
    if as_json:
        print_json({"files": files})
    say_files(files)


def _print(made: "list[Table]", table_format: str) -> None:
    print_text("\n\n".join(table.to_format(FORMATS[table_format]).rstrip() for table in made))
