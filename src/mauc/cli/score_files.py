"""Files of scores: the class of every column, and the rows that two files share."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mauc.checks import check_choice, unknown_choice
from mauc.cli.reading import Reading
from mauc.data.labels import missing_mask
from mauc.data.nominal import get_column
from mauc.datasets import BUNDLED, Dataset
from mauc.exceptions import MaucError, format_labels, option
from mauc.io.rules import is_id_name, number_reason
from mauc.metrics.score_names import (
    PREFIXES,
    KnownClasses,
    ScoreNames,
    match_names,
    plain_text,
    sum_to_one,
)
from mauc.results import plural

#: two classes of which one is the positive class without a word
_POSITIVE = {("0", "1"): "1", ("-1", "1"): "1", ("false", "true"): "true"}
#: names of a single column of scores beside others
_SCORE = {prefix.rstrip("_") for prefix in PREFIXES} - {""}

Array = np.ndarray[Any, Any]


class Scores(NamedTuple):
    """The scores of a file; labels are texts."""

    y: Array
    values: Array  #: a column for each class
    labels: Array  #: of the columns
    groups: Array | None
    name: str
    notes: list[str]
    path: str
    dataset: Dataset
    others: dict[str, int]  #: the columns that are not scores
    is_single: bool  #: the file has one column of scores, that of the positive class

    def texts(self, column: str) -> Array:
        """Return a column as texts, whole numbers without a point; "" is missing."""
        values = get_column(self.dataset.X, self.others[column])
        values = np.asarray(values.astype(object) if hasattr(values, "cat") else values)
        texts = [plain_text(str(value)) for value in values.tolist()]
        return np.where(missing_mask(values), "", texts)


def read_scores(
    path: str,
    reading: Reading,
    ids: Sequence[str] = (),
    *,
    positive: str | None = None,
    takes_single: bool = False,
) -> Scores:
    """Read a file of scores; of two classes it may have a single column, of the positive class."""
    if path in BUNDLED:
        raise MaucError(f"mauc score takes a file of scores, not a data set; got {path!r}.")
    target = reading.options.get("target", "label")
    dataset = reading.load(path, target=target, keep_ids=True)
    names = dataset.feature_names
    for name in ids:
        check_choice(f"{path}: --id", name, names, quoted=False)
    present = [str(label) for label in np.unique(dataset.y)]
    found, is_text = match_names(names, present), np.isin(names, dataset.nominal_features)
    if named := [names[j] for j in found.named if names[j] in ids]:
        raise MaucError(
            f"{path}: --id must not name columns of scores, got {format_labels(named)}."
        )
    _check_named(path, names, found, is_text)
    free = [  # no texts, and nothing that looks like ids
        j
        for j, label in enumerate(found.classes)
        if label is None
        and not is_text[j]
        and names[j] not in ids
        and ("keep_ids" in reading.options or not _is_id(dataset, j))
    ]
    columns = {j: found.classes[j] for j in found.named}
    absent = {j: found.others[j] for j in free if j in found.others}
    # Without a prefix in their names columns might be anything.
    if found.prefix or (absent and sum_to_one(_floats(dataset, [*columns, *absent]))):
        columns |= absent
    missing = [label for label in present if label not in columns.values()]
    is_single = bool(missing) and takes_single and len(present) == 2
    line = f"{len(columns)} columns of scores"
    if is_single:
        at, label = _single_column(path, names, columns, free, present, positive)
        columns, line = {at: label}, f"1 column of scores, {names[at]!r}, of class {label!r}"
    elif missing:
        raise MaucError(f"{_no_column(path, missing, names)}.")
    kept = sorted(columns)
    values, labels = _floats(dataset, kept), [columns[j] for j in kept]
    if is_single:
        values = np.column_stack((-values, values))
        labels = [*(label for label in present if label != labels[0]), *labels]
    others = {name: j for j, name in enumerate(names) if j not in columns}
    if others:
        line += f"; left out: {format_labels(list(others))}, no scores"
    notes = [line, *dataset.notes[1:]]
    return Scores(
        dataset.y.astype(str),
        values,
        np.array(labels),
        dataset.groups,
        dataset.name,
        notes,
        path,
        dataset,
        others,
        is_single,
    )


def _check_named(path: str, names: list[str], found: ScoreNames, is_text: Array) -> None:
    """Raise if columns that are named after classes are not one column of numbers for each."""
    for j in found.named:
        if is_text[j]:
            raise MaucError(
                f"{path}: column {names[j]!r} is named like a class, but holds texts, not scores."
            )
    if found.repeated:
        raise MaucError(
            f"{path} has two columns of scores for class {format_labels(found.repeated)}; "
            f"--drop one."
        )


def _is_id(dataset: Dataset, column: int) -> bool:
    """Whether a column of numbers looks like the ids of rows."""
    name, values = dataset.feature_names[column], np.asarray(get_column(dataset.X, column))
    return is_id_name(name) or number_reason(values, name, column) == "numbers the rows"


def _no_column(path: str, missing: list[str], names: list[str]) -> str:
    return (
        f"{path} has no column of scores for class {format_labels(missing)}; its columns: "
        f"{format_labels(names)}"
    )


def _single_column(
    path: str,
    names: list[str],
    columns: dict[int, str],
    free: list[int],
    present: list[str],
    positive: str | None,
) -> tuple[int, str]:
    """Return the single column of scores of two classes, and the class that it is of."""
    if positive is None:
        known = _POSITIVE.get((present[0].lower(), present[1].lower()))
        label = next((label for label in present if label.lower() == known), None)
    else:
        label = KnownClasses(present).find(positive)
        if label is None:
            raise unknown_choice("--positive", positive, present)
    named = list(columns.values())
    places = list(columns) or [j for j in free if names[j].lower() in _SCORE] or free
    advice = ""
    if len(places) == 1 and label is None:
        choices = format_labels(named or present)
        advice = (
            f" If {names[places[0]]!r} has the scores of one class, --positive names it: {choices}."
        )
    elif len(places) > 1:
        advice = " A single column of scores is called 'score', or others are left out by --drop."
    elif len(places) == 1 and label in (named or present):
        return places[0], str(label)
    missing = [one for one in present if one not in named]
    raise MaucError(f"{_no_column(path, missing, names)}.{advice}")


def _floats(dataset: Dataset, columns: Sequence[int]) -> Array:
    return np.asarray(dataset.take(columns).X, dtype=float)


def match_rows(a: Scores, b: Scores, ids: Sequence[str] = ()) -> tuple[Scores, list[str]]:
    """Return b with its rows and classes as those of a, and the columns that identify the rows.

    Without such columns rows are matched by position; columns that contradict it are an error.
    """
    keys = list(ids) or _find_keys(a, b)
    if keys:
        rows = _rows_by_keys(a, b, keys)
    else:
        _check_positions(a, b)
        rows = np.arange(len(a.y))
    known = KnownClasses(a.labels)
    named = {str(label): known.find(str(label)) or str(label) for label in b.labels}
    y = np.array([named[label] for label in b.y[rows].tolist()])
    labels = np.array([named[label] for label in b.labels.tolist()])
    if differs := np.flatnonzero(y != a.y).tolist():
        row = differs[0]
        if keys:
            raise MaucError(
                f"{_row_name(a, keys, row)} is of class {str(a.y[row])!r} in {a.path}, but "
                f"{str(y[row])!r} in {b.path}: --against must have the same labels."
            )
        raise MaucError(
            f"--against must have the same rows in the same order, but row {row + 1} is of class "
            f"{str(y[row])!r}, not {str(a.y[row])!r}; --id names a column that identifies rows."
        )
    if a.groups is not None and b.groups is not None:
        differs = np.flatnonzero(b.groups[rows].astype(str) != a.groups.astype(str)).tolist()
        if differs:
            raise MaucError(
                f"--against must have the same --groups, but row {differs[0] + 1} of {a.path} is "
                f"of another group."
            )
    if missing := [label for label in a.labels.tolist() if label not in labels]:
        raise MaucError(f"{b.path} has no column of scores for class {format_labels(missing)}.")
    columns = [labels.tolist().index(label) for label in a.labels.tolist()]
    return b._replace(y=y, values=b.values[rows][:, columns], labels=a.labels), keys


def _find_keys(a: Scores, b: Scores) -> list[str]:
    """Return the columns that both files have and that identify their rows."""
    found, named = [], []
    for name in a.others.keys() & b.others.keys():
        first, second = a.texts(name), b.texts(name)
        if "" in first or "" in second:
            continue
        if is_id_name(name):
            named.append(name)
            is_key = _are_different([first]) or _are_different([second])
        else:
            is_text = name in a.dataset.nominal_features and name in b.dataset.nominal_features
            is_key = is_text and _are_different([first]) and _same_values(first, second)
        found += [name] * is_key
    if not found and any(_are_different([one.texts(name) for name in named]) for one in (a, b)):
        found = named
    return sorted(found, key=a.others.__getitem__)


def _are_different(columns: list[Array]) -> bool:
    """Whether no two rows have the same values."""
    return bool(columns) and len(set(zip(*columns, strict=True))) == len(columns[0])


def _same_values(first: Array, second: Array) -> bool:
    return np.array_equal(np.sort(first), np.sort(second))


def _rows_by_keys(a: Scores, b: Scores, keys: list[str]) -> Array:
    """Return the rows of b in the order of those of a."""
    places = []
    for one in (a, b):
        columns = [one.texts(name) for name in keys]
        for name, texts in zip(keys, columns, strict=True):
            if (texts == "").any():
                row = int(np.argmax(texts == "")) + 1
                raise MaucError(f"{one.path}: column {name!r} has no value in row {row}.")
        values = list(zip(*columns, strict=True))
        places.append({value: row for row, value in enumerate(values)})
        if len(places[-1]) < len(values):
            row = next(row for row, value in enumerate(values) if places[-1][value] != row)
            raise MaucError(
                f"{one.path} has several rows with {_row_name(one, keys, row)}: --id must name "
                f"columns that tell rows apart, {option('drop', keys[0])} leaves the column out, "
                f"and {option('groups', keys[0])} says that it is what rows belong to."
            )
    alone = [one.keys() - other.keys() for one, other in (places, places[::-1])]
    if any(alone):
        parts = []
        for one, known, lost in zip((a, b), places, alone, strict=True):
            if lost:
                name = _row_name(one, keys, min(known[value] for value in lost))
                parts.append(f"{name} ({len(lost):,} in all) is in {one.path} only")
        raise MaucError(
            f"--against must have the same rows, but {', and '.join(parts)}; "
            f"{option('drop', ','.join(keys))} compares rows by position."
        )
    return np.array([places[1][value] for value in places[0]])


def _row_name(scores: Scores, keys: list[str], row: int) -> str:
    return ", ".join(f"{name} {str(scores.texts(name)[row])!r}" for name in keys)


def _check_positions(a: Scores, b: Scores) -> None:
    """Raise if files that have no ids for all rows do not have the same rows in the same order."""
    if len(a.y) != len(b.y):
        raise MaucError(
            f"--against must have the {plural(len(a.y), 'row')} of the scores, got {len(b.y):,}."
        )
    for name in a.others:
        if name not in b.others:
            continue
        first, second = a.texts(name), b.texts(name)
        differs = np.flatnonzero(first != second).tolist()
        if not differs or (len(set(first)) == 1 and len(set(second)) == 1):  # or of the model
            continue
        is_moved = _are_different([first]) and _same_values(first, second)
        if is_id_name(name) or is_moved:
            row = differs[0]
            raise MaucError(
                f"--against must have the same rows in the same order, but row {row + 1} has "
                f"{name} {str(second[row])!r}, not {str(first[row])!r}: --id COLUMN matches rows "
                f"by a column that identifies them, {option('drop', name)} compares by position."
            )
