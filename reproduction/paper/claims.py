"""The paper's claims in numbers: rows, published cells and siren studies in, Markdown tables out.

claims_text.md has the prose; its lines `<!-- name -->` are where `fill` puts the table of that
name.
"""

import re

import numpy as np
import pandas as pd

from mauc.report import markdown_table
from mauc.stats import Comparison, compare_to, holm_test, problem_scores, shown_name, win_draw_loss
from reproduction.published import as_printed, load_published, load_published_runtime

CLASSIFIERS = ("nb", "c45", "1nn", "svm")
ALL = "all"
HEADS = {"selector": "selector", "dataset": "data set"}
WILCOXON = Comparison("mdfs")
CORRECTED = Comparison("mdfs", test="corrected_t")


def make_tables(rows, studies, seconds):
    """Return every table by name.

    Parameters
    ----------
    rows : DataFrame
        Measurements of all classifiers.
    studies : dict of str to SirenStudy
        Of Indiana, by relevance.
    seconds : DataFrame
        Seconds of the selectors on a quiet machine: columns selector, dataset, seconds.
    """
    published = load_published()
    cell = ["dataset", "classifier", "size", "selector"]
    here = published.merge(rows[cell].drop_duplicates(), on=cell)
    tests = {
        "paper": published_marks(here),
        "Wilcoxon": compare_to(rows, WILCOXON),
        "corrected t": compare_to(rows, CORRECTED),
    }
    return {
        "figure 4 as printed": count_table({"paper": published_marks(published)}, "selector"),
        "figure 4": count_table(tests, "selector"),
        "by data set": count_table(tests, "dataset"),
        "ranks": rank_table(rows),
        "best": best_table(rows, here),
        "runtimes": runtime_table(seconds),
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


def count_table(tests, by):
    """Return win/draw/loss of MDFS by selector or data set, and classifier; one line per source.

    Parameters
    ----------
    tests : dict of str to DataFrame
        Comparisons with MDFS by source, as `compare_to` gives them.
    by : {"selector", "dataset"}
    """
    rows = []
    first = next(iter(tests.values()))
    present = present_classifiers(first)
    for name in [*dict.fromkeys(first[by]), *([ALL] if by == "selector" else [])]:
        label = shown_name(by, name) if name != ALL else ALL
        for source, compared in tests.items():
            part = compared if name == ALL else compared[compared[by] == name]
            shown = [counts(part[part["classifier"] == one]) for one in present]
            rows.append([label, *([source] if len(tests) > 1 else []), *shown, counts(part)])
            label = ""
    heads = [HEADS[by], *(["marks of"] if len(tests) > 1 else [])]
    heads += [*(shown_name("classifier", one) for one in present), ALL]
    return markdown_table(heads, rows, 1 + (len(tests) > 1))


def present_classifiers(rows):
    """Return the classifiers that rows have, in the order of the paper."""
    return [name for name in CLASSIFIERS if name in set(rows["classifier"])]


def counts(compared):
    """Return "win/draw/loss" of MDFS over some comparisons."""
    if compared.empty:
        return "-"
    found = win_draw_loss(compared.assign(selector=ALL), by=()).iloc[0]
    return f"{found['win']}/{found['draw']}/{found['loss']}"


def rank_table(rows):
    """Return mean ranks over the data sets, with Holm's p against MDFS, by classifier."""
    names = list(dict.fromkeys(rows["selector"]))
    present = present_classifiers(rows)
    lines = {name: [shown_name("selector", name)] for name in names}
    for classifier in [*present, ALL]:
        part = rows if classifier == ALL else rows[rows["classifier"] == classifier]
        scores = problem_scores(part)[names]
        ranks = scores.rank(axis=1, ascending=False).mean()
        p_values = {}
        if len(scores) > 1:
            found = holm_test(scores.to_numpy(), names, control="mdfs")
            p_values = dict(zip(found["method"], found["p_holm"], strict=True))
        for name in names:
            p = f" ({shown_p(p_values[name])})" if name in p_values else ""
            lines[name].append(f"{ranks[name]:.2f}{p}")
    heads = ["selector", *(shown_name("classifier", one) for one in present), ALL]
    return markdown_table(heads, lines.values())


def shown_p(p):
    return f"p {p:.3f}" if p >= 0.001 else "p < 0.001"


def best_table(rows, published):
    """Return how often MDFS has the largest value of a configuration: paper | run.

    Values that print alike are all the largest, as in the paper.
    """
    key = ["dataset", "classifier", "size"]
    measured = rows[rows["status"] == "ok"].groupby([*key, "selector"], sort=False)["mauc"]
    wide = as_printed(measured.mean()).unstack("selector")
    is_best = wide["mdfs"] == wide.max(axis=1)
    printed = published[published["selector"] == "mdfs"].set_index(key)["is_best"]
    both = pd.DataFrame({"paper": printed, "run": is_best}).dropna().astype(int).reset_index()
    present = present_classifiers(both)
    lines = []
    for dataset in [*dict.fromkeys(rows["dataset"]), ALL]:
        part = both if dataset == ALL else both[both["dataset"] == dataset]
        parts = [*(part[part["classifier"] == name] for name in present), part]
        shown = [rf"{one['paper'].sum()} \| {one['run'].sum()} of {len(one)}" for one in parts]
        lines.append([shown_name("dataset", dataset) if dataset != ALL else ALL, *shown])
    heads = ["data set", *(shown_name("classifier", one) for one in present), ALL]
    return markdown_table(heads, lines)


def runtime_table(seconds):
    """Return the seconds of every selector as multiples of those of MDFS: paper | here."""
    paper, here = (
        frame.pivot(index="selector", columns="dataset", values="seconds")
        for frame in (load_published_runtime(), seconds)
    )
    datasets = [name for name in paper.columns if name in here.columns]
    lines = []
    for selector in dict.fromkeys(seconds["selector"]):
        multiples = [frame.loc[selector] / frame.loc["mdfs"] for frame in (paper, here)]
        shown = [rf"{multiples[0][one]:.2f} \| {multiples[1][one]:.2f}" for one in datasets]
        lines.append([shown_name("selector", selector), *shown])
    return markdown_table(["selector", *(shown_name("dataset", one) for one in datasets)], lines)


def siren_table(studies):
    """Return how far the best features of the whole problem are from the best of the pairs."""
    lines = []
    for relevance, study in studies.items():
        neglect = study.neglect()
        ranks = pd.Series(study.auc).rank(), pd.Series(neglect).rank()
        hard, easy = (float(study.weights(third) @ neglect) for third in ("hard", "easy"))
        lines.append(
            [
                relevance,
                f"{hard:.3f}",
                f"{easy:.3f}",
                f"{study.index:.3f}",
                f"{np.corrcoef(*ranks)[0, 1]:+.2f}",
            ]
        )
    heads = [
        "relevance",
        "neglect, hardest third",
        "easiest third",
        "siren index",
        "rank correlation of AUC and neglect",
    ]
    return markdown_table(heads, lines)


def pair_table(studies, first="Soybean-mintill", second="Soybean-clean"):
    """Return where the best 100 features stand on the 34th pair of the paper's Figures 2 and 3."""
    lines = []
    for relevance, study in studies.items():
        names = [f"{first} vs {second}", f"{second} vs {first}"]
        pair = next(at for at, name in enumerate(study.names) if name in names)
        ranks = study.ranks[study.chosen, pair]
        lines.append(
            [
                relevance,
                f"{study.auc[pair]:.3f}",
                f"{ranks.mean():.0f}",
                f"{int((ranks > len(study.chosen)).sum())} of {len(ranks)}",
            ]
        )
    heads = [
        "relevance",
        "AUC of Naive Bayes",
        "mean rank of the best 100",
        "of them not in the pair's own best 100",
    ]
    return markdown_table(heads, lines)
