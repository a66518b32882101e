"""`mauc doctor`: what is wrong with a table, its labels or a model."""

import shlex
from typing import TYPE_CHECKING, Any

import click

from mauc.cli import common, show
from mauc.cli.reading import Reading, reads_data, target_option
from mauc.cli.score import read_scores
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.difficulty.doctor import Finding

_DROPPED = ("leak", "duplicated columns", "constant columns")  # faults of columns


@common.command()
@common.data_argument
@target_option
@click.option(
    "--predictions", metavar="FILE",
    help="Scores of a model for the same rows, as mauc score takes them.",
)  # fmt: skip
@reads_data
@common.seed_option
@common.jobs_option
def doctor(
    data: str, predictions: str | None, reading: Reading, seed: int, jobs: int, as_json: bool
) -> None:
    """Find what is wrong with a table, its labels or a model, the most consequential first.

    DATA is a file, - for standard input, or the name of a data set (see mauc datasets list).

    Example: mauc doctor data.csv --target label --predictions scores.csv
    """
    import numpy as np
    import pandas as pd

    from mauc.difficulty import diagnose
    from mauc.io.dataset import coded_columns

    dataset = reading.load(data)
    y, scores, labels = np.asarray(dataset.y).astype(str), None, None
    if predictions is not None:
        others, scores, labels, *_ = read_scores(predictions, reading)
        if not np.array_equal(others, y):
            raise MaucError(
                f"--predictions must have the {len(y):,} rows of the data in their order, with "
                f"their labels; got {len(others):,} rows."
            )
    X, is_nominal = coded_columns(dataset)
    if not hasattr(X, "tocsc"):  # so that findings name the columns; sparse ones keep numbers
        X = pd.DataFrame(np.asarray(X), columns=list(dataset.feature_names))
    found = show.watched(diagnose, "diagnosis")(
        X, y, scores, labels=labels, groups=dataset.groups, categorical_features=is_nominal,
        random_state=seed, n_jobs=jobs,
    )  # fmt: skip
    names = {f"x{at}": str(name) for at, name in enumerate(dataset.feature_names)}
    words = ["mauc", "doctor", *reading.words(data)]
    findings = [{**one._asdict(), "next": _next(one, names, words, data)} for one in found.findings]
    for one in findings:
        one["features"] = [names.get(name, name) for name in one["features"]]
    if as_json:
        facts = {"data": dataset.name, "columns": list(dataset.notes), "findings": findings}
        show.print_json({**facts, "checked": found.checked}, "doctor-1")
        return
    if not findings:
        show.print_sentence("Nothing was found.")
    for at, one in enumerate(findings, 1):
        show.print_sentence(f"{at}. {one['kind']} ({one['severity']}): {one['evidence']}")
        show.print_sentence(f"next: {one['next']}", "   ")
    show.print_sentence(found.checked)


def _next(found: "Finding", names: dict[str, str], words: list[str], data: str) -> str:
    """Return the next command, or what to do where no command helps."""
    columns: list[Any] = [names.get(name, name) for name in found.features]
    if found.kind in _DROPPED:
        dropped = [part for name in columns for part in ("--drop", name)]
        return shlex.join([*words, *dropped])
    if found.kind == "group column":
        return shlex.join([*words, "--groups", columns[0]])
    if found.kind == "copied rows":
        return "name the column that copies have in common: --groups COLUMN"
    if found.kind == "missed pair":
        return shlex.join(["mauc", "siren", *words[2:]])
    if found.kind == "wrong labels":
        more = " ..." * (len(found.rows) > 20)
        return "look at rows " + ", ".join(str(row + 1) for row in found.rows[:20]) + more
    return found.next
