"""Run the plans filters, svm_small and svm_large and write what they gave: `make beyond`.

Runs go to runs/beyond and are not run again once they are there.
"""

import argparse
import datetime
import os
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

from mauc import select_k
from mauc.datasets import load_dataset
from mauc.experiments import load_run, run_plan
from mauc.plotting import CriticalDifferenceDisplay, CurvesDisplay, StabilityDisplay
from mauc.report import markdown_table, ranks_table, win_draw_loss_table
from mauc.selectors import make_selector
from mauc.stats import Comparison, compare_to, selector_stability
from reproduction.common import versions
from reproduction.published import runtime_beside

HERE = Path(__file__).parent
PLANS = ("filters", "svm_small", "svm_large")
PAPER = ("isolet", "mnist", "usps", "phoneme", "indiana", "synthetic")
BARS = {"isolet": 0.02, "mnist": 0.02, "usps": 0.01, "indiana": 0.01}
AUTO = ("greedy", "mdfs", "mrmr")
FLAT = 0.005
FEW = (10, 20, 50, 100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("runs/beyond"))
    runs = parser.parse_args().runs
    matplotlib.use("agg")
    for name in PLANS:
        print(run_plan(HERE.parent / "plans" / f"{name}.toml", runs / name))
    parts = {name: load_run(runs / name) for name in PLANS}
    rows = pd.concat(parts.values(), ignore_index=True)
    sections = [
        head(rows),
        gains(rows),
        worse(rows),
        *summaries(parts["filters"], rows),
        auto(parts["filters"]),
    ]
    (HERE / "README.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")


def head(rows):
    failed = int((rows["status"] == "failed").sum())
    return f"""# Past the paper: the evidence

Written by `make beyond` on {datetime.date.today()} with {versions()}; {os.cpu_count()} cores.
`filters.toml`: all selectors, nine data sets, Naive Bayes, C4.5 and 1NN, twice fivefold;
`svm_small.toml`, `svm_large.toml`: the SVM (C = 8, gamma = "scale", standardised data), on the four
large sets for four selectors only, because it takes most of the time. {len(rows)} measurements,
{failed} failed. `greedy` is `GreedyMAUC`; `mdfs+` is `MDFS(schedule="hardest", ties="mauc")`. How
GreedyMAUC came to its defaults, and on which data sets it was tuned, is in greedy_research.md.

{(HERE / "findings.md").read_text(encoding="utf-8").strip()}"""


def markdown(frame, digits=4):
    """Return a frame as a Markdown table."""

    def show(value):
        if isinstance(value, float):
            return "" if np.isnan(value) else f"{value:.{digits}f}"
        return str(value)

    rows = [[show(value) for value in row] for row in frame.itertuples(index=False)]
    return markdown_table([str(name) for name in frame.columns], rows)


def gains(rows):
    """Mean MAUC over classifiers and sizes, of the selectors that all four classifiers have."""
    ok = rows[rows["status"] == "ok"]
    everywhere = ok.groupby("selector")["dataset"].nunique()
    svm = ok[ok["classifier"] == "svm"].groupby("selector")["dataset"].nunique()
    names = [n for n in rows["selector"].unique() if everywhere[n] == 9 and svm.get(n, 0) == 9]
    cells = (
        ok[ok["selector"].isin(names)]
        .groupby(["dataset", "classifier", "size", "selector"], sort=False)["mauc"]
        .mean()
    )
    means = cells.groupby(["dataset", "selector"], sort=False).mean().unstack()
    means["greedy - mdfs"] = means["greedy"] - means["mdfs"]
    few = cells[cells.index.get_level_values("size").isin(FEW)]
    few = few.groupby(["dataset", "selector"], sort=False).mean().unstack()
    means["the same, sizes 10, 20, 50, 100"] = few["greedy"] - few["mdfs"]
    means["bar"] = [
        f">= {BARS[name]}" if name in BARS else ("> 0" if name in PAPER else "")
        for name in means.index
    ]
    means["holds"] = [
        "" if not bar else ("yes" if gain >= BARS.get(name, 1e-12) else "**no**")
        for name, gain, bar in zip(means.index, means["greedy - mdfs"], means["bar"], strict=True)
    ]
    by_classifier = (
        ok[ok["selector"].isin(["greedy", "mdfs", "mrmr"])]
        .groupby(["dataset", "classifier", "selector"], sort=False)["mauc"]
        .mean()
        .unstack()
    )
    parts = pd.DataFrame(
        {
            "greedy - mdfs": by_classifier["greedy"] - by_classifier["mdfs"],
            "greedy - mrmr": by_classifier["greedy"] - by_classifier["mrmr"],
        }
    ).unstack("classifier")
    parts.columns = [f"{what}, {classifier}" for what, classifier in parts.columns]
    return (
        "## Mean MAUC over the four classifiers and sizes 10 to 100\n\n"
        + markdown(means.reset_index())
        + "\n\nThe difference by classifier:\n\n"
        + markdown(parts.reset_index())
    )


def worse(rows):
    """Cells of size up to 50 in which GreedyMAUC is significantly worse or better."""
    small = rows[rows["size"] <= 50]
    lines = []
    for rival, bar in (("mdfs", 0.03), ("mrmr", 0.10)):
        both = small[small["selector"].isin(["greedy", rival])]
        compared = compare_to(both, Comparison(rival, "corrected_t"))
        compared = compared[compared["selector"] == "greedy"]
        for name, part in (
            ("six paper data sets", compared[compared["dataset"].isin(PAPER)]),
            ("all nine", compared),
        ):
            n_worse = int((part["mark"] == "worse").sum())
            n_better = int((part["mark"] == "better").sum())
            lines.append(
                {
                    "against": rival,
                    "data sets": name,
                    "cells": len(part),
                    "better": n_better,
                    "worse": n_worse,
                    "worse, share": f"{n_worse / len(part):.1%}",
                    "bar": f"<= {bar:.0%}",
                }
            )
    return (
        "## Cells (data set x classifier x size <= 50) by the corrected resampled t-test\n\n"
        + markdown(pd.DataFrame(lines))
    )


def summaries(filters, rows):
    for reference in ("mdfs", "mrmr", "greedy"):
        table = win_draw_loss_table(filters, Comparison(reference, "corrected_t"))
        yield f"## Win/draw/loss of {reference}, corrected t-test\n\n{table.to_markdown()}"
    display = CriticalDifferenceDisplay.from_run(filters, problems="dataset")
    display.figure_.savefig(HERE / "critical_difference.png", dpi=120)
    yield (
        "## Average ranks over the data sets\n\n![ranks](critical_difference.png)\n\n"
        + ranks_table(filters, Comparison("greedy")).to_markdown()
    )
    stability = selector_stability(filters)
    wide = (
        stability[stability["size"].isin([10, 50, 100])]
        .groupby(["selector", "size"], sort=False)["stability"]
        .mean()
        .unstack()
    )
    display = StabilityDisplay.from_run(filters)
    display.figure_.savefig(HERE / "stability.png", dpi=90)
    yield (
        "## Stability over the folds (Nogueira), mean over the data sets\n\n"
        + markdown(wide.reset_index(), 3)
        + "\n\n![stability](stability.png)"
    )
    yield f"## Seconds of selecting 100 features\n\n{runtime_beside(filters).to_markdown()}"
    shown = ["greedy", "mdfs", "mdfs+", "mrmr", "jmi", "maucd", "su"]
    for dataset in PAPER:
        part = filters[filters["selector"].isin(shown)]
        display = CurvesDisplay.from_run(part, datasets=dataset)
        display.figure_.savefig(HERE / f"curves_{dataset}.png", dpi=80)
    yield "## Curves\n\n" + "\n".join(f"![{name}](curves_{name}.png)" for name in PAPER)


def auto(filters):
    """Size that "auto" takes, and what it costs on the curves of the run."""
    lines = []
    for dataset in filters["dataset"].unique():
        data = load_dataset(dataset)
        for method in AUTO:
            selector = make_selector(method)
            if "random_state" in selector.get_params():
                selector.set_params(random_state=0)
            curve = select_k(selector, data.X, data.y, n_jobs=-1)
            part = filters[(filters["dataset"] == dataset) & (filters["selector"] == method)]
            means = part.groupby("size")["mauc"].mean()
            bayes = part[part["classifier"] == "nb"].groupby("size")["mauc"].mean()
            bayes_loss = bayes.max() - float(np.interp(curve.size, bayes.index, bayes))
            best = int(means.idxmax())
            at = float(np.interp(curve.size, means.index, means))
            flat = int(means.index[means >= means.max() - FLAT][0])
            lines.append(
                {
                    "data set": dataset,
                    "selector": method,
                    "auto": curve.size,
                    "best of the curve": best,
                    "MAUC at auto": at,
                    "MAUC at best": means.max(),
                    "loss": means.max() - at,
                    "within 0.005": "yes" if means.max() - at <= FLAT else "no",
                    "smallest within 0.005": flat,
                    "loss, Naive Bayes alone": bayes_loss,
                    "within, Naive Bayes": "yes" if bayes_loss <= FLAT else "no",
                    "at most half": "yes" if 2 * curve.size <= best else "no",
                }
            )
    return (
        '## The number of features: `n_features_to_select="auto"`\n\n'
        "One standard error rule on fivefold Naive Bayes inside the data set, against the curve of "
        "`filters.toml` (mean of Naive Bayes, C4.5 and 1NN; sizes below 10 count as 10).\n\n"
        + markdown(pd.DataFrame(lines))
    )


if __name__ == "__main__":
    main()
