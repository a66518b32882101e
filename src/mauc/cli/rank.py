"""`mauc rank`: the scores of all features, and their AUCs on all class pairs as a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    MethodOption,
    NominalOption,
    SeedOption,
    SeparatorOption,
    SetOption,
    TargetOption,
    command,
)
from mauc.cli.data import check_size, fit_on, named_selector, numbers_only, read_data
from mauc.cli.outputs import check_extension, check_outputs
from mauc.cli.show import add_row, make_table, print_json, print_table, say_files, short, watched
from mauc.files import write_atomic
from mauc.registry import score_label

if TYPE_CHECKING:
    from mauc.datasets import Dataset


@command
def rank(
    data: DataArgument = DEFAULT_DATA,
    target: TargetOption = None,
    method: MethodOption = "maucd",
    k: Annotated[
        str | None,
        typer.Option("-k", metavar="INT", help="How many features to show; all by default."),
    ] = None,
    options: SetOption = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the AUC of every feature on every class pair (csv, parquet).",
        ),
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
    check_outputs(pairs, force=force)
    check_extension("--pairs", pairs, (".csv", ".parquet"))
    selector = named_selector(method, options, seed, jobs)
    dataset = read_data(data, target, data_format, nominal, drop, separator, encoding)
    size = check_size(k or "all", dataset.n_features)
    selector.set_params(n_features_to_select=size)
    if pairs is not None:
        numbers_only(dataset, "--pairs")
    fit_on(selector, dataset, method)
    files = [] if pairs is None else [write_pairs(dataset, pairs, jobs, force=force)]
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
        print_json({"data": dataset.name, "method": method, "features": ranked, "files": files})
    else:
        measure = score_label(selector)
        # The AUC of a feature on the whole problem is its mean over the class pairs.
        if measure == "AUC" or selector.decomposition_.name != "whole":
            measure = f"mean {measure}"
        table = make_table("#", "feature", measure, right=("#", measure))
        for row in ranked:
            add_row(table, row["rank"], short(row["feature"]), f"{row['score']:.4g}")
        print_table(table)
    say_files(files)


def write_pairs(dataset: "Dataset", path: Path, jobs: int, *, force: bool) -> Path:
    """Write the folded AUC of every feature (row) on every class pair (column)."""
    import io

    import numpy as np
    import pandas as pd

    from mauc.auc import feature_pair_auc
    from mauc.problem.decomposition import Decomposition

    auc: Any = watched(feature_pair_auc, "AUCs of all features")(dataset.X, dataset.y, n_jobs=jobs)
    classes = np.unique(dataset.y)
    frame = pd.DataFrame(auc, columns=Decomposition("one-vs-one", len(classes)).names(classes))
    frame.insert(0, "feature", dataset.feature_names)
    buffer = io.BytesIO()
    if path.suffix.lower() == ".csv":
        frame.to_csv(buffer, index=False)
    else:
        frame.to_parquet(buffer, index=False)
    return write_atomic(path, buffer.getvalue(), force=force)
