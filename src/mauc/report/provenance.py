"""Where numbers come from: how many splits, which versions, which values failed."""

from datetime import date
from typing import Any

from mauc.exceptions import printable
from mauc.results import short_name
from mauc.stats import Comparison
from mauc.stats.rows import labels_of, shown_name

_MAX_FAILURES = 12  # kinds of failure listed below a table


def describe_splits(rows: Any) -> str:
    """Return the repeats and folds of some rows in words, and how many splits there are of them."""
    splits = rows[["repeat", "fold"]].drop_duplicates()
    n_repeats, n_folds = splits["repeat"].nunique(), splits["fold"].nunique()
    text = f"{n_repeats} × {n_folds}-fold cross-validation"
    n_whole = n_repeats * n_folds
    return text if len(splits) == n_whole else f"{text} ({len(splits)} of {n_whole} splits)"


def describe_protocol(rows: Any, dataset: str) -> str:
    """Return the protocol of a data set in words, and the classifiers that have fewer splits."""
    here = rows[rows["dataset"] == dataset]
    whole = describe_splits(here)
    if "classifier" not in rows:
        return whole
    fewer: dict[str, list[str]] = {}
    for classifier, part in here.groupby("classifier", sort=False):
        own = describe_splits(part)
        if own != whole:
            fewer.setdefault(own, []).append(shown_name("classifier", classifier))
    parts = [f"{', '.join(names)}: {words}" for words, names in fewer.items()]
    return f"{whole} ({'; '.join(parts)})" if parts else whole


def describe_protocols(rows: Any) -> str:
    """Return the protocol of all data sets in words: one if they share it, else each.

    Parameters
    ----------
    rows : DataFrame
        The rows of a run.

    Returns
    -------
    words : str
        Such as "10 × 10-fold cross-validation".
    """
    datasets = labels_of(rows, "dataset")
    words = [describe_protocol(rows, dataset) for dataset in datasets]
    if len(set(words)) == 1:
        return words[0]
    named = zip(datasets, words, strict=True)
    return ", ".join(f"{shown_name('dataset', dataset)} {word}" for dataset, word in named)


def stamp_of(rows: Any) -> tuple[str, ...]:
    """Return the lines that say where a file comes from: protocol, date, versions."""
    n_datasets = len(labels_of(rows, "dataset"))
    sets = f"{n_datasets} data set{'s' if n_datasets > 1 else ''}"
    versions = [str(text) for text in rows["versions"].dropna().unique()]
    lines = f"{describe_protocols(rows)}; {sets}", f"written {date.today().isoformat()}", *versions
    return tuple(map(printable, lines))  # a line each, also in a comment of LaTeX


def shortage_notes(rows: Any, comparison: Comparison) -> tuple[str, ...]:
    """Return a sentence for data sets that have too few splits for the test to reject at all."""
    if comparison.reference is None:
        return ()
    splits = rows[["dataset", "repeat", "fold"]].drop_duplicates()
    n_splits = splits.groupby("dataset", sort=False).size()
    notes = []
    for n, here in n_splits.groupby(n_splits, sort=False):
        if shortage := comparison.shortage(int(n)):
            names = ", ".join(shown_name("dataset", name) for name in here.index)
            notes.append(shortage if len(here) == len(n_splits) else f"{names}: {shortage}")
    return tuple(notes)


def failure_notes(rows: Any) -> tuple[str, ...]:
    """Return one sentence per kind of failure in the rows, with the number of values lost."""
    failed = rows[rows["status"] != "ok"]
    if failed.empty:
        return ()
    errors = failed["error"].fillna("no reason recorded").astype(str).str.split().str.join(" ")
    kinds = failed.assign(error=errors).groupby(["classifier", "selector", "error"], sort=False)
    counts = kinds.size().reset_index(name="n")
    notes = [
        f"{shown_name('classifier', kind.classifier)}, {shown_name('selector', kind.selector)}: "
        f"{kind.n} value{'s' if kind.n > 1 else ''} failed ({short_name(kind.error, 120)})"
        for kind in counts.itertuples(index=False, name="Kind")
    ]
    if len(notes) > _MAX_FAILURES:
        n_more = int(counts["n"][_MAX_FAILURES:].sum())
        notes = [*notes[:_MAX_FAILURES], f"{n_more} further values failed in other ways"]
    return tuple(f"{note}." for note in notes)
