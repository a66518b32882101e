"""`mauc tables` and `mauc published`: a run folder in, the paper's tables out."""

from pathlib import Path
from typing import Annotated, Any

import typer

from mauc.cli.common import (
    DebugOption,
    ForceOption,
    JsonOption,
    OutputOption,
    command,
    frame_records,
    print_json,
    say_files,
)
from mauc.exceptions import MaucError, unknown_word
from mauc.experiments import load_run
from mauc.report import (
    Table,
    compare_published,
    mauc_table,
    ranks_table,
    runtime_table,
    stability_table,
    win_draw_loss_table,
    write_figures,
    write_published,
    write_tables,
)

FORMATS = {"text": "txt", "markdown": "md", "latex": "tex", "csv": "csv"}

RunArgument = Annotated[Path, typer.Argument(help="A run folder.")]
TableFormatOption = Annotated[
    str, typer.Option("--format", "-f", help=f"What to print: {', '.join(FORMATS)}.")
]
ReferenceOption = Annotated[str, typer.Option(help="Selector that the others are marked against.")]
TestOption = Annotated[str, typer.Option(help="wilcoxon, as in the paper, or corrected_t.")]
AlphaOption = Annotated[float, typer.Option(help="Level of the test.")]


@command
def tables(
    run: RunArgument,
    dataset: Annotated[
        list[str] | None, typer.Option(help="Only this data set; may be given again.")
    ] = None,
    reference: ReferenceOption = "mdfs",
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
    """Show a run as the paper shows its own: MAUC with marks, ranks, stability, runtimes.

    Example: mauc tables runs/smoke --output tables --figures
    """
    rows = load_run(run)
    options: dict[str, Any] = {"reference": reference, "test": test, "alpha": alpha}
    if dataset:
        for name in dataset:
            if name not in set(rows["dataset"]):
                raise unknown_word("--dataset", name, rows["dataset"].unique())
        rows = rows[rows["dataset"].isin(dataset)]
    if figures and output is None:
        raise MaucError("--figures needs --output, a folder to draw into.")
    if output is not None:
        files = write_tables(rows, output, force=force, **options)
        if figures:
            files += write_figures(rows, output, force=force, **options)
        say_files(files)
        return
    names = rows["dataset"].unique()
    made: dict[str, Table] = {f"mauc {name}": mauc_table(rows, name, **options) for name in names}
    made["win/draw/loss"] = win_draw_loss_table(rows, **options)
    made["ranks"] = ranks_table(rows, reference=reference, alpha=alpha)
    made["stability"] = stability_table(rows)
    made["runtime"] = runtime_table(rows)
    if as_json:
        print_json({name: frame_records(table.frame()) for name, table in made.items()})
        return
    _print(list(made.values()), table_format)


@command
def published(
    run: RunArgument,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            "--as", help='A selector under another name, such as "fsdd2=fsdd"; may be repeated.'
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
    """Put a run beside the paper: published | reproduced | difference, and a summary.

    Example: mauc published runs/wang2011 --output reproduction
    """
    methods = {}
    for entry in variant or ():
        name, equals, method = entry.rpartition("=")
        if not equals:
            raise MaucError(f"--as must be NAME=METHOD, got {entry!r}.")
        methods[name] = method
    rows = load_run(run)
    options: dict[str, Any] = {"methods": methods or None, "test": test, "alpha": alpha}
    if output is not None:
        say_files(write_published(rows, output, force=force, **options))
        return
    comparison = compare_published(rows, **options)
    if as_json:
        print_json(frame_records(comparison.frame()))
        return
    _print([comparison], table_format)


def _print(made: list[Table], table_format: str) -> None:
    if table_format not in FORMATS:
        raise unknown_word("--format", table_format, FORMATS)
    typer.echo("\n\n".join(table.to_format(FORMATS[table_format]).rstrip() for table in made))
