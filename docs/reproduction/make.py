"""Run the plans of this folder and write what they gave: `make reproduction`.

    python docs/reproduction/make.py               # run what is missing, write tables and pages
    python docs/reproduction/make.py --page-only   # write them from what is there

What was measured is kept in measured/: a run folder that is not there is made of it, and runs
resume. The data sets are looked for in the folder MAUC_DATA; Figures 1-3 are computed each time.
"""

import argparse
import datetime
import os
import shutil
import warnings
from pathlib import Path

import matplotlib
import pandas as pd

import agreement
import claims
import run_costs
from mauc.datasets import load_dataset
from mauc.difficulty import siren_study
from mauc.exceptions import IncompleteRunWarning
from mauc.experiments import load_run, read_plan, run_plan
from mauc.experiments.plan import build_selector
from mauc.experiments.rows import versions
from mauc.experiments.store import RunFolder
from mauc.plotting import SirenDisplay
from mauc.report import compare_published, write_published, write_tables
from mauc.stats.rows import shown_name
from measured import keep_run, restore_run

HERE = Path(__file__).resolve().parent
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
            print(run_plan(HERE / f"{name}.toml", run))
        keep_run(run, kept)
    # All that may fail comes before the first file is replaced.
    studies = study_sirens()
    runs = {name: load_part(options.runs / name) for name in PLANS}
    rows = pd.concat(runs.values(), ignore_index=True)
    text = (HERE / "claims_text.md").read_text(encoding="utf-8")
    filled = claims.fill(text, claims.make_tables(rows, studies, pd.read_csv(SECONDS)))
    page = readme(options.runs, runs, rows, studies)
    shutil.rmtree(HERE / "tables", ignore_errors=True)
    write_tables(rows, HERE / "tables", formats=("md", "tex"))
    write_published(rows, HERE / "tables", formats=("md", "csv"), dpi=100)
    for relevance, study in studies.items():
        display = SirenDisplay.from_study(study).plot()
        display.figure_.savefig(HERE / f"siren_indiana_{relevance}.png", dpi=100)
    (HERE / "claims.md").write_text(filled, encoding="utf-8")
    (HERE / "README.md").write_text(page, encoding="utf-8")


def load_part(run):
    """Return the rows of a run that may lack cells: the page says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteRunWarning)
        return load_run(run)


def study_sirens():
    """Study the siren pitfall on Indiana, with the selectors of the plans."""
    data = load_dataset("indiana")
    selectors = {}
    for spec in read_plan(HERE / f"{PLANS[0]}.toml").selectors:
        selectors[spec.name] = build_selector(spec)
        if "random_state" in selectors[spec.name].get_params():
            selectors[spec.name].set_params(random_state=0)
    return {
        relevance: siren_study(
            data.X, data.y, relevance=relevance, n_features=100, n_folds=10, selectors=selectors,
            n_jobs=-1,
        )
        for relevance in SIREN_RELEVANCES
    }  # fmt: skip


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
        f"were tuned on:\n\n{run_costs.tuning_table(read_tuned(runs / 'svm'))}\n\nReproduced - "
        f"published by size, all data sets and selectors:\n\n{agreement.size_table(svm)}",
        "## Table 10: seconds of the selectors\n\nHere | paper. One fit on all samples with one "
        "thread on a quiet machine ([docs/runtime.md](../runtime.md) names it); "
        "[tables/runtime.md](tables/runtime.md) has the seconds of the runs above.\n\n"
        + run_costs.seconds_table(pd.read_csv(SECONDS)),
        "## Figures 1-3: the siren pitfall on Indiana\n\nFigure 1 is the upper part of each "
        "picture, Figures 2 (CHI) and 3 (SU) the lower part.\n\n" + siren_section(studies),
        "## Figure 4: win, draw and loss of MDFS\n\n"
        "![win, draw and loss of MDFS by classifier](tables/win_draw_loss.png)",
        "## Where the time goes\n\nSeconds inside the workers, all folds of a data set: selecting, "
        "fitting and predicting, computing MAUC. Ten times tenfold, all nine selectors:\n\n"
        + run_costs.time_table(parts["ten_times"])
        + "\n\nThe SVM, once tenfold:\n\n"
        + run_costs.time_table(parts["svm"]),
    ]
    return "\n\n".join(sections) + "\n"


def head(parts):
    counts = []
    for name, part in parts.items():
        n_done = len(part[["dataset", "repeat", "fold"]].drop_duplicates())
        counts.append((name, n_done, len(read_plan(HERE / f"{name}.toml").cells())))
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
- `ten_times.toml` and `svm.toml` are the plans, [measured/](measured) has every measured value, a
  Parquet file per data set (`pandas.read_parquet`); `make reproduction` makes run folders of them.
- Tables 6 and 9 (Washington, Thyroid) are one command each for whoever has the data:
  [papers/wang2011](../../papers/wang2011/README.md)."""


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


if __name__ == "__main__":
    main()
