"""Run the plans of this folder and write what they gave: `make reproduction`.

Runs go to runs/reproduction and are not run again once they are there.
"""

import argparse
import datetime
import os
import shutil
from pathlib import Path

import matplotlib

from mauc.datasets import load_dataset
from mauc.difficulty import siren_study
from mauc.experiments import load_run, run_plan
from mauc.experiments.rows import versions
from mauc.plotting import SirenDisplay
from mauc.report import compare_published, write_published, write_tables
from mauc.report.as_markdown import markdown_table

HERE = Path(__file__).parent
PLANS = ("once", "ten_times", "svm")
VARIANTS = {"fsdd (constants first)": "fsdd"}
# What a reimplementation should not exceed: mean absolute difference over the sizes.
BARS = {"nb": 0.006, "c45": 0.008, "1nn": 0.008, "svm": 0.010}
RELIEFF_BAR = 0.015
SIREN_RELEVANCES = ("chi2", "su")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("runs/reproduction"))
    runs = parser.parse_args().runs
    matplotlib.use("agg")
    for name in PLANS:
        print(run_plan(HERE / f"{name}.toml", runs / name))
    rows = {name: load_run(runs / name) for name in PLANS}
    for name, frame in rows.items():
        folder = HERE / name
        shutil.rmtree(folder, ignore_errors=True)
        write_tables(frame, folder, formats=("md", "tex"))
        methods = VARIANTS if name == "once" else None
        write_published(frame, folder, methods=methods, formats=("md", "csv"), dpi=100)
    studies = draw_sirens()
    (HERE / "README.md").write_text(readme(rows, studies), encoding="utf-8")


def draw_sirens():
    data = load_dataset("indiana")
    studies = {}
    for relevance in SIREN_RELEVANCES:
        study = siren_study(
            data.X, data.y, relevance=relevance, n_features=100, n_folds=10,
            selectors=["mdfs", "maucd", "mrmr", "fsdd", "schi", "ssu", "chi", "su"], n_jobs=-1,
        )  # fmt: skip
        display = SirenDisplay.from_study(study).plot()
        display.figure_.savefig(HERE / f"siren_indiana_{relevance}.png", dpi=100)
        studies[relevance] = study
    return studies


def readme(rows, studies):
    differences = {name: difference_table(name, frame) for name, frame in rows.items()}
    ten = compare_published(rows["ten_times"])
    lines = [
        "# The paper, reproduced",
        "",
        f"Written by `make reproduction` on {datetime.date.today()} with {versions()}; "
        f"{os.cpu_count()} cores. The plans are `once.toml`, `ten_times.toml` and `svm.toml`; "
        "the folders of these names hold every table in the paper's layout (Markdown, LaTeX), "
        "`published.md` and `published.csv` with published | reproduced | difference of every "
        "cell, and the figures.",
        "",
        (HERE / "findings.md").read_text(encoding="utf-8").strip(),
        "",
        "## Mean absolute difference to the published MAUC",
        "",
        "Over the sizes, for each data set, classifier and selector. Bars: "
        + ", ".join(f"{bar:.3f} for {name}" for name, bar in BARS.items())
        + f"; {RELIEFF_BAR:.3f} for ReliefF. What exceeds its bar is bold.",
        "",
    ]
    for name, table in differences.items():
        lines += [f"### {name}.toml", "", table, ""]
    lines += ["## The SVM by size: reproduced - published", "", size_table(rows["svm"]), ""]
    lines += ["## Marks against MDFS, ten times tenfold", "", marks_table(ten), ""]
    lines += ["## Where the time goes", "", time_table(rows["once"]), ""]
    lines += ["## The siren pitfall on Indiana (Figures 1-3)", ""]
    for relevance, study in studies.items():
        lines += [
            f"![{relevance}](siren_indiana_{relevance}.png)", "", "```", str(study), "```", "",
        ]  # fmt: skip
    return "\n".join(lines)


def difference_table(name, frame):
    comparison = compare_published(frame, methods=VARIANTS if name == "once" else None).frame()
    comparison = comparison[comparison["reproduced"].notna()]
    comparison["absolute"] = comparison["difference"].abs()
    wide = comparison.pivot_table(
        index=["dataset", "classifier"], columns="selector", values="absolute", sort=False
    )
    rows = []
    for (dataset, classifier), row in wide.iterrows():
        shown = []
        for selector, value in row.items():
            bar = RELIEFF_BAR if selector.lower() == "relieff" else BARS[classifier]
            shown.append(f"**{value:.4f}**" if value > bar else f"{value:.4f}")
        rows.append([dataset, classifier, *shown])
    return markdown_table(["data set", "classifier", *wide.columns], rows, 2)


def size_table(frame):
    cells = compare_published(frame).frame()
    groups = cells[cells["reproduced"].notna()].groupby("size")["difference"]
    rows = [
        [str(size), f"{part.mean():+.4f}", f"{part.abs().mean():.4f}", f"{part.min():+.4f}",
         f"{part.max():+.4f}"]
        for size, part in groups
    ]  # fmt: skip
    return markdown_table(["size", "mean", "mean absolute", "smallest", "largest"], rows)


def marks_table(comparison):
    frame = comparison.frame()
    frame = frame[
        frame["reproduced"].notna() & frame["published_mark"].isin(["worse", "better", "none"])
    ]
    heads = [
        "data set", "classifier", "cells with a mark in the paper", "same mark here",
        "opposite mark", "no mark here", "cells without a mark", "also none here",
    ]  # fmt: skip
    rows = []
    groups = [(key, part) for key, part in frame.groupby(["dataset", "classifier"], sort=False)]
    for (dataset, classifier), part in [*groups, (("all", "all"), frame)]:
        marked = part[part["published_mark"] != "none"]
        same = (marked["published_mark"] == marked["reproduced_mark"]).sum()
        none = (marked["reproduced_mark"] == "none").sum()
        rest = part[part["published_mark"] == "none"]
        agreed = (rest["reproduced_mark"] == "none").sum()
        share = same / len(marked) if len(marked) else float("nan")
        counts = len(marked) - same - none, none, len(rest), agreed
        rows.append(
            [dataset, classifier, str(len(marked)), f"{same} ({share:.0%})", *map(str, counts)]
        )
    return markdown_table(heads, rows, 2)


def time_table(frame):
    about = (
        "Seconds inside the workers of the run `once.toml`, all cells of a data set: selecting, "
        "fitting and predicting, computing MAUC. The machine did other work at the same time, so "
        "the shares tell more than the seconds; `benchmarks/bench_runner.py` times a run alone."
    )
    rows = []
    for dataset, part in frame.groupby("dataset", sort=False):
        selecting = part.drop_duplicates(["fold", "selector"])["select_seconds"].sum()
        fitting = part.groupby("classifier")["fit_seconds"].sum()
        scoring = part["score_seconds"].sum()
        total = selecting + fitting.sum() + scoring
        parts = [selecting, *(fitting[name] for name in ("nb", "c45", "1nn")), scoring]
        shown = [f"{value:.1f} ({value / total:.0%})" for value in parts]
        rows.append([dataset, *shown, f"{total:.1f}"])
    heads = ["data set", "selecting", "nb", "c45", "1nn", "MAUC", "all"]
    return f"{about}\n\n{markdown_table(heads, rows)}"


if __name__ == "__main__":
    main()
