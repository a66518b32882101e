"""`mauc doctor`: what is wrong with a table, its labels or a model."""

import shlex
from copy import copy
from typing import TYPE_CHECKING, Any

import click

from mauc.cli import common, show
from mauc.cli.reading import Reading, reads_data, target_option
from mauc.exceptions import MaucError
from mauc.results import plural

if TYPE_CHECKING:
    from mauc.difficulty.doctor import Finding

_DROPPED = ("leak", "duplicated columns", "constant columns")  # faults of columns
_COLUMNS = ("drop", "groups", "categorical_features")  # options that name columns
_OTHERS = {"missed pair": "siren", "groups across folds": "compare"}  # commands that go on


@common.command()
@common.data_argument
@target_option
@click.option(
    "--predictions", metavar="FILE",
    help="Scores of a model for the same rows, as mauc score takes them: a column per class, and "
    "the labels in a column named as in the data.",
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
        from mauc.cli.score_files import read_scores

        own = copy(reading)  # columns of the data are not those of the scores
        own.options = {name: one for name, one in reading.options.items() if name not in _COLUMNS}
        others, scores, labels, *_ = read_scores(predictions, own)
        scores, labels = scores[:, np.isin(labels, y)], labels[np.isin(labels, y)]
        if not np.array_equal(others, y):
            raise MaucError(
                f"--predictions must have the {len(y):,} rows of the data in their order, with "
                f"their labels; got {plural(len(others), 'row')}."
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
    findings = [{**one._asdict(), "next": _next(one, names, words, y)} for one in found.findings]
    for one in findings:
        one["features"] = [names.get(name, name) for name in one["features"]]
    if as_json:
        facts = {"data": dataset.name, "columns": list(dataset.notes), "findings": findings}
        show.print_json({**facts, "checked": found.checked}, "doctor-1")
        return
    for note in dataset.notes:
        show.print_sentence(note)
    if not findings:
        show.print_sentence("Nothing was found.")
    for at, one in enumerate(findings, 1):
        show.print_sentence(f"{at}. {one['kind']} ({one['severity']}): {one['evidence']}")
        show.print_sentence(f"next: {one['next']}", "   ")
    show.print_sentence(found.checked)


def _next(found: "Finding", names: dict[str, str], words: list[str], y: Any) -> str:
    """Return the next command, or the rows to look at where no command helps."""
    columns, more = [names.get(name, name) for name in found.features], list[str]()
    if found.kind in _DROPPED:
        more = [part for name in columns for part in ("--drop", name)]
    elif found.kind == "group column":
        more = ["--groups", columns[0]]
    elif found.rows:
        return "look at rows " + ", ".join(str(row + 1) for row in found.rows[:20])
    elif found.kind in _OTHERS or len(set(y)) == 2:  # of two, none is left out or merged
        words = ["mauc", _OTHERS.get(found.kind, "rank"), *words[2:]]
    elif found.kind == "inseparable pair":
        more = ["--merge", f"{','.join(found.classes)}={'+'.join(found.classes)}"]
    else:
        more = ["--classes", ",".join(sorted({*y} - {found.classes[0]}))]
    return shlex.join([*words, *more])
