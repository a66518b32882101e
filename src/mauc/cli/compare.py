"""`mauc compare`: selectors side by side on the user's own data, by cross-validation."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mauc.checks import unknown_choice
from mauc.cli.common import (
    FAILED,
    FILE,
    alpha_option,
    command,
    data_argument,
    echo_stderr,
    figure_option,
    force_option,
    json_option,
    progress_option,
    seed_option,
    words_of,
    workers_option,
)
from mauc.cli.fitting import fit_on, named_selector, suited
from mauc.cli.outputs import (
    Written,
    check_figure,
    check_folder,
    check_outputs,
    check_report,
    write_figure,
    write_page,
)
from mauc.cli.reading import Reading, reads_data, say_columns, target_option
from mauc.cli.show import (
    add_row,
    frame_records,
    make_console,
    make_table,
    print_json,
    print_report_table,
    print_table,
)
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from rich.table import Table

    from mauc.datasets import Dataset
    from mauc.experiments import DatasetSpec, Plan
    from mauc.stats import Comparison

_METHODS = "greedy,mdfs,maucd,mrmr,chi,su"
_BAR = 20  # characters of the bar of MAUC 1


@command()
@data_argument
@target_option
@click.option(
    "-m", "--methods", metavar="NAMES", help=f"Selectors, comma-separated; {_METHODS} by default."
)
@click.option(
    "-c", "--classifiers", metavar="NAMES", default="nb,1nn", show_default=True,
    help="Classifiers, comma-separated.",
)  # fmt: skip
@click.option("--sizes", metavar="INTS", help="Numbers of features, comma-separated: 5,10,20.")
@click.option(
    "--repeats", metavar="INT", type=int, default=2, show_default=True,
    help="Repeats of the cross-validation.",
)  # fmt: skip
@click.option(
    "--folds", metavar="INT", type=int, default=5, show_default=True,
    help="Folds of the cross-validation.",
)  # fmt: skip
@click.option(
    "--reference", metavar="NAME", help="Baseline selector; the first of --methods by default."
)
@click.option(
    "--test", metavar="NAME", default="corrected_t", show_default=True,
    help="corrected_t (allows for overlapping folds) or wilcoxon (as in the paper).",
)  # fmt: skip
@alpha_option
@click.option(
    "-o", "--output", metavar="FOLDER", type=FILE,
    help="Keep the run in this folder; the same command resumes it.",
)  # fmt: skip
@figure_option
@click.option(
    "--report", metavar="FILE", type=FILE,
    help="Write an HTML page: the selection of the baseline, and the comparison.",
)  # fmt: skip
@reads_data
@seed_option
@workers_option
@progress_option
@force_option
@json_option
def compare(
    data: str, methods: str | None, classifiers: str, sizes: str | None, repeats: int, folds: int,
    reference: str | None, test: str, alpha: float, output: Path | None, figure: Path | None,
    report: Path | None, reading: Reading, seed: int, jobs: int, progress: str, force: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Compare selectors on your data by cross-validation.

    DATA is a file, - for standard input, or the name of a data set (see mauc datasets list).

    Example: mauc compare data.csv --target label --methods mdfs,mrmr,su --sizes 5,10,20
    """
    from mauc.experiments import MethodSpec, Plan, load_run, run_plan
    from mauc.experiments.data import nominal_notes
    from mauc.experiments.plan import build_classifier, build_selector
    from mauc.stats import Comparison, compare_to, mean_mauc

    check_figure(figure, force=force)
    check_outputs(report, force=force)
    check_report(report)
    check_folder(output)
    names = words_of(_METHODS if methods is None else methods, "--methods")
    if reference is not None and reference not in names:
        raise unknown_choice("--reference", reference, names)
    comparison = Comparison(reference or names[0], test, alpha)
    selectors = tuple(MethodSpec(name) for name in names)
    models = tuple(MethodSpec(name) for name in words_of(classifiers, "--classifiers"))
    for spec in selectors:
        build_selector(spec)  # a wrong name is refused before the data are read
    for spec in models:
        build_classifier(spec)
    dataset = reading.load(data)
    if methods is None and reference is None:
        echo_stderr(
            "the baseline is greedy (GreedyMAUC); --reference mdfs takes the paper's, MDFS."
        )
    say_columns(dataset, data)
    source = _dataset_spec(dataset, data, reading)
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
        written.add(
            lambda: _write_report(
                dataset, plan, rows, comparison, report, reading.words(data), force=force
            )
        )
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
        click.get_current_context().exit(FAILED)


def _write_report(
    dataset: "Dataset", plan: "Plan", rows: Any, comparison: "Comparison", path: Path,
    reading: list[str], *, force: bool,
) -> Path:  # fmt: skip
    """Write the page about the selection of the baseline, fitted on all rows.

    It is made of what the selectors of the table saw: codes, if the baseline takes numbers only.
    """
    from mauc.experiments.data import nominal_notes

    baseline = comparison.reference or plan.selectors[0].name
    selector = named_selector(baseline, (), plan.seed, 1)
    notes = nominal_notes(plan, dataset)
    dataset = suited(selector, dataset, baseline, "ordinal")
    selector.set_params(n_features_to_select=min(max(plan.sizes), dataset.n_features))
    fit_on(selector, dataset)
    return write_page(
        path, selector, dataset, reading, force=force, run=rows, comparison=comparison,
        notes=[*dataset.notes, *notes],
    )  # fmt: skip


def _dataset_spec(dataset: "Dataset", data: str, reading: Reading) -> "DatasetSpec":
    """Return how later starts find the data: by name, or by the whole path."""
    from urllib.parse import quote

    from mauc.datasets import BUNDLED
    from mauc.experiments import DatasetSpec
    from mauc.io.files import is_stream
    from mauc.io.registry import find_dataset

    options = dict(reading.options)
    target, source = options.pop("target", None), data
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


def sizes_from(text: str | None, n_features: int) -> tuple[int, ...]:
    """Return the sizes of a comma-separated list; by default some up to 100 or all features.

    Examples
    --------
    >>> from mauc.cli.compare import sizes_from
    >>> sizes_from(None, 64), sizes_from("10,5", 64)
    ((6, 13, 32, 64), (5, 10))
    """
    if text is None:
        largest = min(100, n_features)
        return tuple(sorted({max(1, round(largest * share)) for share in (0.1, 0.2, 0.5, 1.0)}))
    try:
        sizes = sorted({int(word) for word in words_of(text, "--sizes")})
    except ValueError:
        raise MaucError(
            f"--sizes must be whole numbers separated by commas, got {text!r}."
        ) from None
    if sizes[0] < 1 or sizes[-1] > n_features:
        raise MaucError(
            f"--sizes must be in [1, {n_features}] (the number of features), got {text}."
        )
    return tuple(sizes)
