"""`mauc doctor`: what is wrong with a table, its labels or a model."""

import shlex
from contextlib import ExitStack
from copy import copy
from typing import TYPE_CHECKING, Any

import click

from mauc.cli import common, show
from mauc.cli.reading import Reading, reads_data, target_option
from mauc.exceptions import MaucError
from mauc.results import plural

if TYPE_CHECKING:
    from mauc.evaluation.doctor import Finding
    from mauc.io.load import LocatedDataset

_DROPPED = (  # faults of columns
    "leak",
    "class marker",
    "target means",
    "missing by class",
    "identifier",
    "duplicated columns",
    "constant columns",
)
_COLUMNS = ("drop", "groups", "categorical_features")  # options that name columns
_OTHERS = {"missed pair": "rank", "groups across folds": "compare"}  # commands that go on
_MAX_ROWS = 20  # that are named


@common.command()
@common.data_argument
@target_option
@click.option(
    "--predictions",
    metavar="FILE",
    help="Scores of a model for the same rows, as mauc score takes them: a column per class, and "
    "the labels in a column named as in the data.",
)
@click.option(
    "--ignore",
    metavar="CODES",
    multiple=True,
    help="Codes of findings that are not looked for, such as MD03 or MD03,MD07. Repeatable.",
)
@reads_data
@common.seed_option
@common.jobs_option
def doctor(
    data: str,
    predictions: str | None,
    ignore: tuple[str, ...],
    reading: Reading,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Find what is wrong with a table, its labels or a model, the most consequential first.

    DATA is a file, - for standard input, or the name of a data set (see mauc datasets list).
    Every finding has a code, such as MD08, that --ignore takes.

    Example: mauc doctor data.csv --target label --predictions scores.csv
    """
    import numpy as np
    import pandas as pd

    from mauc.evaluation.doctor import examine
    from mauc.evaluation.doctor.kinds import check_ignored
    from mauc.io.dataset import coded_columns
    from mauc.io.load import load_located

    ignore = tuple(code.strip() for codes in ignore for code in codes.split(","))
    check_ignored(ignore)
    with ExitStack() as stack:
        opened = load_located(data, **reading.options)
        located = show.watched(stack.enter_context, f"reading {data}")(opened)
        dataset = located.dataset
        y, scores, labels = np.asarray(dataset.y).astype(str), None, None
        if predictions is not None:
            from mauc.cli.score_files import read_scores

            own = copy(reading)  # columns of the data are not those of the scores
            own.options = {
                name: one for name, one in reading.options.items() if name not in _COLUMNS
            }
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
        found = show.watched(examine, "diagnosis")(
            X,
            y,
            scores,
            labels=labels,
            groups=dataset.groups,
            categorical_features=is_nominal,
            ignore=ignore,
            random_state=seed,
            n_jobs=jobs,
            dates=located.dates,
        )
        names = {f"x{at}": str(name) for at, name in enumerate(dataset.feature_names)}
        words = reading.words(data)
        ignored = [part for code in ignore for part in ("--ignore", code)]
        findings = [
            {**one._asdict(), "next": _next(one, names, words, ignored, y, located)}
            for one in found.findings
        ]
    for one in findings:
        one["features"] = [names.get(name, name) for name in one["features"]]
        one["rows"] = located.rows[list(one["rows"])].tolist() if one["rows"] else []
    if as_json:
        facts = {"data": dataset.name, "columns": list(dataset.notes), "findings": findings}
        show.print_json({**facts, "checked": found.checked}, "doctor-1")
        return
    for note in dataset.notes:
        show.print_sentence(note)
    if not findings:
        show.print_sentence("Nothing was found.")
    for at, one in enumerate(findings, 1):
        title = f"{at}. {one['code']} {one['kind']} ({one['severity']})"
        show.print_sentence(f"{title}: {one['evidence']}")
        show.print_sentence(f"next: {one['next']}", "   ")
    show.print_sentence(found.checked)


def _next(
    found: "Finding",
    names: dict[str, str],
    words: list[str],
    ignored: list[str],
    y: Any,
    located: "LocatedDataset",
) -> str:
    """Return the next command, or the rows to look at where no command helps."""
    columns, more = [names.get(name, name) for name in found.features], list[str]()
    command = "doctor"
    if found.kind in _DROPPED:
        more = [part for name in columns for part in ("--drop", name)]
    elif found.kind == "group column":
        more = ["--groups", columns[0]]
    elif found.kind == "sentinel":
        return f"name that number with --missing, or leave the column out: --drop {columns[0]}"
    elif found.kind == "dates by class" and columns[0] in located.dates:
        return f"it is left out; ask what else changed with {columns[0]}"
    elif found.kind == "interaction":
        command, more = "select", ["--keep", ",".join(columns)]
    elif found.rows:
        shown = located.locate(located.rows[list(found.rows[:_MAX_ROWS])])
        word = shown[0].rsplit(" ", 1)[0]
        numbers = ", ".join(one.rsplit(" ", 1)[1] for one in shown)
        n_more = len(found.rows) - len(shown)
        rest = f" and {n_more} more" if n_more else ""
        return f"look at {word}{'s' * (len(found.rows) > 1)} {numbers}{rest}"
    elif found.kind in _OTHERS or len(set(y)) == 2:  # of two, none is left out or merged
        command = _OTHERS.get(found.kind, "rank")
    elif found.kind == "inseparable pair":
        more = ["--merge", f"{','.join(found.classes)}={'+'.join(found.classes)}"]
    else:
        more = ["--classes", ",".join(sorted({*y} - {found.classes[0]}))]
    more += ignored if command == "doctor" else []
    return shlex.join(["mauc", command, *words, *more])
