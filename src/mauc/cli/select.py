"""`mauc select`: a table of chosen features and the class pairs that each one serves."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mauc.cli.common import (
    DEFAULT_DATA,
    DEFAULT_METHOD,
    ColumnsArgument,
    DebugOption,
    ForceOption,
    JobsOption,
    JsonOption,
    MethodOption,
    SchedulerOption,
    SeedOption,
    SetOption,
    TargetOption,
    command,
)
from mauc.cli.data import (
    check_size,
    is_greedy,
    named_selector,
    score_head,
    size_curve_dict,
)
from mauc.cli.engine import EngineOption, check_engine, started
from mauc.cli.fitting import error_dict, load_and_fit, say_error
from mauc.cli.interactions import interactions_dict, say_interactions
from mauc.cli.outputs import Written, check_outputs, check_report
from mauc.cli.page import page_words
from mauc.cli.reading import DEFAULT_READING, Reading, reads_data
from mauc.cli.selections import say_selection, selection_facts
from mauc.cli.show import add_row, make_table, print_json, print_table, print_text, short, watched
from mauc.cli.sketching import SketchOption, check_sketch
from mauc.cli.streaming import MemoryOption, check_streamed, plan_reading
from mauc.exceptions import MaucError
from mauc.registry import score_label

if TYPE_CHECKING:
    from rich.table import Table

    from mauc.datasets import Dataset
    from mauc.selectors.base import RankingSelector


@command
@reads_data
def select(
    data: ColumnsArgument = DEFAULT_DATA,
    target: TargetOption = None,
    k: Annotated[
        str | None,
        typer.Option(
            "-k",
            metavar="SIZE",
            help="How many features: a number (10 by default), all, auto (as few as "
            "cross-validation finds enough) or predicted (as few as greedy's model finds enough).",
        ),
    ] = None,
    method: MethodOption = None,
    options: SetOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write labels and chosen features, in the format of the extension.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an HTML page about the selection.")
    ] = None,
    reading: Reading = DEFAULT_READING,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    memory: MemoryOption = None,
    sketch: SketchOption = False,
    engine: EngineOption = "local",
    scheduler: SchedulerOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Choose features and show which class pairs each one serves.

    Example: mauc select data.csv --target label -k 20 --output reduced.csv

    Larger than memory: mauc select 'folder/*.parquet' --target label -k 50 --memory 1GB
    """
    check_outputs(output, report, force=force)
    check_report(report)
    _check_table(output)
    name = method or DEFAULT_METHOD
    selector = named_selector(name, options, seed, jobs)
    if k is not None and not k.lstrip("-").isdigit():
        check_size(k, 1, selector)  # a wrong word is refused before the file is read
    check_engine(engine, scheduler, jobs)
    check_sketch(sketch, selector, engine)
    plan = plan_reading(data, target, reading, memory, engine=engine, sketch=sketch)
    check_streamed(plan, k, report)
    with started(engine, scheduler, jobs) as client:
        _, dataset = load_and_fit(selector, plan, method, k, client)
    written = _write_files(selector, dataset, output, report, force=force)
    if as_json:
        print_json({**selection_dict(selector, dataset, name), "files": written.files})
    else:
        print_text(
            f"{dataset.name}: {dataset.n_samples} samples, "
            f"{dataset.n_features} features, {len(selector.classes_)} classes; "
            f"{name} chose {len(selector.ranking_)}"
        )
        if hasattr(selector, "size_curve_"):
            print_text(str(selector.size_curve_))
        print_table(feature_table(selector, dataset.feature_names))
        say_error(selector)
        say_selection(selector, dataset.feature_names)
        say_interactions(selector, dataset)
    written.finish()


def _check_table(path: Path | None) -> None:
    """Refuse a file of a format that is not written."""
    if path is None:
        return
    from mauc.datasets import WRITABLE
    from mauc.io.formats import find_format

    try:
        found = find_format(path)
    except MaucError as error:
        raise MaucError(str(error).partition("; or say")[0] + ".") from error
    if found not in WRITABLE:
        raise MaucError(f"{path}: {found} files are only read; write {', '.join(WRITABLE)}.")


def _write_files(
    selector: "RankingSelector",
    dataset: "Dataset",
    output: Path | None,
    report: Path | None,
    *,
    force: bool,
) -> Written:
    from mauc.datasets import write_table

    written = Written()
    if output is not None:
        write = watched(write_table, f"writing {output}")
        written.add(lambda: write(dataset.take(selector.ranking_), output, force=force))
    if report is not None:
        written.add(lambda: _write_report(selector, dataset, report, force=force))
    return written


def _write_report(
    selector: "RankingSelector", dataset: "Dataset", path: Path, *, force: bool
) -> Path:
    from mauc.report.html import selection_report

    page = watched(selection_report, "the page")(
        selector, dataset.X, dataset.y, data_name=dataset.name,
        feature_names=dataset.feature_names, notes=dataset.notes, source=dataset.source,
        **page_words(selector, dataset.n_features),
    )  # fmt: skip
    return page.write(path, force=force)


def selection_dict(selector: "RankingSelector", dataset: "Dataset", method: str) -> dict[str, Any]:
    """Return a selection as plain values."""
    served = served_pairs(selector)
    is_paired = selector.decomposition_.name != "whole"
    return {
        "data": dataset.name,
        "columns": list(dataset.notes),
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "classes": [str(label) for label in selector.classes_],
        "method": method,
        "parameters": selector.get_params(),
        **size_curve_dict(selector),
        **error_dict(selector),
        **interactions_dict(selector, dataset),
        "features": [
            {
                "order": step.step + 1,
                "feature": dataset.feature_names[step.feature],
                "column": step.feature,
                "asked_for_by": step.subproblem_name if is_paired else None,
                "rank": step.rank,
                "score_there": step.score,
                "score": selector.scores_[step.feature],
                "serves_best": served[step.step],
            }
            for step in selector.trace_
        ],
        **selection_facts(selector, dataset.feature_names),
    }


def served_pairs(selector: "RankingSelector") -> list[list[str]]:
    """Return for each chosen feature the pairs on which no other chosen one has a larger AUC."""
    from mauc.data.decomposition import Decomposition

    names = Decomposition("one-vs-one", len(selector.classes_)).names(selector.classes_)
    served: list[list[str]] = [[] for _ in selector.ranking_]
    for name, place in zip(names, selector.pair_auc_.argmax(axis=0), strict=True):
        served[place].append(name)
    return served


def feature_table(selector: "RankingSelector", feature_names: list[str]) -> "Table":
    """Return the table of a fitted selector, one row per chosen feature."""
    measure = score_label(selector)
    served = served_pairs(selector)
    is_paired = selector.decomposition_.name != "whole"
    head, there = score_head(selector), ""
    asking: tuple[str, ...] = ()
    if is_paired:
        there = "gain" if is_greedy(selector) else f"{measure} there"
        asking = ("chosen for", "rank", there)
    elif is_greedy(selector):
        there = f"{measure} when chosen"
        asking = (there,)
    table = make_table(
        "#", "feature", *asking, head, "serves best", right=("#", "rank", there, head)
    )
    for step in selector.trace_:
        pairs = [short(pair) for pair in served[step.step]]
        asked = [short(step.subproblem_name), step.rank] if is_paired else []
        asked += [f"{step.score:.3f}"] if asking else []
        add_row(
            table,
            step.step + 1,
            short(feature_names[step.feature]),
            *asked,
            f"{selector.scores_[step.feature]:.3f}",
            ", ".join(pairs[:3]) + (f" and {len(pairs) - 3} more" if len(pairs) > 3 else ""),
        )
    return table
