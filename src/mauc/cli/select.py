"""`mauc select`: a table of chosen features and the class pairs that each one serves."""

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from mauc.cli.common import (
    DEFAULT_DATA,
    DataArgument,
    DebugOption,
    DropOption,
    EncodingOption,
    ForceOption,
    FormatOption,
    JobsOption,
    JsonOption,
    NominalOption,
    SeedOption,
    SeparatorOption,
    SetOption,
    TargetOption,
    command,
    make_console,
    print_json,
    say_files,
)
from mauc.cli.data import check_size, fit_on, named_selector, read_data
from mauc.datasets import Dataset, write_table
from mauc.decompose import Decomposition
from mauc.exceptions import MaucError
from mauc.selectors import SELECTORS
from mauc.selectors.base import RankingSelector


@command
def select(
    data: DataArgument = DEFAULT_DATA,
    target: TargetOption = None,
    k: Annotated[
        str | None, typer.Option("-k", help="How many features: a number or all; 10 by default.")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", "-m", help=f"One of {', '.join(SELECTORS)}.")
    ] = "mdfs",
    options: SetOption = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page to look at in the browser (html).")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the data with the chosen features alone."),
    ] = None,
    data_format: FormatOption = None,
    nominal: NominalOption = "keep",
    drop: DropOption = None,
    separator: SeparatorOption = None,
    encoding: EncodingOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    force: ForceOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Choose features and show which class pairs each one serves.

    Example: mauc select data.csv --target label -k 20 --output reduced.csv
    """
    for path in (report, output):
        if path is not None and path.exists() and not force:
            raise MaucError(f"{path} exists already; --force replaces it.")
    dataset = read_data(data, target, data_format, nominal, drop, separator, encoding)
    size = check_size(k, dataset.n_features)
    selector = named_selector(method, size, options, seed, jobs)
    fit_on(selector, dataset, method)
    if as_json:
        print_json(selection_dict(selector, dataset, method))
    else:
        console = make_console()
        console.print(
            Text(
                f"{dataset.name}: {dataset.n_samples} samples, {dataset.n_features} features, "
                f"{len(selector.classes_)} classes; {method} chose {len(selector.ranking_)}"
            )
        )
        console.print(feature_table(selector, dataset.feature_names, measure_of(method)))
    files = []
    if output is not None:
        files.append(write_table(dataset.take(selector.ranking_), output, force=force))
    if report is not None:
        from mauc.report.html import selection_report

        page = selection_report(
            selector, dataset.X, dataset.y, title=dataset.name,
            feature_names=dataset.feature_names,
            command=" ".join(["mauc", *sys.argv[1:]]),
        )  # fmt: skip
        files.append(page.write(report, force=force))
    say_files(files)


def measure_of(method: str) -> str:
    """Return what the scores of a method are called."""
    return "AUC" if method in ("mdfs", "maucd") else "score"


def selection_dict(selector: RankingSelector, dataset: Dataset, method: str) -> dict[str, Any]:
    """Return a selection as plain values."""
    served = served_pairs(selector)
    is_paired = selector.decomposition_.name != "whole"
    return {
        "data": dataset.name,
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "classes": [str(label) for label in selector.classes_],
        "method": method,
        "parameters": {key: _shown(value) for key, value in selector.get_params().items()},
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
    }


def _shown(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def served_pairs(selector: RankingSelector) -> list[list[str]]:
    """Return for each chosen feature the pairs on which no other chosen one has a larger AUC."""
    names = Decomposition("one-vs-one", len(selector.classes_)).names(selector.classes_)
    auc = selector.pair_auc_
    best = np.where(np.isnan(auc), -1.0, auc).argmax(axis=0)
    # Nominal features have no AUC: they serve no pair in this sense.
    best[np.isnan(auc).all(axis=0)] = -1
    return [[names[pair] for pair in np.flatnonzero(best == place)] for place in range(len(auc))]


def feature_table(selector: RankingSelector, feature_names: list[str], measure: str) -> Table:
    """Return the table of a fitted selector, one row a chosen feature.

    `measure` names what its scores are.
    """
    served = served_pairs(selector)
    is_paired = selector.decomposition_.name != "whole"
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("#", justify="right")
    table.add_column("feature", overflow="fold")
    if is_paired:
        table.add_column("asked for by")
        table.add_column("rank", justify="right")
        table.add_column(f"{measure} there", justify="right")
    table.add_column(f"mean {measure}" if is_paired else measure, justify="right")
    table.add_column("serves best")
    for step in selector.trace_:
        pairs = served[step.step]
        asked = [step.subproblem_name, str(step.rank), f"{step.score:.3f}"] if is_paired else []
        cells = [
            str(step.step + 1),
            feature_names[step.feature],
            *asked,
            f"{selector.scores_[step.feature]:.3f}",
            ", ".join(pairs[:3]) + (f" and {len(pairs) - 3} more" if len(pairs) > 3 else ""),
        ]
        # As text: a name may look like the markup of a terminal.
        table.add_row(*(Text(cell) for cell in cells))
    return table
