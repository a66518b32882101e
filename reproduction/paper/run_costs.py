"""What a run took: where its seconds went, Table 10, and what the SVM was tuned to."""

import math

from mauc.report import load_published_runtime
from mauc.report.as_markdown import markdown_table
from mauc.stats.rows import shown_name


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
