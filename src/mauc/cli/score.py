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

    from mauc.cli.score_files import Scores
    from mauc.metrics import MAUCComparison

EXAMPLE = "wine"  # scored by Naive Bayes when no file is given


@common.command()
@click.argument("scores", required=False)
@target_option
@click.option(
    "--bootstrap",
    type=click.IntRange(min=0),
    help="Percentile bootstrap of this many resamples for the interval; 0 for no interval.",
)
@click.option("--level", default=0.95, help="Confidence level of the interval.")
@click.option(
    "--against",
    metavar="FILE",
    help="Scores of another model for the same rows: test the difference.",
)
@click.option(
    "--id",
    "ids",
    metavar="COLUMN",
    multiple=True,
    help="With --against: column that identifies the rows in both files. Repeatable; by default "
    "columns that are called ids, and position if there are none.",
)
@click.option(
    "--margin",
    type=float,
    help="With --against: test that the model is worse by less than this.",
)
@click.option(
    "--positive",
    metavar="CLASS",
    help="With two classes and a single column of scores: the class that they are of. By default "
    "1 of 0 and 1 or of -1 and 1, and True of False and True.",
)
@common.path_option("--pairs", help="Write the table of pairs (csv, parquet, xlsx).")
@click.option("--costs", **COSTS)
@reads_data
@common.seed_option
@common.jobs_option
@common.force_option
def score(
    scores: str | None,
    bootstrap: int | None,
    level: float,
    against: str | None,
    ids: tuple[str, ...],
    margin: float | None,
    positive: str | None,
    pairs: Path | None,
    costs: str | None,
    reading: Reading,
    seed: int,
    jobs: int,
    force: bool,
    as_json: bool,
) -> None:
    """Compute the MAUC of predictions and the AUC of every class pair.

    SCORES is a file, or - for standard input, with a column of true labels (--target, "label" by
    default) and a column of scores for each class, named as the class (or score_CLASS,
    proba_CLASS); of two classes a single column will do, such as label,score. Other columns are
    left out.

    The interval comes from the DeLong variance, near MAUC 1 and with few samples as well. Without a
    file, cross-validated predictions of Naive Bayes on a bundled set are scored.

    Example: mauc score predictions.csv --target label

    Two models: mauc score a.csv --against b.csv

    Rows are matched by the ids that both files have (--id names other columns), in any order; ids
    that only one file has, or that have other labels there, are an error. Without ids rows are
    matched by position, and the output says so.
    """
    from mauc.metrics import mauc_interval, pair_auc_scores

    if against is None and (margin is not None or ids):
        name = "--id" if ids else "--margin"
        raise MaucError(f"{name} goes with --against, the scores of another model.")
    if against is not None and scores is None:
        raise MaucError("--against goes with a file of scores: mauc score a.csv --against b.csv.")

    check_outputs(pairs=pairs, force=force)
    check_level("--level", level)
    notes: list[str] = []
    files: list[Scores] = []
    if scores is None:
        reading.refuse("a file of scores")
        if positive is not None:
            raise MaucError("--positive goes with a file of scores.")
        (y, values, labels), groups = _example(seed), None
    else:
        from mauc.cli.score_files import read_scores

        for path in filter(None, (scores, against)):
            file = read_scores(path, reading, ids, positive=positive, takes_single=True)
            say_notes(file.name, file.notes)
            files.append(file)
        if positive is not None and not any(file.is_single for file in files):
            raise MaucError(
                "--positive goes with two classes and a single column of scores, but there is a "
                "column for each class; leave it out."
            )
        y, values, labels, groups = files[0][:4]
        notes = files[0].notes
    weights: dict[str, Any] = {} if costs is None else {"pair_weight": read_costs(costs)}
    report = pair_auc_scores(y, values, labels=labels, **weights)
    frame, interval = report.to_frame(), None
    if bootstrap != 0:
        if bootstrap and groups is not None:
            raise MaucError("--groups goes with the DeLong variance; leave --bootstrap out.")
        options = {} if bootstrap is None else {"method": "percentile", "n_bootstrap": bootstrap}
        interval = show.watched(mauc_interval, "interval")(
            y,
            values,
            labels=labels,
            level=level,
            groups=groups,
            random_state=seed,
            n_jobs=jobs,
            **options,
            **weights,
        )
        frame["lower"], frame["upper"] = interval.pair_lower, interval.pair_upper
    facts, sentences = {}, list[str]()
    if against is not None:
        comparison, keys = _compare(files, ids, margin, level, weights, seed)
        facts = {"comparison": _comparison_facts(comparison, keys)}
        by = format_labels(keys) if keys else "position: no column identifies them in both files"
        sentences = [f"{scores} against {against}: {comparison}", f"rows were matched by {by}"]
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
                **facts,
                "files": written.files,
            },
            "score-1",
        )
    else:
        _print_report(report, interval, frame, scores)
        for sentence in sentences:
            show.print_sentence(sentence)
    written.finish()


def _compare(
    files: "list[Scores]",
    ids: tuple[str, ...],
    margin: float | None,
    level: float,
    weights: dict[str, Any],
    seed: int,
) -> "tuple[MAUCComparison, list[str]]":
    """Test the scores of a file against those of another one; return also what matched the rows."""
    from mauc.cli.score_files import match_rows
    from mauc.metrics import compare_mauc

    first, second = files
    other, keys = match_rows(first, second, ids)
    test: dict[str, Any] = (
        {} if margin is None else {"alternative": "noninferior", "margin": margin}
    )
    found: MAUCComparison = compare_mauc(
        first.y,
        first.values,
        other.values,
        labels=first.labels,
        groups=first.groups,
        level=level,
        random_state=seed,
        **test,
        **weights,
    )
    return found, keys


def _comparison_facts(comparison: "MAUCComparison", keys: list[str]) -> dict[str, Any]:
    """Return a comparison, and the columns that matched the rows, as plain values."""
    names = (
        "mauc_a",
        "mauc_b",
        "difference",
        "lower",
        "upper",
        "p_value",
        "method",
        "alternative",
        "margin",
        "level",
    )
    facts = {name: getattr(comparison, name) for name in names}
    return {**facts, "matched_by": keys, "pairs": comparison.to_frame()}


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
