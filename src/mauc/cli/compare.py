"""`mauc compare`: selectors side by side on the user's own data, by cross-validation."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mauc.checks import unknown_choice
from mauc.cli.common import (
    DEFAULT_DATA,
    FAILED,
    AlphaOption,
    DataArgument,
    DebugOption,
    FigureOption,
    ForceOption,
    JsonOption,
    ProgressOption,
    SeedOption,
    TargetOption,
    WorkersOption,
    command,
    echo_stderr,
)
from mauc.cli.data import (
    make_comparison,
    named_selector,
    say_columns,
    sizes_from,
    suited,
    words_of,
)
from mauc.cli.fitting import fit_on
from mauc.cli.outputs import (
    Written,
    check_figure,
    check_folder,
    check_outputs,
    check_report,
    write_figure,
)
from mauc.cli.page import page_words
from mauc.cli.reading import DEFAULT_READING, Reading, reads_data
from mauc.cli.show import (
    add_row,
    frame_records,
    make_console,
    make_table,
    print_json,
    print_report_table,
    print_table,
    watched,
)
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from rich.table import Table

    from mauc.datasets import Dataset
    from mauc.experiments import DatasetSpec, Plan
    from mauc.stats import Comparison

_METHODS = "greedy,mdfs,maucd,mrmr,chi,su"
_BAR = 20  # characters of the bar of MAUC 1


@command
@reads_data
def compare(
    data: DataArgument = DEFAULT_DATA,
    target: TargetOption = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            "-m",
            metavar="NAMES",
            help=f"Selectors, comma-separated; {_METHODS} by default.",
        ),
    ] = None,
    classifiers: Annotated[
        str,
        typer.Option("--classifiers", "-c", metavar="NAMES", help="Classifiers, comma-separated."),
    ] = "nb,1nn",
    sizes: Annotated[
        str | None,
        typer.Option(metavar="INTS", help="Numbers of features, comma-separated: 5,10,20."),
    ] = None,
    repeats: Annotated[
        int, typer.Option(metavar="INT", help="Repeats of the cross-validation.")
    ] = 2,
    folds: Annotated[int, typer.Option(metavar="INT", help="Folds of the cross-validation.")] = 5,
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Baseline selector; the first of --methods by default."),
    ] = None,
    test: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="corrected_t (allows for overlapping folds) or wilcoxon (as in the paper).",
        ),
    ] = "corrected_t",
    alpha: AlphaOption = 0.05,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Keep the run in this folder; the same command resumes it.",
        ),
    ] = None,
    figure: FigureOption = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write an HTML page: the selection of the baseline, and the comparison.",
        ),
    ] = None,
    reading: Reading = DEFAULT_READING,
    seed: SeedOption = 0,
    jobs: WorkersOption = -1,
    progress: ProgressOption = "auto",
    force: ForceOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Compare selectors on your data by cross-validation.

    Example: mauc compare data.csv --target label --methods mdfs,mrmr,su --sizes 5,10,20
    """
    from mauc.experiments import MethodSpec, Plan, load_run, run_plan
    from mauc.experiments.data import nominal_notes
    from mauc.experiments.plan import build_classifier, build_selector
    from mauc.stats import compare_to, mean_mauc

    check_figure(figure, force=force)
    check_outputs(report, force=force)
    check_report(report)
    check_folder(output)
    names = words_of(_METHODS if methods is None else methods, "--methods")
    if reference is not None and reference not in names:
        raise unknown_choice("--reference", reference, names)
    comparison = make_comparison(reference or names[0], test, alpha)
    selectors = tuple(MethodSpec(name) for name in names)
    models = tuple(MethodSpec(name) for name in words_of(classifiers, "--classifiers"))
    for spec in selectors:
        build_selector(spec)  # a wrong name is refused before the data are read
    for spec in models:
        build_classifier(spec)
    dataset = reading.load(data, target)
    if methods is None and reference is None:
        echo_stderr(
            "the baseline is greedy (GreedyMAUC); --reference mdfs takes the paper's, MDFS."
        )
    say_columns(dataset, data)
    source = _dataset_spec(dataset, data, target, reading.options())
    plan = Plan(
        name=f"compare {source.name}", datasets=(source,),
        selectors=selectors, classifiers=models,
        sizes=sizes_from(sizes, dataset.n_features), repeats=repeats, folds=folds, seed=seed,
    )  # fmt: skip
    try:
        summary = run_plan(
            plan, output, engine="serial" if jobs == 1 else "processes", n_jobs=jobs,
            progress=progress, data={source.name: dataset},
        )  # fmt: skip
    except KeyboardInterrupt:
        kept = f"finished cells are in {output}; the same command resumes the run."
        raise KeyboardInterrupt(kept if output else "") from None
    rows = load_run(output) if output else summary.rows
    failed = [f"{count} x {what}" for what, count in sorted(summary.failures.items())]
    if summary.n_failed == len(rows):
        raise MaucError("every combination failed:\n  " + "\n  ".join(failed))
    written = Written()
    if figure is not None:
        from mauc.plotting import CurvesDisplay

        written.add(
            lambda: write_figure(CurvesDisplay.from_run(rows).plot().figure_, figure, force=force)
        )
    if report is not None:
        written.add(lambda: _write_report(dataset, plan, rows, comparison, report, force=force))
    if as_json:
        print_json(
            {
                "data": dataset.name,
                "columns": [*dataset.notes, *nominal_notes(plan, dataset)],
                **asdict(comparison),
                "means": frame_records(mean_mauc(rows)),
                "comparison": frame_records(compare_to(rows, comparison)),
                "failures": summary.failures,
                "run": output,
                "files": written.files,
            }
        )
    else:
        from mauc.report import mauc_table

        print_report_table(mauc_table(rows, source.name, comparison))
        print_table(overview(rows, comparison))
    written.finish()
    if failed:
        echo_stderr("some combinations failed:\n  " + "\n  ".join(failed))
        raise typer.Exit(FAILED)


def _write_report(
    dataset: "Dataset", plan: "Plan", rows: Any, comparison: "Comparison", path: Path, *,
    force: bool,
) -> Path:  # fmt: skip
    """Write the page about the selection of the baseline, fitted on all rows.

    It is made of what the selectors of the table saw: codes, if the baseline takes numbers only.
    """
    from mauc.experiments.data import nominal_notes
    from mauc.report import selection_report

    baseline = comparison.reference or plan.selectors[0].name
    selector = named_selector(baseline, None, plan.seed, 1)
    notes = nominal_notes(plan, dataset)
    dataset = suited(selector, dataset, baseline, "ordinal")
    selector.set_params(n_features_to_select=min(max(plan.sizes), dataset.n_features))
    fit_on(selector, dataset)
    page = watched(selection_report, "the page")(
        selector, dataset.X, dataset.y,
        data_name=dataset.name, feature_names=dataset.feature_names, run=rows,
        comparison=comparison, notes=[*dataset.notes, *notes], source=dataset.source,
        **page_words(selector, dataset.n_features),
    )  # fmt: skip
    return page.write(path, force=force)


def _dataset_spec(
    dataset: "Dataset", data: str, target: str | None, options: dict[str, Any]
) -> "DatasetSpec":
    """Return how later starts find the data: by name, or by the whole path."""
    from urllib.parse import quote

    from mauc.datasets import BUNDLED
    from mauc.experiments import DatasetSpec
    from mauc.io.files import is_stream
    from mauc.io.registry import find_dataset

    source = data
    if is_stream(data):
        source = "-"
    elif data not in BUNDLED or "format" in options:
        path = find_dataset(data)
        if path == Path(data):
            source = str(path.resolve())
    # The name becomes the name of a folder; that of the file may have any characters.
    name = "".join(char if char.isalnum() or char in " .,+-_()" else "_" for char in dataset.name)
    name = name.strip(" .") or "data"
    while len(quote(name)) > 100:
        name = name[:-1].strip(" .")
    return DatasetSpec(name, source, target, options)


def overview(rows: Any, comparison: "Comparison") -> "Table":
    """Return the mean MAUC of each selector as a bar, with wins and losses of the baseline."""
    from mauc.stats import compare_to, win_draw_loss

    means = rows[rows["status"] == "ok"].groupby("selector", sort=False)["mauc"].mean()
    counts = win_draw_loss(compare_to(rows, comparison), by=()).set_index("selector")
    verdict = f"{comparison.reference} wins / draws / loses"
    table = make_table("selector", "mean MAUC", "from 1/2 to 1", verdict, right=("mean MAUC",))
    block = "█" if make_console().encoding.startswith("utf") else "#"
    for selector, mean in means.sort_values(ascending=False, kind="stable").items():
        share = max(0.0, 2 * mean - 1)  # from chance, 1/2, to 1
        counted = "-"
        if selector in counts.index:
            row = counts.loc[selector]
            counted = f"{row['win']} / {row['draw']} / {row['loss']}"
        bar = block * round(share * _BAR)
        add_row(table, selector, f"{mean:.4f}", bar, counted)
    return table
