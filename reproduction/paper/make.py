"""Run the plans ten_times and svm and write what they gave: `make reproduction`.

    python -m reproduction.paper.make               # run what is missing, write tables and pages
    python -m reproduction.paper.make --page-only   # write them from what is there

What was measured is kept in measured/: a run folder that is not there is made of it, and runs
resume. The data sets are looked for in the folder MAUC_DATA; Figures 1-3 are computed each time.
"""

import argparse
import datetime
import math
import os
import shutil
from itertools import combinations
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from mauc.classifiers import NormalNaiveBayes
from mauc.datasets import load_dataset
from mauc.experiments import RunFolder, read_plan, run_plan
from mauc.metrics import mauc_score
from mauc.report import markdown_table, run_tables, write_tables
from mauc.selectors import make_selector
from mauc.stats import shown_name
from reproduction.common import versions
from reproduction.paper import agreement, claims
from reproduction.paper.measured import keep_run, load_part, restore_run
from reproduction.published import (
    compare_published,
    load_published_runtime,
    runtime_beside,
    write_published,
)
from reproduction.research.siren import draw, siren_study

HERE = Path(__file__).resolve().parent
FOLDER_OF_PLANS = HERE.parent / "plans"
SECONDS = HERE.parent / "runtime.csv"  # of make bench-runtime
PLANS = ("ten_times", "svm")
SIREN_RELEVANCES = ("chi2", "su")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("runs/reproduction"))
    parser.add_argument("--page-only", action="store_true", help="Run nothing.")
    options = parser.parse_args()
    matplotlib.use("agg")
    for name in PLANS:
        run, kept = options.runs / name, HERE / "measured" / name
        if not run.exists() and (kept / "plan.json").is_file():
            restore_run(kept, run)
        if not options.page_only:
            print(run_plan(FOLDER_OF_PLANS / f"{name}.toml", run))
        keep_run(run, kept)
    # A run may lack cells, which the page says. What may fail comes before a file is replaced.
    studies = study_sirens()
    runs = {name: load_part(options.runs / name) for name in PLANS}
    rows = pd.concat(runs.values(), ignore_index=True)
    text = (HERE / "claims_text.md").read_text(encoding="utf-8")
    filled = claims.fill(text, claims.make_tables(rows, studies, pd.read_csv(SECONDS)))
    page = readme(options.runs, runs, rows, studies)
    shutil.rmtree(HERE / "tables", ignore_errors=True)
    tables = {**run_tables(rows), "runtime": runtime_beside(rows)}
    write_tables(rows, HERE / "tables", tables=tables, formats=("md", "tex"))
    write_published(rows, HERE / "tables", formats=("md", "csv"), dpi=100)
    for relevance, study in studies.items():
        draw(study).savefig(HERE / f"siren_indiana_{relevance}.png", dpi=100)
    (HERE / "claims.md").write_text(filled, encoding="utf-8")
    (HERE / "README.md").write_text(page, encoding="utf-8")


def study_sirens():
    """Study the siren pitfall on Indiana, with the selectors of the plans."""
    data = load_dataset("indiana")
    selectors = {}
    for spec in read_plan(FOLDER_OF_PLANS / f"{PLANS[0]}.toml").selectors:
        selectors[spec.name] = make_selector(spec.method, **spec.options)
        if "random_state" in selectors[spec.name].get_params():
            selectors[spec.name].set_params(random_state=0)
    auc = pair_auc_of_naive_bayes(data.X, data.y)
    studies = {}
    for relevance in SIREN_RELEVANCES:
        studies[relevance] = siren_study(
            data.X, data.y, auc, relevance=relevance, selectors=selectors, judge="Naive Bayes"
        )
    return studies


def pair_auc_of_naive_bayes(X, y, n_folds=10):
    """Return the AUC of Naive Bayes on the samples of each class pair alone (Figure 1)."""
    found = []
    for pair in combinations(np.unique(y), 2):
        rows = np.flatnonzero(np.isin(y, pair))
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=0).split(rows, y[rows])
        values = []
        for train, test in folds:
            model = NormalNaiveBayes().fit(X[rows[train]], y[rows[train]])
            values.append(mauc_score(y[rows[test]], model.predict_proba(X[rows[test]])))
        found.append(np.mean(values))
    return np.array(found)


def readme(runs, parts, rows, studies):
    """Return the page: what agrees at a glance, what does not and why, then the tables."""
    compared = compare_published(rows)
    ten, svm = (compare_published(part) for part in parts.values())
    bars = ", ".join(
        f"{bar:.3f} for {shown_name('classifier', name)}" for name, bar in agreement.BARS.items()
    )
    sections = [
        head(parts),
        "## At a glance\n\nMean absolute difference to the published MAUC over selectors and "
        "sizes, and the share of the paper's marks against MDFS (Wilcoxon at 5 %) that are found "
        "here too. Naive Bayes, C4.5 and 1NN ten times tenfold as in the paper; the SVM once "
        "tenfold, so that its marks rest on 10 values where the paper has 100. Without FSDD on "
        "MNIST, see below.\n\n" + agreement.glance_table(compared),
        (HERE / "findings.md").read_text(encoding="utf-8").strip(),
        "## By selector\n\nMean absolute difference over the sizes. Bars: "
        f"{bars}; {agreement.RELIEFF_BAR:.3f} for ReliefF. What exceeds its bar is bold. "
        f"{agreement.bars_line(compared)} FSDD on MNIST does not count.\n\n"
        + agreement.selector_table(compared),
        "## How much is chance\n\nMean absolute difference of Naive Bayes, C4.5 and 1NN at a size, "
        "and in brackets what two runs on the same data would differ by in the mean, from the "
        "standard error over the ten repeats.\n\n"
        + agreement.chance_table(ten, parts["ten_times"])
        + "\n\n"
        + agreement.chance_table(ten, parts["ten_times"], by="dataset"),
        "## Marks against MDFS\n\nNaive Bayes, C4.5 and 1NN, ten times tenfold:\n\n"
        + f"{agreement.marks_table(ten)}\n\n{agreement.lost_marks_line(ten)}"
        + "\n\nThe SVM, once tenfold:\n\n"
        + f"{agreement.marks_table(svm)}\n\n{agreement.lost_marks_line(svm)}",
        "## The SVM\n\nC and gamma by data set and size, and their MAUC threefold on the rows they "
        f"were tuned on:\n\n{tuning_table(read_tuned(runs / 'svm'))}\n\nReproduced - "
        f"published by size, all data sets and selectors:\n\n{agreement.size_table(svm)}",
        "## Table 10: seconds of the selectors\n\nHere | paper. One fit on all samples with one "
        "thread on a quiet machine ([runtime.md](../runtime.md) names it); "
        "[tables/runtime.md](tables/runtime.md) has the seconds of the runs above.\n\n"
        + seconds_table(pd.read_csv(SECONDS)),
        "## Figures 1-3: the siren pitfall on Indiana\n\nFigure 1 is the upper part of each "
        "picture, Figures 2 (CHI) and 3 (SU) the lower part.\n\n" + siren_section(studies),
        "## Figure 4: win, draw and loss of MDFS\n\n"
        "![win, draw and loss of MDFS by classifier](tables/win_draw_loss.png)",
        "## Where the time goes\n\nSeconds inside the workers, all folds of a data set: selecting, "
        "fitting and predicting, computing MAUC. Ten times tenfold, all nine selectors:\n\n"
        + time_table(parts["ten_times"])
        + "\n\nThe SVM, once tenfold:\n\n"
        + time_table(parts["svm"]),
    ]
    return "\n\n".join(sections) + "\n"


def head(parts):
    counts = []
    for name, part in parts.items():
        n_done = len(part[["dataset", "repeat", "fold"]].drop_duplicates())
        counts.append((name, n_done, len(read_plan(FOLDER_OF_PLANS / f"{name}.toml").cells())))
    missing = [f"`{name}.toml` {done} of {whole}" for name, done, whole in counts if done < whole]
    incomplete = f"\n\n**Incomplete**: folds of {', '.join(missing)}." if missing else ""
    # Of what is kept: a run that had nothing left to do has begun later, and measured nothing.
    kept = [RunFolder(HERE / "measured" / name).provenance() for name in parts]
    starts = [start for provenance in kept for start in provenance["starts"]]
    dates = ", ".join(sorted({start["date"][:10] for start in starts}))
    n_rows = sum(map(len, parts.values()))
    n_failed = sum(int((part["status"] != "ok").sum()) for part in parts.values())
    return f"""# The paper, reproduced

Written by `make reproduction` on {datetime.date.today()} with {versions()}; {os.cpu_count()} cores.
Measured on {dates}: {n_rows} values, {n_failed} failed.{incomplete}

- [claims.md](claims.md): what the paper says, claim by claim, under its test and a corrected one.
- [tables/](tables): Tables 2-5, 7 and 8 in the paper's layout (`table_*.md`, LaTeX beside);
  in [published.md](tables/published.md) with published | reproduced | difference of every cell.
- [fsdd_mnist.md](fsdd_mnist.md): where the published values of FSDD on MNIST come from.
- `ten_times.toml` and `svm.toml` in [plans/](../plans) are the plans, [measured/](measured) has
  every measured value, a Parquet file per data set (`pandas.read_parquet`); `make reproduction`
  makes run folders of them.
- Tables 6 and 9 (Washington, Thyroid) are one command each for whoever has the data:
  [reproduction](../README.md#washington-and-thyroid)."""


def read_tuned(run):
    """Return what was tuned in a run, by data set and size."""
    store = RunFolder(run)
    names = [spec["name"] for spec in store.read_plan()["datasets"]]
    tuned = {name: store.read_tuned(name) for name in names}
    return {name: found for name, found in tuned.items() if found}


def siren_section(studies):
    parts = []
    for relevance, study in studies.items():
        parts += [f"![{relevance}](siren_indiana_{relevance}.png)", f"```\n{study}\n```"]
    return "\n\n".join(parts)


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
        [
            shown_name("selector", one),
            *(rf"{here[one, name]:.3f} \| {paper[one, name]:.3f}" for name in datasets),
        ]
        for one in here.index.unique("selector")
    ]
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
            if size in found
            else "-"
            for size in sizes
        ]
        lines.append([shown_name("dataset", name), *shown])
    return markdown_table(["data set", *map(str, sizes)], lines)


def power(value):
    """Return a power of two as the paper writes it."""
    return f"2^{math.log2(value):g}"


if __name__ == "__main__":
    main()
