"""`mauc compare`: selectors side by side on the user's own data."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mauc.checks import check_choice
from mauc.cli import common, show
from mauc.cli.fitting import fit_on, named_selector, suited
from mauc.cli.outputs import Written, check_folder, check_outputs, write_figure, write_page
from mauc.cli.reading import Reading, reads_data, say_columns, target_option
from mauc.cli.wishes import COSTS, read_costs
from mauc.exceptions import MaucError
from mauc.results import measure_name

if TYPE_CHECKING:
    from rich.table import Table

    from mauc.datasets import Dataset
    from mauc.experiments import DatasetSpec, Plan
    from mauc.stats import Comparison

_METHODS = "greedy,mdfs,maucd,mrmr,chi,su"
_BAR = 20  # characters of the bar of MAUC 1


@common.command()
@common.data_argument
@target_option
@click.option(
    "-m", "--methods", metavar="NAMES", help=f"Selectors, comma-separated; {_METHODS} by default."
)
@click.option(
    "-c",
    "--classifiers",
    "--classifier",
    metavar="NAMES",
    default="nb,1nn",
    help="Classifiers, comma-separated: nb, 1nn, c45, svm, logistic, knn, svc, forest, boosting, "
    "or import paths such as sklearn.ensemble.ExtraTreesClassifier.",
)
@click.option("--sizes", metavar="INTS", help="Numbers of features, comma-separated: 5,10,20.")
@click.option("--repeats", default=2, help="Repeats of the cross-validation.")
@click.option("--folds", default=5, help="Folds of the cross-validation.")
@click.option(
    "--reference", metavar="NAME", help="Baseline selector; the first of --methods by default."
)
@click.option(
    "--test",
    metavar="NAME",
    default="corrected_t",
    help="corrected_t (allows for overlapping folds) or wilcoxon (as in the paper).",
)
@common.alpha_option
@common.path_option(
    "-o",
    "--output",
    metavar="FOLDER",
    help="Keep the run in this folder; the same command resumes it.",
)
@common.figure_option
@common.path_option(
    "--report", help="Write an HTML page: the selection of the baseline, and the comparison."
)
@click.option("--costs", **COSTS)
@reads_data
@common.seed_option
@common.workers_option
@common.progress_option
@common.force_option
def compare(
    data: str,
    methods: str | None,
    classifiers: str,
    sizes: str | None,
    repeats: int,
    folds: int,
    reference: str | None,
    test: str,
    alpha: float,
    output: Path | None,
    figure: Path | None,
    report: Path | None,
    costs: str | None,
    reading: Reading,
    seed: int,
    jobs: int,
    progress: str,
    force: bool,
    as_json: bool,
) -> None:
    """Compare selectors on your data by cross-validation.

    DATA is a file, - for standard input, or the name of a data set (see mauc datasets list).

    Example: mauc compare data.csv --target label --methods mdfs,mrmr,su --sizes 5,10,20
    """
    from mauc.experiments import MethodSpec, Plan, load_run, run_plan
    from mauc.experiments.data import nominal_notes
    from mauc.experiments.plan import build_classifier, build_selector
    from mauc.stats import Comparison, compare_to, mean_mauc

    check_outputs(figure=figure, report=report, force=force)
    check_folder(output)
    names = common.words_of(_METHODS if methods is None else methods, "--methods")
    wanted = names[0] if reference is None else reference
    comparison = Comparison(check_choice("--reference", wanted, names, quoted=False), test, alpha)
    selectors = tuple(MethodSpec(name) for name in names)
    models = tuple(MethodSpec(name) for name in common.words_of(classifiers, "--classifiers"))
    for spec in selectors:
        build_selector(spec)  # a wrong name is refused before the data are read
    for spec in models:
        build_classifier(spec)
    dataset = reading.load(data)
    if methods is None and reference is None:
        common.echo_stderr(
            "the baseline is greedy (GreedyMAUC); --reference mdfs takes the paper's, MDFS."
        )
    say_columns(dataset, data)
    source = dataset_spec(dataset, data, reading)
    if costs is not None:
        source = replace(source, pair_weight=read_costs(costs))
    plan = Plan(
        f"compare {source.name}",
        (source,),
        selectors,
        models,
        sizes=sizes_from(sizes, dataset.n_features),
        repeats=repeats,
        folds=folds,
        seed=seed,
    )
    with common.resumable(output):
        summary = run_plan(
            plan,
            output,
            engine="serial" if jobs == 1 else "processes",
            n_jobs=jobs,
            progress=progress,
            data={source.name: dataset},
        )
    rows = load_run(output) if output else summary.rows
    failed = [f"{count} x {what}" for what, count in sorted(summary.failures.items())]
    if summary.n_failed == len(rows):
        raise MaucError("every combination failed:\n  " + "\n  ".join(failed))
    written, measure = Written(), measure_name(len(set(dataset.y)))
    if figure is not None:
        from mauc.plotting import CurvesDisplay

        drawn = CurvesDisplay.from_run(rows).figure_
        for ax in drawn.axes:
            ax.set_ylabel(ax.get_ylabel().replace("MAUC", measure))
        written.add(lambda: write_figure(drawn, figure, force=force))
    if report is not None:
        written.add(
            lambda: _write_report(
                dataset,
                plan,
                rows,
                comparison,
                report,
                reading.words(data),
                force=force,
                wishes=[] if costs is None else ["--costs", costs],
            )
        )
    if as_json:
        show.print_json(
            {
                "data": dataset.name,
                "columns": [*dataset.notes, *nominal_notes(plan, dataset)],
                **asdict(comparison),
                "means": mean_mauc(rows),
                "comparison": compare_to(rows, comparison),
                "failures": summary.failures,
                "run": output,
                "files": written.files,
            },
            "compare-1",
        )
    else:
        from mauc.report import mauc_table

        show.print_report_table(mauc_table(rows, source.name, comparison, measure=measure))
        show.print_table(overview(rows, comparison, f"mean {measure}"))
    written.finish()
    if failed:
        common.echo_stderr("some combinations failed:\n  " + "\n  ".join(failed))
        click.get_current_context().exit(common.FAILED)


def _write_report(
    dataset: "Dataset",
    plan: "Plan",
    rows: Any,
    comparison: "Comparison",
    path: Path,
    reading: list[str],
    *,
    force: bool,
    wishes: list[str],
) -> Path:
    """Write the page about the selection of the baseline, fitted on all rows."""
    from mauc.experiments.data import nominal_notes

    baseline = comparison.reference or plan.selectors[0].name
    selector = named_selector(baseline, (), plan.seed, 1)
    notes = nominal_notes(plan, dataset)
    dataset = suited(selector, dataset, baseline, "ordinal")  # as the selectors of the run saw it
    selector.set_params(n_features_to_select=min(max(plan.sizes), dataset.n_features))
    if "pair_weight" in selector.get_params():
        selector.set_params(pair_weight=plan.datasets[0].pair_weight)
    fit_on(selector, dataset)
    return write_page(
        path,
        selector,
        dataset,
        reading,
        force=force,
        wishes=wishes,
        run=rows,
        comparison=comparison,
        notes=[*dataset.notes, *notes],
    )


def dataset_spec(dataset: "Dataset", data: str, reading: Reading) -> "DatasetSpec":
    """Return how later starts find the data: by name, or by the whole path."""
    from urllib.parse import quote

    from mauc.datasets import BUNDLED
    from mauc.experiments import DatasetSpec
    from mauc.io.files import is_stream
    from mauc.io.registry import find_dataset

    options = dict(reading.options)
    (target, groups), source = (options.pop(name, None) for name in ("target", "groups")), data
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
    return DatasetSpec(name, source, target, options, groups)


def overview(rows: Any, comparison: "Comparison", head: str = "mean MAUC") -> "Table":
    """Return the mean MAUC of each selector as a bar, with wins and losses of the baseline."""
    from mauc.stats import compare_to, win_draw_loss

    means = rows[rows["status"] == "ok"].groupby("selector", sort=False)["mauc"].mean()
    counts = win_draw_loss(compare_to(rows, comparison), by=()).set_index("selector")
    verdict = f"{comparison.reference} wins / draws / loses"
    table = show.make_table("selector", head, "from 1/2 to 1", verdict, right=(head,))
    block = "█" if show.make_console().encoding.startswith("utf") else "#"
    for selector, mean in means.sort_values(ascending=False, kind="stable").items():
        bar = block * round(max(0.0, 2 * mean - 1) * _BAR)  # from chance, 1/2, to 1
        counted = "-"
        if selector in counts.index:
            counted = " / ".join(str(counts.at[selector, key]) for key in ("win", "draw", "loss"))
        show.add_row(table, selector, f"{mean:.4f}", bar, counted)
    return table


def sizes_from(text: str | None, n_features: int) -> tuple[int, ...]:
    """Return the sizes of a comma-separated list; by default some up to 100 or all features.

    >>> sizes_from(None, 64), sizes_from("10,5", 64)
    ((6, 13, 32, 64), (5, 10))
    """
    if text is None:
        largest = min(100, n_features)
        return tuple(sorted({max(1, round(largest * share)) for share in (0.1, 0.2, 0.5, 1.0)}))
    try:
        sizes = sorted({int(word) for word in common.words_of(text, "--sizes")})
    except ValueError:
        raise MaucError(
            f"--sizes must be whole numbers separated by commas, got {text!r}."
        ) from None
    if sizes[0] < 1 or sizes[-1] > n_features:
        raise MaucError(
            f"--sizes must be in [1, {n_features}] (the number of features), got {text}."
        )
    return tuple(sizes)
