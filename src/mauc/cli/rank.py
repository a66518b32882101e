"""`mauc rank`: the scores of all features, and their AUCs on all class pairs as a file."""

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
from mauc.cli.select import measure_of
from mauc.datasets import Dataset, check_numeric
from mauc.decompose import Decomposition
from mauc.exceptions import MaucError, unknown_word
from mauc.files import write_atomic
from mauc.relevance import feature_pair_auc
from mauc.selectors import SELECTORS


@command
def rank(
    data: DataArgument = DEFAULT_DATA,
    target: TargetOption = None,
    method: Annotated[
        str, typer.Option("--method", "-m", help=f"One of {', '.join(SELECTORS)}.")
    ] = "maucd",
    k: Annotated[
        str | None, typer.Option("-k", help="How many features to show; all by default.")
    ] = None,
    options: SetOption = None,
    pairs: Annotated[
        Path | None,
        typer.Option(help="Write the AUC of every feature on every class pair (csv, parquet)."),
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
    """Rank all features by a method and show their scores.

    Example: mauc rank data.csv --target label --method su --pairs auc.csv
    """
    if pairs is not None and pairs.exists() and not force:
        raise MaucError(f"{pairs} exists already; --force replaces it.")
    if pairs is not None and pairs.suffix not in (".csv", ".parquet"):
        raise unknown_word("extension of --pairs", pairs.suffix, (".csv", ".parquet"))
    dataset = read_data(data, target, data_format, nominal, drop, separator, encoding)
    size = check_size(k or "all", dataset.n_features)
    selector = named_selector(method, size, options, seed, jobs)
    fit_on(selector, dataset, method)
    ranked = [
        {
            "rank": place + 1,
            "feature": dataset.feature_names[column],
            "column": int(column),
            "score": float(selector.scores_[column]),
        }
        for place, column in enumerate(selector.ranking_)
    ]
    if as_json:
        print_json({"data": dataset.name, "method": method, "features": ranked})
    else:
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        table.add_column("#", justify="right")
        table.add_column("feature", overflow="fold")
        table.add_column(measure_of(method), justify="right")
        for row in ranked:
            table.add_row(str(row["rank"]), Text(str(row["feature"])), f"{row['score']:.4g}")
        make_console().print(table)
    if pairs is not None:
        say_files([write_pairs(dataset, pairs, jobs, force=force)])


def write_pairs(dataset: Dataset, path: Path, jobs: int, *, force: bool) -> Path:
    """Write the folded AUC of every feature (row) on every class pair (column)."""
    import io

    import pandas as pd

    check_numeric(dataset, "the AUC")
    auc: Any = feature_pair_auc(dataset.X, dataset.y, n_jobs=jobs)
    classes = np.unique(dataset.y)
    frame = pd.DataFrame(auc, columns=Decomposition("one-vs-one", len(classes)).names(classes))
    frame.insert(0, "feature", dataset.feature_names)
    buffer = io.BytesIO()
    if path.suffix == ".csv":
        frame.to_csv(buffer, index=False)
    else:
        frame.to_parquet(buffer, index=False)
    return write_atomic(path, buffer.getvalue(), force=force)
