"""`mauc score`: MAUC of a file of predictions, per pair and with its interval."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mauc.checks import check_level
from mauc.cli import common, show
from mauc.cli.outputs import Written, check_outputs, write_frame
from mauc.cli.reading import Reading, reads_data, say_notes, target_option
from mauc.cli.wishes import COSTS, read_costs
from mauc.exceptions import MaucError, format_labels
from mauc.results import number

if TYPE_CHECKING:
    import numpy as np

    from mauc.metrics import MAUCComparison

EXAMPLE = "wine"  # scored by Naive Bayes when no file is given
_PREFIXES = ("", "score_", "proba_", "prob_", "p_")


@common.command()
@click.argument("scores", required=False)
@target_option
@click.option(
    "--bootstrap", type=click.IntRange(min=0),
    help="Percentile bootstrap of this many resamples for the interval; 0 for no interval.",
)  # fmt: skip
@click.option("--level", default=0.95, help="Confidence level of the interval.")
@click.option(
    "--against", metavar="FILE",
    help="Scores of another model for the same rows, in the same order: test the difference.",
)  # fmt: skip
@click.option(
    "--margin", type=float,
    help="With --against: test that the model is worse by less than this.",
)  # fmt: skip
@common.path_option("--pairs", help="Write the table of pairs (csv, parquet, xlsx).")
@click.option("--costs", **COSTS)
@reads_data
@common.seed_option
@common.jobs_option
@common.force_option
def score(
    scores: str | None, bootstrap: int | None, level: float, against: str | None,
    margin: float | None, pairs: Path | None, costs: str | None, reading: Reading, seed: int,
    jobs: int, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Compute the MAUC of predictions and the AUC of every class pair.

    SCORES is a file, or - for standard input, with a column of true labels (--target, "label" by
    default) and a column of scores for each class, named as the class (or score_CLASS,
    proba_CLASS).

    The interval comes from the DeLong variance, near MAUC 1 and with few samples as well. Without a
    file, cross-validated predictions of Naive Bayes on a bundled set are scored.

    Example: mauc score predictions.csv --target label

    Two models: mauc score a.csv --against b.csv
    """
    from mauc.metrics import mauc_interval, pair_auc_scores

    if margin is not None and against is None:
        raise MaucError("--margin goes with --against, the scores of another model.")
    if against is not None and scores is None:
        raise MaucError("--against goes with a file of scores: mauc score a.csv --against b.csv.")

    check_outputs(pairs=pairs, force=force)
    check_level("--level", level)
    notes: list[str] = []
    if scores is None:
        reading.refuse("a file of scores")
        (y, values, labels), groups = _example(seed), None
    else:
        y, values, labels, groups, name, notes = read_scores(scores, reading)
        say_notes(name, notes)
    weights = {} if costs is None else {"pair_weight": read_costs(costs)}
    report = pair_auc_scores(y, values, labels=labels, **weights)
    frame, interval = report.to_frame(), None
    if bootstrap != 0:
        if bootstrap and groups is not None:
            raise MaucError("--groups goes with the DeLong variance; leave --bootstrap out.")
        options = {} if bootstrap is None else {"method": "percentile", "n_bootstrap": bootstrap}
        interval = show.watched(mauc_interval, "interval")(
            y, values, labels=labels, level=level, groups=groups, random_state=seed, n_jobs=jobs,
            **options, **weights,
        )  # fmt: skip
        frame["lower"], frame["upper"] = interval.pair_lower, interval.pair_upper
    comparison = None
    if against is not None:
        comparison = _compare(against, reading, y, values, labels, groups, margin, level, weights)
    written = Written()
    if pairs is not None:
        written.add(lambda: write_frame(frame, pairs, force=force))
    if as_json:
        show.print_json(
            {
                "mauc": report.mauc,
                **{key: getattr(interval, key, None) for key in ("lower", "upper", "method")},
                "level": level,
                "n_samples": len(y),
                "n_groups": getattr(interval, "n_groups", None),
                "columns": notes,
                "absent": [str(label) for label in report.absent],
                "pairs": frame,
                **({} if comparison is None else {"comparison": _comparison_facts(comparison)}),
                "files": written.files,
            },
            "score-1",
        )
    else:
        _print_report(report, interval, frame, scores)
        if comparison is not None:
            show.print_sentence(f"{scores} against {against}: {comparison}")
    written.finish()


def _compare(
    against: str, reading: Reading, y: "np.ndarray", values: "np.ndarray", labels: "np.ndarray",
    groups: "np.ndarray | None", margin: float | None, level: float, weights: dict[str, Any],
) -> "MAUCComparison":  # fmt: skip
    """Test the scores of a file against those of another one for the same rows."""
    import numpy as np

    from mauc.metrics import compare_mauc

    others, other_values, names, *_ = read_scores(against, reading)
    if len(others) != len(y):
        raise MaucError(
            f"--against must have the {len(y):,} rows of the scores, got {len(others):,}."
        )
    if differs := np.flatnonzero(others != y).tolist():
        raise MaucError(
            f"--against must have the same rows in the same order, but row {differs[0] + 1} is of "
            f"class {str(others[differs[0]])!r}, not {str(y[differs[0]])!r}."
        )
    if missing := [name for name in labels if name not in names]:
        raise MaucError(f"{against} has no column of scores for class {format_labels(missing)}.")
    column = [names.tolist().index(name) for name in labels]
    test: dict[str, Any] = (
        {} if margin is None else {"alternative": "noninferior", "margin": margin}
    )
    found: MAUCComparison = compare_mauc(
        y, values, other_values[:, column], labels=labels, groups=groups, level=level, **test,
        **weights,
    )  # fmt: skip
    return found


def _comparison_facts(comparison: "MAUCComparison") -> dict[str, Any]:
    """Return a comparison as plain values."""
    names = (
        "mauc_a", "mauc_b", "difference", "lower", "upper", "p_value", "method", "alternative",
        "margin", "level",
    )  # fmt: skip
    facts = {name: getattr(comparison, name) for name in names}
    return {**facts, "pairs": comparison.to_frame()}


def _print_report(report: Any, interval: Any, frame: Any, scores: str | None) -> None:
    console = show.make_console()
    if scores is None:
        console.print(f"Naive Bayes on {EXAMPLE}, cross-validated")
    line = report.summary if interval is None else f"{report.summary}, {interval.bounds}"
    if len(report) == 1:
        console.print(line)
        return
    heads = ["A_ij", "A_ji", "mean"]
    if interval is not None:
        heads.append(f"{100 * interval.level:g}% interval")
    table = show.make_table("pair (hardest first)", *heads, right=tuple(heads))
    for row in frame.sort_values("auc", kind="stable").itertuples():
        cells = [number(value, missing="absent") for value in (row.auc_i, row.auc_j, row.auc)]
        if interval is not None:
            is_absent = row.auc != row.auc
            cells.append("absent" if is_absent else f"{row.lower:.4f} to {row.upper:.4f}")
        show.add_row(table, f"{show.short(row.class_i)} vs {show.short(row.class_j)}", *cells)
    show.print_table(table)
    console.print(line)


def read_scores(
    path: str, reading: Reading
) -> "tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None, str, list[str]]":
    """Return true labels, score columns and their labels, groups, the name of the data, notes."""
    import numpy as np

    from mauc.data.categories import get_column
    from mauc.datasets import BUNDLED
    from mauc.io.rules import is_id_name, number_reason

    if path in BUNDLED:
        raise MaucError(f"mauc score takes a file of scores, not a data set; got {path!r}.")
    target = reading.options.get("target", "label")
    dataset = reading.load(path, target=target, keep_ids=True)
    present = [str(label) for label in np.unique(dataset.y)]
    kept, names = [], []  # no texts, and nothing that looks like ids unless it is called as a class
    for place, column in enumerate(dataset.feature_names):
        name = _class_of(column, present)
        if column in dataset.nominal_features:
            if name in present:
                raise MaucError(
                    f"{path}: column {column!r} is named like a class, but holds texts, not scores."
                )
            continue
        if name not in present and "keep_ids" not in reading.options:
            values = np.asarray(get_column(dataset.X, place))
            if is_id_name(column) or number_reason(values, column, place) == "numbers the rows":
                continue
        kept.append(place)
        names.append(name)
    missing = [label for label in present if label not in names]
    if missing:
        raise MaucError(
            f"{path} has no column of scores for class {format_labels(missing)}; its columns: "
            f"{format_labels(dataset.feature_names)}."
        )
    repeated = [name for name in present if names.count(name) > 1]
    if repeated:
        raise MaucError(
            f"{path} has two columns of scores for class {format_labels(repeated)}; --drop one."
        )
    skipped = [name for j, name in enumerate(dataset.feature_names) if j not in kept]
    line = f"{len(kept)} columns of scores"
    if skipped:
        line += f"; left out: {format_labels(skipped)}, no scores"
    X, notes = dataset.take(kept).X, [line, *dataset.notes[1:]]
    y, values = dataset.y.astype(str), np.asarray(X, dtype=float)
    return y, values, np.array(names), dataset.groups, dataset.name, notes


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
