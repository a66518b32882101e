"""How far a run and the paper agree: cells of `compare_published` in, Markdown tables out."""

import math

from mauc.report import load_published_runtime
from mauc.report.as_markdown import markdown_table
from mauc.stats.rows import shown_name

# What a reimplementation should not exceed: mean absolute difference over the sizes.
BARS = {"nb": 0.004, "c45": 0.007, "1nn": 0.007, "svm": 0.010}
RELIEFF_BAR = 0.010
ROUNDING = 0.001  # of the published values
# The published values are not those of FSDD, see fsdd_mnist.md.
EXCEPTED = ("mnist", "fsdd")


def is_excepted(cells):
    """Tell which cells are of the data set and selector that count in no summary."""
    return (cells["dataset"] == EXCEPTED[0]) & (cells["method"] == EXCEPTED[1])


def measured(cells):
    """Return the cells that the run has."""
    return cells[cells["reproduced"].notna()]


def bar_of(classifier, method):
    """Return the bar of a classifier behind a selector."""
    return RELIEFF_BAR if method == "relieff" else BARS[classifier]


def selector_differences(cells):
    """Return mean absolute differences over the sizes, with their bars.

    Returns
    -------
    differences : DataFrame
        Columns dataset, classifier, method, absolute, bar and is_above.
    """
    cells = measured(cells)
    keys = ["dataset", "classifier", "method"]
    means = cells.assign(absolute=cells["difference"].abs()).groupby(keys, sort=False)["absolute"]
    frame = means.mean().reset_index()
    bars = zip(frame["classifier"], frame["method"], strict=True)
    frame["bar"] = [bar_of(*names) for names in bars]
    return frame.assign(is_above=frame["absolute"] > frame["bar"])


def glance_table(cells):
    """Return one line per data set: how far off each classifier is, and the marks that agree."""
    cells = measured(cells)
    cells = cells[~is_excepted(cells)]
    classifiers = [name for name in BARS if name in set(cells["classifier"])]
    rows = []
    groups = [*cells.groupby("dataset", sort=False), ("all", cells)]
    for dataset, part in groups:
        shown = [glance_cell(part[part["classifier"] == name]) for name in classifiers]
        name = shown_name("dataset", dataset) if dataset != "all" else "all"
        rows.append([name, *shown, glance_cell(part)])
    heads = ["data set", *(shown_name("classifier", name) for name in classifiers), "all"]
    return markdown_table(heads, rows)


def glance_cell(part):
    if part.empty:
        return "-"
    text = f"{part['difference'].abs().mean():.4f}"
    marked = compared_marks(part)
    marked = marked[marked["published_mark"] != "none"]
    same = (marked["published_mark"] == marked["reproduced_mark"]).mean()
    return f"{text} · {same:.0%}" if len(marked) else text


def selector_table(cells):
    """Return mean absolute differences by data set, classifier and selector; bold above the bar."""
    frame = selector_differences(cells)
    methods = list(dict.fromkeys(frame["method"]))
    rows = []
    for (dataset, classifier), part in frame.groupby(["dataset", "classifier"], sort=False):
        shown = dict.fromkeys(methods, "-")
        for row in part.itertuples(index=False):
            text = f"{row.absolute:.4f}"
            shown[row.method] = f"**{text}**" if row.is_above else text
        names = shown_name("dataset", dataset), shown_name("classifier", classifier)
        rows.append([*names, *shown.values()])
    heads = ["data set", "classifier", *(shown_name("selector", name) for name in methods)]
    return markdown_table(heads, rows, 2)


def marks_table(cells):
    """Return how many of the paper's marks the run has too, and what it has instead."""
    cells = compared_marks(cells)
    heads = [
        "data set", "classifier", "marks of the paper", "same here", "opposite", "none here",
        "no mark in the paper", "none here either",
    ]  # fmt: skip
    groups = [*cells.groupby(["dataset", "classifier"], sort=False), (("all", "all"), cells)]
    rows = []
    for (dataset, classifier), part in groups:
        names = (shown_name("dataset", dataset), shown_name("classifier", classifier))
        rows.append([*(names if dataset != "all" else ("all", "")), *map(str, mark_counts(part))])
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


def compared_marks(cells):
    """Return the cells that have a mark, or none, in the paper and in the run, MDFS apart."""
    cells = measured(cells)
    has_both = (cells["published_mark"] != "") & (cells["reproduced_mark"] != "")
    return cells[has_both & ~is_excepted(cells)]


def lost_marks_line(cells):
    """Return which marks of the paper are found, and how far off the others are, in sentences."""
    cells = compared_marks(cells)
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


def size_table(cells):
    """Return the differences of all selectors and data sets by size."""
    cells = measured(cells)
    cells = cells[~is_excepted(cells)]
    rows = [
        [str(size), f"{part.mean():+.4f}", f"{part.abs().mean():.4f}", f"{part.min():+.4f}",
         f"{part.max():+.4f}"]
        for size, part in cells.groupby("size")["difference"]
    ]  # fmt: skip
    return markdown_table(["size", "mean", "mean absolute", "smallest", "largest"], rows)


def chance_table(cells, rows, by="selector", sizes=(10, 20, 50)):
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
    cells = measured(cells)
    cells = cells[~is_excepted(cells)].merge(chance.rename("chance").reset_index(), on=key)
    lines = []
    for name, part in [*cells.groupby(by, sort=False), ("all", cells)]:
        shown = [chance_cell(part[part["size"] == size]) for size in sizes]
        lines.append([shown_name(by, name) if name != "all" else name, *shown, chance_cell(part)])
    head = {"selector": "selector", "dataset": "data set"}[by]
    return markdown_table([head, *map(str, sizes), "all sizes"], lines)


def chance_cell(part):
    if part.empty:
        return "-"
    return f"{part['difference'].abs().mean():.4f} ({part['chance'].mean():.4f})"


def bars_line(cells):
    """Return what is above its bar, in a sentence."""
    frame = selector_differences(cells)
    excepted = is_excepted(frame)
    above = frame[frame["is_above"] & ~excepted]
    n_held = int((~excepted).sum()) - len(above)
    text = f"{n_held} of {int((~excepted).sum())} are within their bar"
    if above.empty:
        return f"{text}."
    listed = [
        f"{shown_name('dataset', row.dataset)}, {shown_name('classifier', row.classifier)}, "
        f"{shown_name('selector', row.method)} ({row.absolute:.4f})"
        for row in above.itertuples(index=False)
    ]
    return f"{text}; above it: {'; '.join(listed)}."


def time_table(rows):
    """Return where the seconds of a run went, by data set."""
    lines = []
    classifiers = list(dict.fromkeys(rows["classifier"]))
    for dataset, part in rows.groupby("dataset", sort=False):
        chosen = part.drop_duplicates(["repeat", "fold", "selector"])["select_seconds"].sum()
        fitting = part.groupby("classifier")["fit_seconds"].sum()
        fitted = (fitting.get(name, 0.0) for name in classifiers)
        parts = [chosen, *fitted, part["score_seconds"].sum()]
        shown = [f"{value:.0f} ({value / sum(parts):.0%})" for value in parts]
        lines.append([shown_name("dataset", dataset), *shown, f"{sum(parts):.0f}"])
    names = [shown_name("classifier", name) for name in classifiers]
    return markdown_table(["data set", "selecting", *names, "MAUC", "all"], lines)


def seconds_table(seconds):
    """Return the paper's Table 10 beside seconds measured here: here | paper.

    Parameters
    ----------
    seconds : DataFrame
        Columns selector, dataset, seconds.
    """
    paper, here = (
        frame.set_index(["selector", "dataset"])["seconds"]
        for frame in (load_published_runtime(), seconds)
    )
    datasets = [name for name in paper.index.unique("dataset") if name in here.index.levels[1]]
    lines = [
        [shown_name("selector", one), *(rf"{here[one, name]:.3f} \| {paper[one, name]:.3f}"
                                        for name in datasets)]
        for one in here.index.unique("selector")
    ]  # fmt: skip
    return markdown_table(["selector", *(shown_name("dataset", one) for one in datasets)], lines)


def tuning_table(tuned):
    """Return C, gamma and the MAUC they were chosen by, by data set and size.

    Parameters
    ----------
    tuned : dict of str to dict of int to Tuned
        What was tuned, by data set and size.
    """
    sizes = sorted({size for found in tuned.values() for size in found})
    lines = []
    for name, found in tuned.items():
        shown = [
            f"{power(found[size].C)}, {power(found[size].gamma)}; {found[size].mauc:.3f}"
            if size in found else "-"
            for size in sizes
        ]  # fmt: skip
        lines.append([shown_name("dataset", name), *shown])
    return markdown_table(["data set", *map(str, sizes)], lines)


def power(value):
    """Return a power of two as the paper writes it."""
    return f"2^{math.log2(value):g}"
