"""The labels of a table: their values in, classes with notes on what they are out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mauc.checks import check_choice, is_class_count, many_classes_text
from mauc.data.labels import factorize
from mauc.data.source import ColumnSource
from mauc.exceptions import WARNING, MaucError, format_labels, option
from mauc.io.options import ReadOptions
from mauc.io.table import Table, first_few, split_words
from mauc.results import plural

MIN_ORDERED = 11  # different whole numbers from which a target may be a measurement
_MAX_LETTERS = 10_000  # of a label
_MIN_ROWS = 10  # in fewer rows any class may have a single one

Array = np.ndarray[Any, Any]


def read_labels(table: Table, source: ColumnSource, target: int | None) -> tuple[Any, str, str]:
    """Return the labels as they are, the name of their column, and what errors call it."""
    if target is None:
        return table.labels, "class", "y"
    name, kind = table.names[target], source.types[target].kind
    (labels,) = source.read(np.array([target]))
    declared = table.categories.get(name)
    if declared is not None:
        codes = np.where(np.isnan(labels), -1, labels).astype(np.int64)
        labels = np.array([*declared, None], dtype=object)[codes]
    elif not hasattr(labels, "iloc") and kind in "bmM":  # as pandas would name them
        import pandas

        if kind == "b":
            codes = np.where(np.isnan(labels), -1, labels).astype(np.int8)
            labels = pandas.Categorical.from_codes(codes, [False, True])
        labels = pandas.Series(labels)
    return labels, name, f"column {name!r}"


def check_labels(
    table: Table, column: Any, what: str, options: ReadOptions
) -> tuple[Array, Array, list[str]]:
    """Return labels, a mask of the rows that have none, and notes; errors call them `what`."""
    import pandas

    is_missing, notes = np.asarray(pandas.isna(column)), list[str]()
    if isinstance(column, np.ndarray) and column.dtype.kind in "OU":
        is_missing = is_missing | (column == "")
    is_na = np.asarray(column == "NA") if str(column.dtype) == "category" else np.zeros(1, bool)
    if is_na.any() and "NA" in table.missing_words and table.uses_word("NA"):
        is_missing = is_missing | is_na
        notes.append(
            f"'NA' is a missing label, as it is a missing value in other columns; the name of the "
            f"target in {option('categorical_features')} makes it a class"
        )
    n_missing = int(is_missing.sum())
    if n_missing and not options.skip_unlabelled:
        more = f" ({n_missing} rows have none)" if n_missing > 1 else ""
        raise MaucError(
            f"{table.path}: {what} has no label in {table.locate_row(int(np.argmax(is_missing)))}"
            f"{more}; give it one, or leave such rows out ({option('skip_unlabelled', True)})."
            f"{''.join(f' {note}.' for note in notes)}"
        )
    if n_missing:
        notes.append(f"{plural(n_missing, 'row')} without a label left out")
    y = _plain_labels(table, column, is_missing, what)
    if options.merge or options.classes or options.min_class_size:
        y, is_kept, class_notes = choose_classes(table, y, what, options)
        notes += class_notes
        is_missing = is_missing.copy()
        is_missing[~is_missing] = ~is_kept
    classes, _, counts = factorize(y)
    n_classes, n_single = len(counts), int((counts == 1).sum())
    ways = (
        f"{n_single} of {n_classes} classes have one row: {option('min_class_size', 2)} leaves "
        f"these out, {option('merge', 'A,B=AB')} makes one of several, {option('classes')} names "
        f"those to keep"
    )
    if not options.many_classes and not is_class_count(n_classes, len(y)):
        raise MaucError(
            f"{table.path}: {what} has {many_classes_text(n_classes, len(y))}. If they are "
            f"classes all the same, pass {option('many_classes', True)}. {ways}."
        )
    if n_single and len(y) >= _MIN_ROWS:
        notes.append(f"two single rows are no evidence, and {ways}")
    if y.dtype.kind == "U":
        for word in sorted({*table.missing_words} & {*classes.tolist()}):
            notes.append(f"{word!r} is a class; {option('missing', word)} makes it a missing label")
        folded = np.array(["".join(label.split()).casefold() for label in classes])
        found, times = np.unique(folded, return_counts=True)
        alike = "; ".join(format_labels(classes[folded == one]) for one in found[times > 1])
        if alike:
            notes.append(f"{WARNING}labels differ by case or blanks alone: {alike}")
    elif _is_ordered(classes, counts):
        notes.append(
            f"{WARNING}{what} has {len(classes)} whole numbers that are about as frequent as their "
            f"neighbours: it looks ordinal or continuous, but is taken for classes without an order"
        )
    return y, is_missing, notes


def _is_ordered(values: Array, counts: Array) -> bool:
    """Whether whole numbers leave many out, or are as frequent as their neighbours."""
    if len(values) > 2 * MIN_ORDERED and int(values[-1]) - int(values[0]) > 2 * len(values):
        return True
    if len(values) < MIN_ORDERED or len(set(counts[1:-1])) == 1:
        return False
    steps, logs = np.diff(counts), np.log(counts)
    is_monotone = (steps >= 0).all() or (steps <= 0).all()  # codes in order of frequency
    return bool(not is_monotone and np.corrcoef(logs[1:], logs[:-1])[0, 1] > 2.5 / len(logs) ** 0.5)


def choose_classes(
    table: Table, y: Array, what: str, options: ReadOptions
) -> tuple[Array, Array, list[str]]:
    """Return labels after classes were merged, which of them are kept, and notes."""
    labels, notes = y.astype(str), list[str]()

    def is_named(texts: Sequence[str], name: str) -> Array:
        known = np.unique(labels).tolist()
        words = [str(word) for text in texts for word in split_words(known, text)]
        for word in words:
            check_choice(f"{table.path}: {option(name)}", word, known, quoted=False)
        return np.isin(labels, words)

    for text in options.merge:
        old, _, new = map(str.strip, text.rpartition("="))
        if not (old and new):
            raise MaucError(f"{option('merge')} must be classes and a name, A,B=AB, got {text!r}.")
        labels = np.where(is_named([old], "merge"), new, labels)
        notes.append(f"classes {old} taken as one, {new!r}")
    is_kept = (
        np.ones(len(y), bool) if options.classes is None else is_named(options.classes, "classes")
    )
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    is_kept &= counts[codes] >= (options.min_class_size or 1)
    lost, n_rows = np.unique(labels[~is_kept]).tolist(), int((~is_kept).sum())
    if lost:
        classes = plural(len(lost), "class")
        notes.append(f"{classes} of {plural(n_rows, 'row')} left out: {first_few(lost)}")
        if len(np.unique(labels[is_kept])) < 2:
            raise MaucError(f"{table.path}: two classes of {what} must be left, got {notes[-1]}.")
    if y.dtype.kind in "iu" and all(label.removeprefix("-").isdigit() for label in set(labels)):
        labels = labels.astype(y.dtype)
    return labels[is_kept], is_kept, notes


def _plain_labels(table: Table, labels: Any, is_missing: Array, what: str) -> Array:
    """Return the labels that there are as integers or texts."""
    if is_missing.all():
        raise MaucError(f"{table.path}: {what} has no label in any row. Is it the right target?")
    labels = labels[~is_missing]
    if str(labels.dtype) == "category":
        labels = labels.cat.remove_unused_categories()
        kept = np.asarray(labels.cat.categories)
        if kept.dtype.kind not in "iuf":
            texts = [str(value) for value in kept.tolist()]
            longest = max(map(len, texts))
            if longest > _MAX_LETTERS:
                raise MaucError(
                    f"{table.path}: {what} has a label of {longest:,} letters, the limit is "
                    f"{_MAX_LETTERS:,}. Is it the right target?"
                )
            kept = np.array(texts)
        labels = kept[labels.cat.codes.to_numpy()]
    values = np.asarray(labels)
    if values.dtype == np.dtype("m8"):  # integers beyond float64, see `exact_with_missing`
        return values.view(np.int64)
    if values.dtype.kind == "f":
        kind = np.uint64 if values.max() >= 2**63 else np.int64
        limits = np.iinfo(kind)
        whole = (values == np.round(values)) & (values >= limits.min) & (values < limits.max + 1.0)
        if not whole.all():
            first = int(np.argmin(whole))
            row = int(np.flatnonzero(~is_missing)[first])
            raise MaucError(
                f"{table.path}: {what} holds {values[first]} in {table.locate_row(row)}: labels "
                f"are names or integers, not measurements. Is it the right target?"
            )
        return values.astype(kind)
    if values.dtype.kind in "iuU":
        return values
    return np.array([str(value) for value in values.tolist()])
