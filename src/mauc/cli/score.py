"""`mauc score`: MAUC of a file of predictions, per pair and with its interval."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mauc.cli.common import (
    DebugOption,
    EncodingOption,
    ForceOption,
    FormatOption,
    JobsOption,
    JsonOption,
    SeedOption,
    SeparatorOption,
    command,
    frame_records,
    print_json,
    say_files,
)
from mauc.datasets import load_dataset
from mauc.exceptions import MaucError, listed
from mauc.files import write_atomic
from mauc.metrics import mauc_interval, pair_auc_scores

EXAMPLE = "wine"  # scored by Naive Bayes when no file is given


@command
def score(
    scores: Annotated[
        str | None,
        typer.Argument(
            help="A file with a column of true labels and a column of scores for each class, "
            "named as the class (or score_CLASS, proba_CLASS)."
        ),
    ] = None,
    target: Annotated[
        str, typer.Option("--target", "-t", help="Column with the true labels.")
    ] = "label",
    bootstrap: Annotated[
        int, typer.Option(help="Resamples of the confidence interval; 0 for none.")
    ] = 1000,
    level: Annotated[float, typer.Option(help="Level of the interval.")] = 0.95,
    pairs: Annotated[Path | None, typer.Option(help="Write the table of pairs (csv).")] = None,
    data_format: FormatOption = None,
    separator: SeparatorOption = None,
    encoding: EncodingOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    force: ForceOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Compute MAUC of predictions, with the pairs that are hard and a bootstrap interval.

    Without a file it scores cross-validated predictions of Naive Bayes on a bundled set.

    Example: mauc score predictions.csv --target label
    """
    if scores is None:
        y, values, labels = _example(seed)
    else:
        y, values, labels = read_scores(scores, target, data_format, separator, encoding)
    report = pair_auc_scores(y, values, labels=labels)
    interval = None
    if bootstrap:
        interval = mauc_interval(
            y, values, labels=labels, n_bootstrap=bootstrap, level=level, random_state=seed,
            n_jobs=jobs,
        )  # fmt: skip
    frame = report.to_frame()
    if interval is not None:
        frame["lower"], frame["upper"] = interval.pair_lower, interval.pair_upper
    if as_json:
        print_json(
            {
                "mauc": report.mauc,
                "lower": None if interval is None else interval.lower,
                "upper": None if interval is None else interval.upper,
                "level": level,
                "n_samples": len(y),
                "absent": [str(label) for label in report.absent],
                "pairs": frame_records(frame),
            }
        )
    else:
        if scores is None:
            typer.echo(f"Naive Bayes on {EXAMPLE}, cross-validated:")
        typer.echo(str(report))
        if interval is not None:
            typer.echo(
                f"{level:.0%} interval {interval.lower:.4f} to {interval.upper:.4f} "
                f"({bootstrap} resamples)"
            )
    if pairs is not None:
        say_files([write_atomic(pairs, frame.to_csv(index=False), force=force)])


def read_scores(
    path: str, target: str, data_format: str | None, separator: str | None, encoding: str | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return true labels, score columns and the labels of these."""
    dataset = load_dataset(path, target, format=data_format, separator=separator, encoding=encoding)
    if dataset.nominal_features:
        raise MaucError(
            f"{path}: column {dataset.nominal_features[0]!r} is not numeric; a file of scores has "
            f"the column {target!r} and one column of numbers for each class."
        )
    present = {str(label): label for label in np.unique(dataset.y)}
    names = [_class_of(name, present) for name in dataset.feature_names]
    missing = [label for label in present if label not in names]
    if missing:
        raise MaucError(
            f"{path} has no column of scores for {listed(missing)}; its columns: "
            f"{listed(dataset.feature_names)}."
        )
    labels = np.array([str(name) for name in names])
    return dataset.y.astype(str), np.asarray(dataset.X, dtype=float), labels


def _class_of(column: str, present: dict[str, Any]) -> str:
    for prefix in ("", "score_", "proba_", "prob_", "p_"):
        if column.startswith(prefix) and column.removeprefix(prefix) in present:
            return column.removeprefix(prefix)
    return column


def _example(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    from mauc.classifiers import NormalNaiveBayes

    dataset = load_dataset(EXAMPLE)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    values = cross_val_predict(
        NormalNaiveBayes(), dataset.X, dataset.y, cv=folds, method="predict_proba"
    )
    return dataset.y, values, np.unique(dataset.y)
