"""Tables of the comparison with rivals: rows of the runs in, data frames and Markdown out."""

import numpy as np
import pandas as pd

from mauc.report import markdown_table
from mauc.stats import (
    Comparison,
    compare_to,
    friedman_test,
    holm_adjust,
    holm_test,
    wilcoxon_test,
    win_draw_loss,
)

OURS = "greedy"
ALL = "all"  # the selector of all_features.toml
SMALL_SETS = ("su", "sorlie", "arrhythmia", "libras", "thyroid_sub_srbct")
SMALL_RIVALS = ("lightgbm_gain", "svm_rfe", "l1_path", "mrmr_selection")
MAX_BAR_SIZE = 50
SETTING = ["dataset", "classifier", "size"]
SPLIT = ["dataset", "repeat", "fold"]


def markdown(frame, digits=4):
    """Return a frame as a Markdown table; NaN as a dash."""

    def show(value):
        if isinstance(value, float | np.floating):
            return "-" if np.isnan(value) else f"{value:.{digits}f}"
        return str(value)

    rows = [[show(value) for value in row] for row in frame.itertuples(index=False)]
    return markdown_table([str(name) for name in frame.columns], rows)


def common_splits(parts):
    """Return the rows of all runs on the folds that each of them has, in one frame."""
    keys = [set(map(tuple, part[SPLIT].drop_duplicates().to_numpy())) for part in parts]
    shared = set.intersection(*keys)
    kept = [part[[tuple(key) in shared for key in part[SPLIT].to_numpy()]] for part in parts]
    return pd.concat(kept, ignore_index=True)


def cell_means(rows):
    """Return the mean MAUC of every setting and selector; NaN unless all its folds are there."""
    folds = rows.groupby("dataset")[["repeat", "fold"]].apply(
        lambda part: len(part.drop_duplicates())
    )
    ok = rows[rows["status"] == "ok"]
    grouped = ok.groupby([*SETTING, "selector"], sort=False)["mauc"].agg(["mean", "count"])
    n_folds = grouped.index.get_level_values("dataset").map(folds)
    means = grouped["mean"].where(grouped["count"] == n_folds)
    names = list(dict.fromkeys(rows["selector"]))
    return means.unstack("selector").reindex(columns=names)


def dataset_means(rows):
    """Return the mean MAUC over classifiers and sizes, data sets by selectors.

    NaN where a selector lacks a setting that others have there.
    """
    means = cell_means(rows)
    grouped = means.groupby("dataset", sort=False)
    return grouped.mean().where(grouped.count().eq(grouped.size(), axis=0))


def finished(scores):
    """Return the selectors that have a score on every data set."""
    return [name for name in scores.columns if scores[name].notna().all()]


def rank_table(rows):
    """Return mean ranks over data sets: all classifiers, and each alone; Holm against GreedyMAUC.

    Of the selectors that finished everywhere. Also returns their scores, data sets by selectors.
    """
    scores = dataset_means(rows)
    scores = scores[finished(scores)]
    table = pd.DataFrame({"selector": scores.columns})
    table["all"] = scores.rank(axis=1, ascending=False).mean().to_numpy()
    for classifier in dict.fromkeys(rows["classifier"]):
        alone = dataset_means(rows[rows["classifier"] == classifier])[list(scores.columns)]
        table[classifier] = alone.rank(axis=1, ascending=False).mean().to_numpy()
    if len(scores) > 1 and OURS in scores and len(scores.columns) > 2:
        found = holm_test(scores.to_numpy(), list(scores.columns), control=OURS)
        p_values = dict(zip(found["method"], found["p_holm"], strict=True))
        table["Holm p"] = [p_values.get(name, np.nan) for name in scores.columns]
    return table.sort_values("all", kind="stable", ignore_index=True), scores


def duel_table(scores):
    """Return GreedyMAUC against each selector alone: data sets won, and a test over the data sets.

    Parameters
    ----------
    scores : DataFrame
        Data sets by selectors.

    Returns
    -------
    table : DataFrame
        With Wilcoxon's signed-rank test of the means of the data sets, corrected by Holm.
    """
    others = [name for name in scores.columns if name != OURS]
    differences = scores[others].rsub(scores[OURS], axis=0)
    p_values = [wilcoxon_test(scores[OURS], scores[name]).p_value for name in others]
    return pd.DataFrame(
        {
            "selector": others,
            f"{OURS} higher": (differences > 0).sum().to_numpy(),
            "lower": (differences < 0).sum().to_numpy(),
            "mean difference": differences.mean().to_numpy(),
            "worst": differences.min().to_numpy(),
            "p": p_values,
            "Holm p": holm_adjust(p_values),
        }
    ).sort_values("mean difference", kind="stable", ignore_index=True)


def place_table(rows):
    """Return mean rank and place of GreedyMAUC, over all classifiers and with each alone.

    Among the selectors that finished everywhere, for sizes up to 50 and for all sizes.
    """
    lines = {"all": {}} | {name: {} for name in dict.fromkeys(rows["classifier"])}
    for title, part in (
        (f"K <= {MAX_BAR_SIZE}", rows[rows["size"] <= MAX_BAR_SIZE]),
        ("all K", rows),
    ):
        ranks, _ = rank_table(part)
        ranks = ranks.set_index("selector")
        for name, line in lines.items():
            column = ranks[name]
            others = column.drop(OURS)
            line[f"rank, {title}"] = column[OURS]
            line[f"place, {title}"] = f"{1 + int((others < column[OURS]).sum())} of {len(column)}"
            line[f"best other, {title}"] = f"{others.idxmin()} {others.min():.2f}"
    return pd.DataFrame(lines).T.rename_axis("classifier").reset_index()


def partial_table(rows):
    """Return the ranks of the selectors that did not finish everywhere, where they did.

    Each is ranked on the data sets and sizes that it finished, among those that finished
    everywhere; the rank of GreedyMAUC there stands beside it, and on how many of these data sets
    its mean MAUC is higher.
    """
    means = cell_means(rows)
    everywhere = finished(dataset_means(rows))
    lines = []
    for name in means.columns.drop(everywhere):
        has_all = means[name].notna().groupby(["dataset", "size"]).transform("all")
        part = means.loc[has_all, [*everywhere, name]]
        scores = part.groupby("dataset", sort=False).mean()
        ranks = scores.rank(axis=1, ascending=False).mean()
        sizes = sorted(part.index.get_level_values("size").unique())
        lines.append(
            {
                "selector": name, "data sets": len(scores),
                "K": ", ".join(map(str, sizes)) or "-",
                "mean rank": ranks.get(name, np.nan), OURS: ranks.get(OURS, np.nan),
                f"{OURS} higher": int((scores[OURS] > scores[name]).sum()),
                "of selectors": len(everywhere) + 1,
            }
        )  # fmt: skip
    columns = ["selector", "data sets", "K", "mean rank", OURS, f"{OURS} higher", "of selectors"]
    return pd.DataFrame(lines, columns=columns)


def size_table(rows):
    """Return GreedyMAUC minus every other selector by size, where both finished."""
    means = cell_means(rows)
    table = {}
    for name in means.columns.drop(OURS):
        gains = (means[OURS] - means[name]).groupby(["dataset", "size"]).mean()
        table[name] = gains.groupby("size").mean()
    frame = pd.DataFrame(table).T
    frame.columns = [f"K = {size}" for size in frame.columns]
    return frame.rename_axis("selector").reset_index()


def win_table(rows):
    """Return win/draw/loss of GreedyMAUC by the corrected t-test, by selector and classifier."""
    compared = compare_to(rows, Comparison(OURS, "corrected_t"))
    names, classifiers = (
        list(dict.fromkeys(compared["selector"])),
        list(dict.fromkeys(rows["classifier"])),
    )
    parts = win_draw_loss(compared, by="classifier").set_index(["selector", "classifier"])
    total = win_draw_loss(compared, by=()).set_index("selector")
    lines = []
    for name in names:
        line = {"selector": name, "all": shown_counts(total.loc[name])}
        for classifier in classifiers:
            line[classifier] = shown_counts(parts.loc[(name, classifier)])
        lines.append(line)
    return pd.DataFrame(lines), compared


def shown_counts(counts):
    """Return win/draw/loss as text."""
    return f"{counts['win']}/{counts['draw']}/{counts['loss']}"


def loss_table(rows, compared):
    """Return every data set and selector where the mean MAUC of GreedyMAUC is lower."""
    scores = dataset_means(rows)
    lines = []
    for dataset, line in scores.iterrows():
        for name in scores.columns.drop(OURS):
            if line[name] > line[OURS]:
                part = compared[(compared["dataset"] == dataset) & (compared["selector"] == name)]
                lines.append(
                    {
                        "data set": dataset, "selector": name,
                        OURS: line[OURS], "other": line[name],
                        "difference": line[OURS] - line[name],
                        "cells": len(part),
                        "significantly worse": int((part["mark"] == "better").sum()),
                        "significantly better": int((part["mark"] == "worse").sum()),
                    }
                )  # fmt: skip
    columns = ["data set", "selector", OURS, "other", "difference", "cells"]
    columns += ["significantly worse", "significantly better"]
    return pd.DataFrame(lines, columns=columns).sort_values("difference", ignore_index=True)


def small_table(rows):
    """Return GreedyMAUC against the best of four rivals on the sets of few samples, K <= 50.

    The last line has the means.
    """
    scores = dataset_means(rows[rows["size"] <= MAX_BAR_SIZE])
    rivals = [name for name in SMALL_RIVALS if name in scores]
    scores = scores.loc[[name for name in SMALL_SETS if name in scores.index], [OURS, *rivals]]
    best = scores[rivals].max(axis=1)
    scores["best of them"] = best
    scores["difference"] = scores[OURS] - best
    # One NaN makes a mean NaN: a set or rival that is missing is no better than it seems.
    scores.loc["mean"] = scores.mean(skipna=False)
    scores["best rival"] = [*scores[rivals].iloc[:-1].idxmax(axis=1), ""]
    return scores.rename_axis("data set").reset_index()


def unfinished_table(rows):
    """Return which selectors failed where, on how many of the folds, and why."""
    failed = rows[rows["status"] != "ok"]
    columns = ["selector", "data set", "sizes", "folds", "why"]
    lines = []
    for (name, dataset, error), part in failed.groupby(
        ["selector", "dataset", "error"], sort=False
    ):
        sizes = ", ".join(str(size) for size in sorted(part["size"].unique()))
        n_folds = len(part[["repeat", "fold"]].drop_duplicates())
        lines.append((name, dataset, sizes, n_folds, error.partition(": ")[2] or error))
    return pd.DataFrame(lines, columns=columns)


def all_features_table(rows, everything):
    """Return the MAUC with all features beside that of GreedyMAUC at its largest size."""
    means = everything[everything["status"] == "ok"]
    means = means.groupby(["dataset", "classifier"], sort=False)["mauc"].mean().unstack()
    ours = rows[(rows["selector"] == OURS) & (rows["status"] == "ok")]
    lines = []
    for dataset, line in means.iterrows():
        part = ours[ours["dataset"] == dataset]
        if len(part):
            size = part["size"].max()
            chosen = part[part["size"] == size]["mauc"].mean()
            n_features = int(part["n_features"].iloc[0])
            lines.append(
                {
                    "data set": dataset, "features": n_features, "all": line.mean(),
                    f"{OURS}, largest K": chosen, "K": int(size),
                    "difference": chosen - line.mean(),
                }
            )  # fmt: skip
    return pd.DataFrame(lines)


def friedman_line(scores):
    """Return the Friedman test of scores, data sets by selectors, in a sentence."""
    if len(scores) < 2 or scores.shape[1] < 2:
        return "Too few data sets for the Friedman test."
    test = friedman_test(scores.to_numpy())
    return (
        f"Friedman test over {len(scores)} data sets: chi-square {test.statistic:.1f}, "
        f"p = {test.p_value:.2g}."
    )
