"""How far a run and the paper agree: what `compare_published` gives in, Markdown tables out."""

import math
from dataclasses import replace

import pandas as pd

from mauc.report import markdown_table
from mauc.stats import shown_name

# What a reimplementation should not exceed: mean absolute difference over the sizes.
BARS = {"nb": 0.004, "c45": 0.007, "1nn": 0.007, "svm": 0.010}
RELIEFF_BAR = 0.010
ROUNDING = 0.001  # of the published values
# The published values are not those of FSDD, see fsdd_mnist.md.
EXCEPTED = ("mnist", "fsdd")
ALL = "all"


def is_excepted(cells):
    """Tell which cells are of the data set and selector that count in no summary."""
    return (cells["dataset"] == EXCEPTED[0]) & (cells["method"] == EXCEPTED[1])


def counted(compared):
    """Return a comparison without the cells that count in no summary."""
    return replace(compared, cells=compared.cells[~is_excepted(compared.cells)])


def measured_cells(compared):
    """Return the cells that the run has and that count."""
    cells = counted(compared).cells
    return cells[cells["reproduced"].notna()]


def bar_of(classifier, method):
    """Return the bar of a classifier behind a selector."""
    return RELIEFF_BAR if method == "relieff" else BARS[classifier]


def selector_differences(compared):
    """Return mean absolute differences over the sizes, with their bars.

    Returns
    -------
    differences : DataFrame
        Columns dataset, classifier, method, mean_absolute, bar and is_above.
    """
    frame = compared.summary("dataset", "classifier", "method").dropna(subset="mean_absolute")
    bars = [bar_of(*names) for names in zip(frame["classifier"], frame["method"], strict=True)]
    frame = frame[["dataset", "classifier", "method", "mean_absolute"]].assign(bar=bars)
    return frame.assign(is_above=frame["mean_absolute"] > frame["bar"])


def glance_table(compared):
    """Return one line per data set: how far off each classifier is, and the marks that agree."""
    compared = counted(compared)
    summaries = pd.concat(
        [
            compared.summary(*by)
            for by in (("dataset", "classifier"), ("dataset",), ("classifier",), ())
        ]
    ).fillna({"dataset": ALL, "classifier": ALL})
    summaries = summaries[summaries["cells"] > 0].set_index(["dataset", "classifier"])
    classifiers = [name for name in BARS if (ALL, name) in summaries.index]
    rows = []
    for dataset in summaries.index.unique("dataset"):
        shown = [glance_cell(summaries, dataset, name) for name in [*classifiers, ALL]]
        rows.append([shown_name("dataset", dataset) if dataset != ALL else ALL, *shown])
    heads = ["data set", *(shown_name("classifier", name) for name in classifiers), ALL]
    return markdown_table(heads, rows)


def glance_cell(summaries, dataset, classifier):
    if (dataset, classifier) not in summaries.index:
        return "-"
    summary = summaries.loc[(dataset, classifier)]
    text = f"{summary['mean_absolute']:.4f}"
    has_marks = summary["n_significant"] > 0
    return f"{text} · {summary['significant_agreement']:.0%}" if has_marks else text


def selector_table(compared):
    """Return mean absolute differences by data set, classifier and selector; bold above the bar."""
    frame = selector_differences(compared)
    methods = list(dict.fromkeys(frame["method"]))
    rows = []
    for (dataset, classifier), part in frame.groupby(["dataset", "classifier"], sort=False):
        shown = dict.fromkeys(methods, "-")
        for row in part.itertuples(index=False):
            text = f"{row.mean_absolute:.4f}"
            shown[row.method] = f"**{text}**" if row.is_above else text
        names = shown_name("dataset", dataset), shown_name("classifier", classifier)
        rows.append([*names, *shown.values()])
    heads = ["data set", "classifier", *(shown_name("selector", name) for name in methods)]
    return markdown_table(heads, rows, 2)


def marks_table(compared):
    """Return how many of the paper's marks the run has too, and what it has instead."""
    cells = compared_marks(compared)
    heads = [
        "data set",
        "classifier",
        "marks of the paper",
        "same here",
        "opposite",
        "none here",
        "no mark in the paper",
        "none here either",
    ]
    groups = [*cells.groupby(["dataset", "classifier"], sort=False), ((ALL, ALL), cells)]
    rows = []
    for (dataset, classifier), part in groups:
        names = (shown_name("dataset", dataset), shown_name("classifier", classifier))
        rows.append([*(names if dataset != ALL else (ALL, "")), *map(str, mark_counts(part))])
    return markdown_table(heads, rows, 2)


def mark_counts(part):
    """Count marks of the paper: all, same, opposite, none here; no mark: all, none here either."""
    marked = part[part["published_mark"] != "none"]
    n_same = int((marked["published_mark"] == marked["reproduced_mark"]).sum())
    n_none = int((marked["reproduced_mark"] == "none").sum())
    rest = part[part["published_mark"] == "none"]
    n_agreed = int((rest["reproduced_mark"] == "none").sum())
    share = f"{n_same} ({n_same / len(marked):.0%})" if len(marked) else "0"
    return len(marked), share, len(marked) - n_same - n_none, n_none, len(rest), n_agreed


def compared_marks(compared):
    """Return the cells that have a mark, or none, in the paper and in the run, MDFS apart."""
    cells = counted(compared).cells
    return cells[cells["agreement"].notna()]


def lost_marks_line(compared):
    """Return which marks of the paper are found, and how far off the others are, in sentences."""
    cells = compared_marks(compared)
    marked = cells[cells["published_mark"] != "none"]
    is_found = marked["published_mark"] == marked["reproduced_mark"]
    counts = []
    for mark, words in (("worse", "MDFS wins"), ("better", "MDFS loses")):
        found = is_found[marked["published_mark"] == mark]
        n_here = int((cells["reproduced_mark"] == mark).sum())
        counts.append(f"{words}: {int(found.sum())} of {len(found)} found, {n_here} marks here")
    text = f"{'; '.join(counts)}."
    off = marked.loc[~is_found, "difference"].abs()
    if len(off):
        text += (
            f" The {len(off)} cells whose mark is not found are off by {off.median():.4f} in the "
            f"median, {(off < 0.002).mean():.0%} of them by less than 0.002."
        )
    return text


def size_table(compared):
    """Return the differences of all selectors and data sets by size."""
    rows = [
        [
            str(size),
            f"{part.mean():+.4f}",
            f"{part.abs().mean():.4f}",
            f"{part.min():+.4f}",
            f"{part.max():+.4f}",
        ]
        for size, part in measured_cells(compared).groupby("size")["difference"]
    ]
    return markdown_table(["size", "mean", "mean absolute", "smallest", "largest"], rows)


def chance_table(compared, rows, by="selector", sizes=(10, 20, 50)):
    """Return mean absolute differences by selector or data set beside what chance would give.

    Two runs on the same data differ by the draw of their folds and of the selectors, and the paper
    rounds to three digits. With s the standard error of a mean over the repeats, the difference
    has the variance 2 s^2 + 0.001^2 / 12, and its absolute value the mean sqrt(2 / pi) times the
    root of that, if it is normal.
    """
    key = ["dataset", "classifier", "selector", "size"]
    means = rows.groupby([*key, "repeat"], sort=False)["mauc"].mean()
    repeats = means.groupby(key, sort=False)
    variance = 2 * repeats.var() / repeats.count() + ROUNDING**2 / 12
    chance = math.sqrt(2 / math.pi) * variance**0.5
    cells = measured_cells(compared).merge(chance.rename("chance").reset_index(), on=key)
    lines = []
    for name, part in [*cells.groupby(by, sort=False), (ALL, cells)]:
        shown = [chance_cell(part[part["size"] == size]) for size in sizes]
        lines.append([shown_name(by, name) if name != ALL else ALL, *shown, chance_cell(part)])
    head = {"selector": "selector", "dataset": "data set"}[by]
    return markdown_table([head, *map(str, sizes), "all sizes"], lines)


def chance_cell(part):
    if part.empty:
        return "-"
    return f"{part['difference'].abs().mean():.4f} ({part['chance'].mean():.4f})"


def bars_line(compared):
    """Return what is above its bar, in a sentence."""
    frame = selector_differences(counted(compared))
    above = frame[frame["is_above"]]
    text = f"{len(frame) - len(above)} of {len(frame)} are within their bar"
    if above.empty:
        return f"{text}."
    listed = [
        f"{shown_name('dataset', row.dataset)}, {shown_name('classifier', row.classifier)}, "
        f"{shown_name('selector', row.method)} ({row.mean_absolute:.4f})"
        for row in above.itertuples(index=False)
    ]
    return f"{text}; above it: {'; '.join(listed)}."
