"""Run the comparison with what people use and write its page: `make beyond-rivals`.

    python -m reproduction.beyond.make_rivals               # run what is missing, write
    python -m reproduction.beyond.make_rivals --page-only   # write from what is there

Runs resume. The page says what is missing.
"""

import argparse
import csv
import datetime
import importlib
import inspect
import json
import os
import time
import warnings
from itertools import product
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from mauc.datasets import load_dataset
from mauc.exceptions import IncompleteRunWarning, MaucError
from mauc.experiments import load_run, read_plan, run_plan
from mauc.plotting import CriticalDifferenceDisplay
from mauc.selectors import make_selector
from reproduction.beyond import rivals_tables as tables
from reproduction.beyond.rivals import TIME_LIMIT, some_rows
from reproduction.common import versions

HERE = Path(__file__).resolve().parent
FOLDER_OF_PLANS = HERE.parent / "plans"
PLANS = ("rivals", "ours")
EVERYTHING = "all_features"
SAME = ("seed", "folds", "repeats", "sizes", "max_rows", "classifiers")
PACKAGES = ("lightgbm", "boruta", "mrmr-selection", "skrebate")
HEAD = ("dataset", "selector", "seconds", "error")  # of seconds.csv
DISTANCES = (8, 16, 24, 32)  # of a label from its point
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))  # right, up
ACROSS = {-1: "right", 0: "center", 1: "left"}
UPRIGHT = {-1: "top", 0: "center", 1: "bottom"}
SPECIAL = {"f_classif": "`SelectKBest(f_classif)` of scikit-learn."}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("runs/beyond"))
    parser.add_argument("--page-only", action="store_true", help="Run nothing.")
    parser.add_argument("--output", type=Path, default=HERE, help="Folder of the page.")
    parser.add_argument("--jobs", type=int, default=None, help="Workers; one per core by default.")
    options = parser.parse_args(arguments)
    matplotlib.use("agg")
    plans = [read_plan(FOLDER_OF_PLANS / f"{name}.toml") for name in (*PLANS, EVERYTHING)]
    if not options.page_only:
        for plan in plans:
            print(run_plan(plan, options.runs / plan.name, n_jobs=options.jobs))
        measure_seconds(plans[:2], options.runs / "seconds.csv")
    write_page(options.runs, options.output)


def write_page(runs, output):
    """Write rivals.md and its pictures from run folders that may lack cells."""
    check_same_folds(runs)
    parts = {name: load_part(runs / name) for name in (*PLANS, EVERYTHING)}
    rows = tables.common_splits([parts[name] for name in PLANS])
    if rows.empty:
        raise MaucError(f"the runs in {runs} have no fold in common yet.")
    compared_table, compared = tables.win_table(rows)
    ranks, scores = tables.rank_table(rows)
    duels = tables.duel_table(scores)
    seconds = load_seconds(runs / "seconds.csv", rows)
    unranked = tables.partial_table(rows)
    everything = tables.all_features_table(rows, parts[EVERYTHING])
    sections = [
        head(runs, parts, rows),
        in_short(rows, ranks, duels, compared),
        mean_section(rows),
        rank_section(ranks, scores, duels, output),
        "## The place of GreedyMAUC\n\nIts mean rank over the data sets, over all classifiers and "
        "with each alone, and the best of the other selectors.\n\n"
        + tables.markdown(tables.place_table(rows), 2),
        "## Selectors that did not finish everywhere\n\nThey have no part in the ranks above. "
        "Here each is ranked on the data sets and sizes K that it finished, among the selectors "
        "that finished everywhere, beside the mean rank of GreedyMAUC there and the number of "
        "these data sets on which GreedyMAUC is higher.\n\n"
        + (tables.markdown(unranked, 2) if len(unranked) else "None."),
        "## Win/draw/loss of GreedyMAUC, corrected resampled t-test at 5 %\n\nOver data sets and "
        "sizes; a win is a setting in which GreedyMAUC is significantly better.\n\n"
        + tables.markdown(compared_table),
        "## By number of features\n\nMean MAUC of GreedyMAUC minus that of the other selector, "
        "over the data sets that have so many features and that the other finished.\n\n"
        + tables.markdown(tables.size_table(rows)),
        "## Where GreedyMAUC loses\n\nEvery data set and selector with a higher mean MAUC over "
        "classifiers and sizes, and how many settings (classifier x size) differ significantly.\n\n"
        + tables.markdown(tables.loss_table(rows, compared)),
        "## Few samples\n\nThe five data sets with few rows for their features or classes, sizes "
        "up to 50, against the best of four rivals on each.\n\n"
        + tables.markdown(tables.small_table(rows)),
        seconds_section(seconds, scores, output),
        "## All features\n\nMean MAUC over the classifiers, without any selection and with "
        "GreedyMAUC at the largest size.\n\n"
        + (tables.markdown(everything) if len(everything) else "Not run yet."),
        f"## What did not finish\n\nA fit may take {TIME_LIMIT:g} s of processor time; some rivals "
        "tell earlier that they would not finish.\n\n"
        + tables.markdown(tables.unfinished_table(rows)),
        settings_section(),
    ]
    (output / "rivals.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")


def check_same_folds(runs):
    """Refuse runs whose rows cannot be joined: other data, seeds, folds, sizes or classifiers."""
    plans = {name: json.loads((runs / name / "plan.json").read_text()) for name in PLANS}
    first, second = plans.values()
    for key in SAME:
        if first[key] != second[key]:
            raise MaucError(
                f"{key} of the runs {' and '.join(PLANS)} must be the same, "
                f"got {first[key]} and {second[key]}."
            )
    known = [
        json.loads((runs / name / "provenance.json").read_text())["datasets"] for name in PLANS
    ]
    for dataset in known[0].keys() & known[1].keys():
        prints = [part[dataset]["fingerprint"] for part in known]
        if prints[0] != prints[1]:
            raise MaucError(f"the runs {' and '.join(PLANS)} have different data of {dataset}.")


def load_part(folder):
    """Return the rows of a run, none if it has not begun."""
    if not (folder / "plan.json").is_file():
        return pd.DataFrame(columns=["dataset", "repeat", "fold", "status", "mauc", "classifier"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteRunWarning)  # the page says what is missing
        return load_run(folder)


def load_seconds(path, rows):
    """Return seconds of selection by data set and selector; those of the runs if not measured."""
    if path.is_file():
        return pd.read_csv(path), "processor seconds of one fit on the first fold, one thread"
    chosen = rows[rows["status"] == "ok"].drop_duplicates([*tables.SPLIT, "selector"])
    seconds = chosen.groupby(["dataset", "selector"], sort=False)["select_seconds"].median()
    return seconds.rename(
        "seconds"
    ).reset_index(), "wall-clock seconds of the runs, median of folds"


def head(runs, parts, rows):
    counts, is_whole = [], True
    for name, part in parts.items():
        n_cells = len(read_plan(FOLDER_OF_PLANS / f"{name}.toml").cells())
        n_done = len(part[tables.SPLIT].drop_duplicates())
        counts.append(f"`{name}.toml` {n_done} of {n_cells} folds")
        is_whole &= n_done == n_cells
    datasets = rows["dataset"].unique()
    folds = rows.groupby("dataset")[["repeat", "fold"]].apply(lambda p: len(p.drop_duplicates()))
    partial = [f"{name} ({n} folds)" for name, n in folds.items() if n < folds.max()]
    note = "" if is_whole else f"\n\n**Incomplete**: {', '.join(counts)}."
    note += f" Fewer folds so far: {', '.join(partial)}." if partial else ""
    return f"""# Against what people use

Written by `make beyond-rivals` on {datetime.date.today()} with {versions()}, \
{versions(*PACKAGES)}; {os.cpu_count()} cores.{note}

{len(datasets)} data sets, those of more than 2,000 rows thinned to 2,000 by class; twice fivefold;
features are selected in the training part of each fold, once for all classifiers and sizes.
K = 5, 10, 20, 50 and 100, up to the number of features. Classifiers: Naive Bayes, C4.5, 1NN,
RBF-SVM (C = 8, gamma = "scale", standardised), logistic regression (standardised, C = 1), random
forest (100 trees), LightGBM (50 rounds). `greedy` is `GreedyMAUC` with its defaults; the selectors
of this library and their rivals ran in two runs on the same folds. {len(rows)} measurements,
{int((rows["status"] != "ok").sum())} without result. Settings of the rivals are at the end."""


def in_short(rows, ranks, duels, compared):
    """Return what the tables say, in a list: places, firsts by classifier, losses."""
    order = list(ranks["selector"])
    classifiers = [name for name in ranks.columns if name not in ("selector", "all", "Holm p")]
    firsts = [name for name in classifiers if ranks[name].idxmin() == order.index(tables.OURS)]
    small = tables.small_table(rows)["difference"]  # its last line is the mean
    losses = tables.loss_table(rows, compared)
    better, worse = ((compared["mark"] == mark).sum() for mark in ("worse", "better"))
    place = order.index(tables.OURS) + 1
    best = zip(order[:4], ranks["all"][:4], strict=True)
    rank = ranks["all"][place - 1]
    equal = duels.loc[duels["Holm p"] >= 0.05, "selector"]
    return f"""## In short

- **Rank.** GreedyMAUC is number {place} of {len(order)} selectors that finished on all data sets, \
mean rank {rank:.2f}; first are {", ".join(f"{name} ({mean:.2f})" for name, mean in best)}.
- **Classifiers.** It has the best mean rank with {len(firsts)} of {len(classifiers)}: \
{", ".join(firsts) or "none"}.
- **One against one.** Over the data sets it is significantly better (Wilcoxon, Holm, 5 %) than \
{len(duels) - len(equal)} of {len(duels)} selectors{", not than " if len(equal) else ""}\
{", ".join(equal)}.
- **Tests.** Of {compared["p_value"].notna().sum()} settings (data set x classifier x size x other \
selector) it is significantly better in {better} and worse in {worse}.
- **Losses.** {len(losses)} pairs of data set and selector have a higher mean; the largest \
difference is {losses["difference"].min() if len(losses) else 0:.4f}.
- **Few samples.** Against the best of four rivals on each of {len(small) - 1} small \
sets the mean difference is {small.iloc[-1]:+.4f}."""


def mean_section(rows):
    scores = tables.dataset_means(rows)
    table = scores.T.rename_axis("selector")
    table["mean"] = scores.mean().where(scores.notna().all())
    table = table.sort_values("mean", ascending=False, kind="stable").reset_index()
    return (
        "## Mean MAUC over classifiers and sizes\n\nA dash: the selector did not finish there.\n\n"
        + tables.markdown(table, 3)
    )


def rank_section(ranks, scores, duels, output):
    import matplotlib.pyplot as plt

    text = (
        "## Mean ranks over the data sets\n\nOf the selectors that finished everywhere; over all "
    )
    text += (
        "classifiers, and with each alone. Holm's p is that of the difference of mean ranks to "
        "GreedyMAUC, which depends on all selectors that are ranked."
    )
    if len(scores) >= CriticalDifferenceDisplay.min_datasets and scores.shape[1] > 1:
        names = list(scores.columns)
        display = CriticalDifferenceDisplay.from_scores(scores.to_numpy(), names, posthoc="nemenyi")
        display.figure_.savefig(output / "rivals_ranks.png", dpi=120)
        plt.close(display.figure_)
        text += "\n\n![mean ranks with the critical difference](rivals_ranks.png)"
    shown = {name: [shown_p(p) for p in duels[name]] for name in ("p", "Holm p")}
    return (
        f"{text}\n\n{tables.markdown(ranks, 2)}\n\n{tables.friedman_line(scores)}\n\n"
        "### One against one\n\nData sets on which the mean MAUC of GreedyMAUC is higher and "
        "lower than that of the other selector, the mean and the lowest difference, and Wilcoxon's "
        "signed-rank test over the data sets, corrected by Holm for the number of selectors.\n\n"
        f"{tables.markdown(duels.assign(**shown))}"
    )


def shown_p(p):
    """Return a p-value as four decimals, or that it is smaller."""
    return f"{p:.4f}" if p >= 0.0001 else "< 0.0001"


def seconds_section(seconds, scores, output):
    frame, what = seconds
    wide = frame.pivot_table(index="selector", columns="dataset", values="seconds", sort=False)
    medians = wide.median(axis=1)
    finished = [name for name in scores.columns if name in medians.index]
    path = output / "rivals_seconds.png"
    plot_seconds(scores[finished].mean(), medians[finished], tables.OURS, path)
    table = pd.DataFrame(
        {
            "selector": wide.index, "median": medians.to_numpy(),
            "largest": wide.max(axis=1).to_numpy(),
            "of data set": wide.idxmax(axis=1).to_numpy(),
            "data sets": wide.count(axis=1).to_numpy(),
        }
    )  # fmt: skip
    return (
        f"## Seconds\n\nSelecting up to 100 features: {what}.\n\n"
        "![mean MAUC against seconds](rivals_seconds.png)\n\n"
        + tables.markdown(table.sort_values("median", ignore_index=True), 3)
    )


def settings_section():
    """Return the settings of every rival: what its adapter says of itself."""
    lines = []
    for spec in read_plan(FOLDER_OF_PLANS / "rivals.toml").selectors:
        text = SPECIAL.get(spec.name) or settings_of(spec.method)
        lines.append({"selector": spec.name, "settings": text})
    ties = (
        "Equal scores go by F statistic, then by column. What a rival leaves unranked follows by F "
        "statistic, except after the forward wrapper, which stays short."
    )
    return f"## Settings of the rivals\n\n{ties}\n\n" + tables.markdown(pd.DataFrame(lines))


def settings_of(method):
    """Return the docstring of an adapter up to its parameters, in one line."""
    text = inspect.getdoc(import_method(method))
    return " ".join(text.partition("\n\nParameters")[0].replace("``", "`").split())


def measure_seconds(plans, path):
    """Write the processor seconds of one fit of all selectors of plans, those not yet there.

    On the first of five folds of every data set, with one thread: the seconds of a run are those of
    a clock, and depend on what else the machine does.

    Parameters
    ----------
    plans : list of Plan
        With the same data sets.
    path : Path
        A CSV file with columns dataset, selector, seconds and error; a fit that failed has no
        seconds.
    """
    known = set()
    if path.is_file():
        with open(path, newline="") as file:
            known = {(row["dataset"], row["selector"]) for row in csv.DictReader(file)}
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(",".join(HEAD) + "\n")
    for dataset in plans[0].datasets:
        data = load_dataset(dataset.source, dataset.target, **dataset.options)
        rows = some_rows(data.y, plans[0].max_rows or len(data.y), plans[0].seed)
        X, y = data.X[rows], data.y[rows]
        folds = StratifiedKFold(plans[0].folds, shuffle=True, random_state=plans[0].seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # classes of fewer samples than folds
            train, _ = next(folds.split(X, y))
        for plan in plans:
            for spec in plan.selectors:
                if (dataset.name, spec.name) not in known:
                    found = time_fit(spec, X[train], y[train], min(max(plan.sizes), X.shape[1]))
                    with open(path, "a", newline="") as file:
                        csv.writer(file).writerow((dataset.name, spec.name, *found))


def time_fit(spec, X, y, size):
    """Return the processor seconds of the second fit and no error, or none and the error.

    The first one compiles; a long one counts itself.
    """
    is_ours = "." not in spec.method
    if is_ours:
        selector = make_selector(spec.method, size, **spec.options)
    else:
        selector = import_method(spec.method)(**spec.options)
    given = {"n_features_to_select": size, "random_state": 0, "n_jobs": 1}
    known = selector.get_params()
    selector.set_params(**{name: value for name, value in given.items() if name in known})
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            for _ in range(2):
                start = time.process_time()
                selector.fit(X, y)
                seconds = time.process_time() - start
                if not is_ours and seconds > 2:  # nothing of theirs is compiled
                    break
    except Exception as error:  # of another package
        return "", f"{type(error).__name__}: {error}"
    return f"{seconds:.6f}", ""


def import_method(path):
    """Return the class that an import path names."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def plot_seconds(means, seconds, ours, path):
    """Draw mean MAUC against seconds, one point per selector.

    Parameters
    ----------
    means, seconds : Series
        By selector.
    ours : str
        The selector that stands out.
    path : Path
    """
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    ax = figure.add_subplot()
    seconds = seconds.clip(lower=1e-4)
    for name in means.index:
        ax.plot(seconds[name], means[name], "o", color="C3" if name == ours else "C0")
    ax.set_xscale("log")
    ax.set_xlim(seconds.min() / 2, seconds.max() * 4)
    ax.margins(y=0.08)
    ax.set_xlabel("seconds of selection, median over the data sets")
    ax.set_ylabel("mean MAUC")
    ax.grid(alpha=0.3)
    figure.draw_without_rendering()  # places are known only when the layout is
    figure.set_layout_engine("none")
    label_points(ax, {name: (seconds[name], means[name]) for name in means.index}, ours)
    figure.savefig(path, dpi=120)


def label_points(ax, points, ours):
    """Write each name beside its point, at the first place that is free, or at the last."""
    renderer = FigureCanvasAgg(ax.figure).get_renderer()
    places = ax.transData.transform(list(points.values()))
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in places]
    for name, point in points.items():
        label = None
        for away, (right, up) in product(DISTANCES, SIDES):
            if label is not None:
                label.remove()
            label = ax.annotate(
                name, point, (right * away, up * away), textcoords="offset points", fontsize=9,
                ha=ACROSS[right], va=UPRIGHT[up], weight="bold" if name == ours else "normal",
                arrowprops={"arrowstyle": "-", "lw": 0.4, "color": "grey"} if away > 8 else None,
            )  # fmt: skip
            label.update_positions(renderer)
            box = Text.get_window_extent(label, renderer).padded(1)  # without the line
            if not any(box.overlaps(other) for other in taken):
                break
        taken.append(box)


if __name__ == "__main__":
    main()
