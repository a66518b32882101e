"""The paper's claims in numbers: rows, published cells and siren studies in, Markdown tables out.

claims.md has the prose; its lines `<!-- name -->` are where `fill` puts the table of that name.
"""

import re

import numpy as np
import pandas as pd

from mauc.report import load_published, load_published_runtime
from mauc.report.as_markdown import markdown_table
from mauc.stats import Comparison, compare_to, holm_test, problem_scores, win_draw_loss
from mauc.stats.rows import shown_name

CLASSIFIERS = ("nb", "c45", "1nn", "svm")
ALL = "all"
WILCOXON = Comparison("mdfs")
CORRECTED = Comparison("mdfs", test="corrected_t")


def make_tables(rows, studies):
    """Return every table by name.

    Parameters
    ----------
    rows : DataFrame
        Measurements of all classifiers.
    studies : dict of str to SirenStudy
        Of Indiana, by relevance.
    """
    published = load_published()
    here = published[published["dataset"].isin(rows["dataset"].unique())]
    tests = {
        "paper": published_marks(here),
        "Wilcoxon": compare_to(rows, WILCOXON),
        "corrected t": compare_to(rows, CORRECTED),
    }
    return {
        "figure 4 as printed": count_table({"paper": published_marks(published)}),
        "figure 4": count_table(tests),
        "by data set": dataset_table(tests),
        "ranks": rank_table(rows),
        "best": best_table(rows, here),
        "runtimes": runtime_table(rows),
        "siren": siren_table(studies),
        "siren pair": pair_table(studies),
    }


def fill(text, tables):
    """Put tables in the places of a text that name them; every table must have its place."""
    wanted = re.findall(r"^<!-- (.*) -->$", text, re.MULTILINE)
    if sorted(wanted) != sorted(tables):
        raise ValueError(f"the text must name {sorted(tables)} once each, got {sorted(wanted)}.")
    return re.sub(r"^<!-- (.*) -->$", lambda found: tables[found[1]], text, flags=re.MULTILINE)


def published_marks(published):
    """Return the paper's marks in the columns of `compare_to` that counting needs."""
    marked = published[published["mark"] != ""]
    return marked[["dataset", "classifier", "size", "selector", "mark"]].assign(p_value=0.0)


def count_table(tests):
    """Return win/draw/loss of MDFS by selector and classifier, one line per source."""
    rows = []
    first = next(iter(tests.values()))
    present = [name for name in CLASSIFIERS if name in set(first["classifier"])]
    for selector in [*dict.fromkeys(first["selector"]), ALL]:
        name = shown_name("selector", selector) if selector != ALL else ALL
        for source, compared in tests.items():
            part = compared if selector == ALL else compared[compared["selector"] == selector]
            shown = [counts(part[part["classifier"] == one]) for one in present]
            rows.append([name, *([source] if len(tests) > 1 else []), *shown, counts(part)])
            name = ""
    heads = ["selector", *(["marks of"] if len(tests) > 1 else [])]
    heads += [*(shown_name("classifier", one) for one in present), ALL]
    return markdown_table(heads, rows, 1 + (len(tests) > 1))


def counts(compared):
    """Return "win/draw/loss" of MDFS over some comparisons."""
    if compared.empty:
        return "-"
    found = win_draw_loss(compared.assign(selector=ALL), by=()).iloc[0]
    return f"{found['win']}/{found['draw']}/{found['loss']}"


def dataset_table(tests):
    """Return win/draw/loss of MDFS against all selectors by data set and classifier."""
    rows = []
    first = next(iter(tests.values()))
    present = [name for name in CLASSIFIERS if name in set(first["classifier"])]
    for dataset in dict.fromkeys(first["dataset"]):
        name = shown_name("dataset", dataset)
        for source, compared in tests.items():
            part = compared[compared["dataset"] == dataset]
            shown = [counts(part[part["classifier"] == one]) for one in present]
            rows.append([name, source, *shown, counts(part)])
            name = ""
    heads = ["data set", "marks of", *(shown_name("classifier", one) for one in present), ALL]
    return markdown_table(heads, rows, 2)


def rank_table(rows):
    """Return mean ranks over the data sets, with Holm's p against MDFS, by classifier."""
    names = list(dict.fromkeys(rows["selector"]))
    columns = {}
    present = [name for name in CLASSIFIERS if name in set(rows["classifier"])]
    for classifier in [*present, ALL]:
        part = rows if classifier == ALL else rows[rows["classifier"] == classifier]
        scores = problem_scores(part)[names]
        found = holm_test(scores.to_numpy(), names, control="mdfs").set_index("method")
        ranks = scores.rank(axis=1, ascending=False).mean()
        columns[classifier] = [
            f"{ranks[name]:.2f}"
            + ("" if name == "mdfs" else f" ({shown_p(found.at[name, 'p_holm'])})")
            for name in names
        ]
    heads = ["selector", *(shown_name("classifier", one) for one in present), ALL]
    lines = [
        [shown_name("selector", name), *(columns[key][at] for key in columns)]
        for at, name in enumerate(names)
    ]
    return markdown_table(heads, lines)


def shown_p(p):
    return f"p {p:.3f}" if p >= 0.001 else "p < 0.001"


def best_table(rows, published):
    """Return how often MDFS has the largest value of a configuration: paper | run.

    Values that print alike are all the largest, as in the paper.
    """
    means = rows[rows["status"] == "ok"].groupby(
        ["dataset", "classifier", "size", "selector"], sort=False
    )["mauc"].mean().map("{:.3f}".format).astype(float)  # fmt: skip
    wide = means.unstack("selector")
    is_best = wide["mdfs"] == wide.max(axis=1)
    printed = published[published["selector"] == "mdfs"]
    printed = printed.set_index(["dataset", "classifier", "size"])["is_best"].loc[is_best.index]
    both = pd.DataFrame({"paper": printed, "run": is_best}).reset_index()
    present = [name for name in CLASSIFIERS if name in set(both["classifier"])]
    lines = []
    for dataset in [*dict.fromkeys(rows["dataset"]), ALL]:
        part = both if dataset == ALL else both[both["dataset"] == dataset]
        shown = [
            f"{one['paper'].sum()} | {one['run'].sum()} of {len(one)}".replace("|", "\\|")
            for one in (*(part[part["classifier"] == name] for name in present), part)
        ]
        lines.append([shown_name("dataset", dataset) if dataset != ALL else ALL, *shown])
    heads = ["data set", *(shown_name("classifier", one) for one in present), ALL]
    return markdown_table(heads, lines)


def runtime_table(rows):
    """Return the seconds of every selector as multiples of those of MDFS: paper | run."""
    paper = load_published_runtime().pivot(index="selector", columns="dataset", values="seconds")
    chosen = rows.drop_duplicates(["dataset", "repeat", "fold", "selector"])
    run = chosen.groupby(["selector", "dataset"], sort=False)["select_seconds"].median()
    run = run.unstack("dataset")
    datasets = list(dict.fromkeys(rows["dataset"]))
    lines = []
    for name in run.index:
        shown = [
            f"{paper.at[name, one] / paper.at['mdfs', one]:.2f} \\| "
            f"{run.at[name, one] / run.at['mdfs', one]:.2f}"
            for one in datasets
        ]
        lines.append([shown_name("selector", name), *shown])
    return markdown_table(["selector", *(shown_name("dataset", one) for one in datasets)], lines)


def siren_table(studies):
    """Return how far the best features of the whole problem are from the best of the pairs."""
    lines = []
    for relevance, study in studies.items():
        neglect = study.neglect()
        ranks = pd.Series(study.auc).rank(), pd.Series(neglect).rank()
        hard, easy = (float(study.weights(third) @ neglect) for third in ("hard", "easy"))
        lines.append(
            [relevance, f"{hard:.3f}", f"{easy:.3f}", f"{study.index:.3f}",
             f"{np.corrcoef(*ranks)[0, 1]:+.2f}"]
        )  # fmt: skip
    heads = ["relevance", "neglect, hardest third", "easiest third", "siren index",
             "rank correlation of AUC and neglect"]  # fmt: skip
    return markdown_table(heads, lines)


def pair_table(studies, first="Soybean-mintill", second="Soybean-clean"):
    """Return where the best 100 features stand on the 34th pair of the paper's Figures 2 and 3."""
    lines = []
    for relevance, study in studies.items():
        names = [f"{first} vs {second}", f"{second} vs {first}"]
        pair = next(at for at, name in enumerate(study.names) if name in names)
        ranks = study.ranks[study.chosen, pair]
        lines.append(
            [relevance, f"{study.auc[pair]:.3f}", f"{ranks.mean():.0f}",
             f"{int((ranks > len(study.chosen)).sum())} of {len(ranks)}"]
        )  # fmt: skip
    heads = ["relevance", "AUC of Naive Bayes", "mean rank of the best 100",
             "of them not in the pair's own best 100"]  # fmt: skip
    return markdown_table(heads, lines)
