"""`mauc score`: MAUC of a file of predictions, per pair and with its interval."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mauc.checks import check_level
from mauc.cli.common import (
    DebugOption,
    DropOption,
    EncodingOption,
    ForceOption,
    FormatOption,
    JobsOption,
    JsonOption,
    SeedOption,
    SeparatorOption,
    command,
)
from mauc.cli.data import read_data
from mauc.cli.outputs import check_extension, check_outputs
from mauc.cli.show import (
    add_row,
    frame_records,
    make_console,
    make_table,
    print_json,
    print_table,
    say_files,
    short,
)
from mauc.exceptions import MaucError, listed
from mauc.files import write_atomic

if TYPE_CHECKING:
    import numpy as np

EXAMPLE = "wine"  # scored by Naive Bayes when no file is given
_PREFIXES = ("", "score_", "proba_", "prob_", "p_")


@command
def score(
    scores: Annotated[
        str | None,
        typer.Argument(
            metavar="SCORES",
            help="A file with a column of true labels and a column of scores for each class, "
            "named as the class (or score_CLASS, proba_CLASS).",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help='Column with the true labels, "label" by default.',
        ),
    ] = None,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            metavar="INT",
            min=0,
            help="Percentile bootstrap of so many resamples for the interval; 0 for no interval.",
        ),
    ] = None,
    level: Annotated[
        float, typer.Option(metavar="FLOAT", help="Confidence level of the interval.")
    ] = 0.95,
    pairs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the table of pairs (csv).")
    ] = None,
    data_format: FormatOption = None,
    drop: DropOption = None,
    separator: SeparatorOption = None,
    encoding: EncodingOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    force: ForceOption = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Compute the MAUC of predictions and the AUC of every class pair.

    The interval comes from the DeLong variance, near MAUC 1 and with few samples as well. Without a
    file, cross-validated predictions of Naive Bayes on a bundled set are scored.

    Example: mauc score predictions.csv --target label
    """
    from mauc.metrics import mauc_interval, pair_auc_scores

    check_outputs(pairs, force=force)
    check_extension("--pairs", pairs, (".csv",))
    check_level("--level", level)
    if scores is None:
        given = {"--target": target, "--format": data_format, "--drop": drop,
                 "--separator": separator, "--encoding": encoding}  # fmt: skip
        for option, value in given.items():
            if value:
                raise MaucError(f"{option} goes with a file of scores, got {value!r} without one.")
        y, values, labels = _example(seed)
    else:
        y, values, labels = read_scores(
            scores, target or "label", data_format, drop, separator, encoding
        )
    report = pair_auc_scores(y, values, labels=labels)
    interval = None
    if bootstrap != 0:
        options = {} if bootstrap is None else {"method": "percentile", "n_bootstrap": bootstrap}
        interval = mauc_interval(
            y, values, labels=labels, level=level, random_state=seed, n_jobs=jobs, **options
        )
    frame = report.to_frame()
    if interval is not None:
        frame["lower"], frame["upper"] = interval.pair_lower, interval.pair_upper
    files = []
    if pairs is not None:
        files.append(write_atomic(pairs, frame.to_csv(index=False), force=force))
    if as_json:
        print_json(
            {
                "mauc": report.mauc,
                "lower": None if interval is None else interval.lower,
                "upper": None if interval is None else interval.upper,
                "level": level,
                "method": None if interval is None else interval.method,
                "n_samples": len(y),
                "absent": [str(label) for label in report.absent],
                "pairs": frame_records(frame),
                "files": files,
            }
        )
    else:
        _print_report(report, interval, frame, scores)
    say_files(files)


def _print_report(report: Any, interval: Any, frame: Any, scores: str | None) -> None:
    console = make_console()
    if scores is None:
        console.print(f"Naive Bayes on {EXAMPLE}, cross-validated")
    heads = ["A_ij", "A_ji", "mean"]
    if interval is not None:
        heads.append(f"{100 * interval.level:g}% interval")
    table = make_table("pair (hardest first)", *heads, right=tuple(heads))
    for row in frame.sort_values("auc", kind="stable").itertuples():
        cells = [_number(row.auc_i), _number(row.auc_j), _number(row.auc)]
        if interval is not None:
            cells.append(f"{_number(row.lower)} to {_number(row.upper)}" if row.auc == row.auc
                         else "absent")  # fmt: skip
        add_row(table, f"{short(row.class_i)} vs {short(row.class_j)}", *cells)
    print_table(table)
    line = f"MAUC {report.mauc:.4f} over {len(report) - report.n_pairs_absent} pairs"
    if interval is not None:
        line += (
            f", {100 * interval.level:g}% interval {interval.lower:.4f} to {interval.upper:.4f} "
            f"({interval.origin})"
        )
    console.print(line)


def _number(value: float) -> str:
    return "absent" if value != value else f"{value:.4f}"


def read_scores(
    path: str, target: str, data_format: str | None, drop: list[str] | None,
    separator: str | None, encoding: str | None,
) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":  # fmt: skip
    """Return true labels, score columns and the labels of these."""
    import numpy as np

    from mauc.datasets import BUNDLED

    if path in BUNDLED:
        raise MaucError(f"mauc score takes a file of scores, not a data set; got {path!r}.")
    dataset = read_data(path, target, data_format, "keep", drop, separator, encoding)
    if dataset.nominal_features:
        raise MaucError(
            f"{path}: column {dataset.nominal_features[0]!r} is not numeric; a file of scores has "
            f"the column {target!r} and one column of numbers for each class. --drop leaves out "
            "others."
        )
    present = [str(label) for label in np.unique(dataset.y)]
    names = [_class_of(name, present) for name in dataset.feature_names]
    missing = [label for label in present if label not in names]
    if missing:
        raise MaucError(
            f"{path} has no column of scores for class {listed(missing)}; its columns: "
            f"{listed(dataset.feature_names)}."
        )
    repeated = [name for name in present if names.count(name) > 1]
    if repeated:
        raise MaucError(
            f"{path} has two columns of scores for class {listed(repeated)}; --drop one."
        )
    return dataset.y.astype(str), np.asarray(dataset.X, dtype=float), np.array(names)


def _class_of(column: str, present: list[str]) -> str:
    for prefix in _PREFIXES:
        if column.startswith(prefix) and column.removeprefix(prefix) in present:
            return column.removeprefix(prefix)
    return column


def _example(seed: int) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    import numpy as np
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    from mauc.classifiers import NormalNaiveBayes
    from mauc.datasets import load_dataset

    dataset = load_dataset(EXAMPLE)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    values = cross_val_predict(
        NormalNaiveBayes(), dataset.X, dataset.y, cv=folds, method="predict_proba"
    )
    return dataset.y, values, np.unique(dataset.y)
