"""`mauc select`: a table of chosen features and the class pairs that each one serves."""

import warnings
from typing import Annotated

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from mauc.datasets import BUNDLED, load_dataset
from mauc.decompose import Decomposition
from mauc.exceptions import MaucError, unknown_word
from mauc.schedules import SCHEDULES
from mauc.selectors import SELECTORS, make_selector
from mauc.selectors.base import RankingSelector


def select(
    data: Annotated[
        str, typer.Argument(help=f"A CSV file, or a bundled data set: {', '.join(BUNDLED)}.")
    ] = "wine",
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Column of the file with the labels.")
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", help="How many features to choose; 10, or all if fewer.")
    ] = None,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(SELECTORS)}.")] = "mdfs",
    schedule: Annotated[
        str | None, typer.Option(help=f"Which pair speaks next, for mdfs: {', '.join(SCHEDULES)}.")
    ] = None,
    ties: Annotated[
        str | None, typer.Option(help="Order of equal AUCs, for mdfs: index (the paper's) or mauc.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random schedules.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = 1,
) -> None:
    """Choose features and show which class pairs each one serves.

    Example: mauc select data.csv --target label -k 20
    """
    try:
        dataset = load_dataset(data, target)
        if method not in SELECTORS:
            raise unknown_word("--method", method, SELECTORS)
        options = {"schedule": schedule, "ties": ties}
        options = {name: value for name, value in options.items() if value is not None}
        if options and method != "mdfs":
            raise MaucError(f"--{next(iter(options))} goes with --method mdfs, not {method}.")
        n_features = dataset.X.shape[1]
        if k is not None and not 1 <= k <= n_features:
            raise MaucError(f"-k must be in [1, {n_features}] (the number of features), got {k}.")
        n_wanted = min(10, n_features) if k is None else k
        selector = make_selector(method, n_wanted, n_jobs=jobs, **options)
        if "random_state" in selector.get_params():
            selector.set_params(random_state=seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            selector.fit(dataset.X, dataset.y)
    except (MaucError, ValueError, OSError) as error:
        typer.echo(f"mauc: {error}", err=True)
        raise typer.Exit(2) from error
    for warning in caught:
        typer.echo(f"mauc: warning: {warning.message}", err=True)
    console = Console()
    n_samples, n_features = dataset.X.shape
    console.print(
        f"{dataset.name}: {n_samples} samples, {n_features} features, "
        f"{len(selector.classes_)} classes; {method} chose {len(selector.ranking_)}"
    )
    measure = "AUC" if method in ("mdfs", "maucd") else "score"
    console.print(feature_table(selector, dataset.feature_names, measure))


def feature_table(selector: RankingSelector, feature_names: list[str], measure: str) -> Table:
    """Return the table of a fitted selector, one row a chosen feature.

    `measure` names what its scores are.

    A feature serves best the pairs on which no other chosen feature has a larger AUC.
    """
    best = selector.pair_auc_.argmax(axis=0)
    pairs = Decomposition("one-vs-one", len(selector.classes_))
    pair_names = pairs.names(selector.classes_)
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
        served = [pair_names[pair] for pair in np.flatnonzero(best == step.step)]
        asked = [step.subproblem_name, str(step.rank), f"{step.score:.3f}"] if is_paired else []
        table.add_row(
            str(step.step + 1),
            feature_names[step.feature],
            *asked,
            f"{selector.scores_[step.feature]:.3f}",
            ", ".join(served[:3]) + (f" and {len(served) - 3} more" if len(served) > 3 else ""),
        )
    return table
