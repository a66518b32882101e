"""How stable the rules of ConsensusSelector are over folds, and what they cost in MAUC.

Run as ``python -m reproduction.research.consensus [data sets]``. The tables are Markdown, as in
reproduction/beyond/consensus.md; the last ones are means over the data sets of the run, and of
several runs ``--means FILE...`` prints them from their output.

Two times 5-fold stratified cross-validation, data sets above 1,000 samples thinned to so many by
class. Stability (Nogueira, Sechidis and Brown) is that of the ten sets of one selector; MAUC is the
mean of Naive Bayes, 1NN and logistic regression on the test parts.
"""

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mauc import ConsensusSelector, GreedyMAUC, mauc_score
from mauc.classifiers import NearestNeighbor, NormalNaiveBayes
from mauc.selectors.consensus import Votes, rank_by_votes
from mauc.stats import stability
from reproduction.common import load_npz

NAMES = (
    "synthetic",
    "urban",
    "washington_sub_forest",
    "sorlie",
    "usps",
    "phoneme",
    "semeion",
    "thyroid_sub_tox171",
    "dermatology",
    "texture",
    "satimage",
    "vehicle",
    "libras",
    "arrhythmia",
    "mnist",
    "cnae9",
    "indiana",
    "thyroid_sub_srbct",
    "isolet",
    "su",
)
RULES = ("frequency", "rank", "loss")
SIZES = (10, 20, 50)
MAX_ROWS, N_REPEATS, N_FOLDS = 1000, 2, 5


def load(name):
    """Return at most MAX_ROWS samples of a data set, and class codes."""
    X, y = load_npz(name, np.float64, MAX_ROWS)
    return X, np.unique(y, return_inverse=True)[1]


def classifiers():
    """Return the unfitted classifiers."""
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=100))
    return NormalNaiveBayes(), NearestNeighbor(), linear


def measure(X, y, n_jobs):
    """Return sets by selector and size, MAUCs by selector and size, and seconds by selector."""
    sizes = [size for size in SIZES if size < X.shape[1]]
    chosen, maucs, seconds = {}, {}, {}
    for repeat in range(N_REPEATS):
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
        for train, test in folds.split(X, y):
            greedy = GreedyMAUC(sizes[-1], n_jobs=n_jobs)
            ranked = {}
            for name, selector in (
                ("GreedyMAUC", greedy),
                ("loss", ConsensusSelector(greedy, rule="loss", random_state=0, n_jobs=n_jobs)),
            ):
                start = time.process_time()
                ranked[name] = selector.fit(X[train], y[train]).ranking_
                seconds.setdefault(name, []).append(time.process_time() - start)
            for rule in ("frequency", "rank"):  # of the same halves
                ranked[rule] = rank_by_votes(Votes(selector.rankings_, X.shape[1]), rule)[0]
            for name, ranking in ranked.items():
                for size in sizes:  # rankings are nested
                    columns = np.sort(ranking[:size])
                    chosen.setdefault((name, size), []).append(columns)
                    maucs.setdefault((name, size), []).append(
                        np.mean(
                            [
                                mauc_score(
                                    y[test],
                                    model.fit(X[np.ix_(train, columns)], y[train]).predict_proba(
                                        X[np.ix_(test, columns)]
                                    ),
                                )
                                for model in classifiers()
                            ]
                        )
                    )
    return chosen, maucs, seconds


def print_table(head, rows):
    """Print a table as Markdown."""
    print(f"| {' | '.join(head)} |")
    print("|" + "---|" * len(head))
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
    print()


def main(names):
    """Print a row per data set and size as they are done, then the means."""
    warnings.simplefilter("ignore")
    n_jobs = int(os.environ.get("N_JOBS", "1"))
    selectors = ("GreedyMAUC", *RULES)
    differences = {name: [] for name in RULES}
    print("Stability over folds / MAUC, differences to GreedyMAUC\n")
    print(f"| data set | K | {' | '.join(selectors)} |\n|" + "---|" * (len(selectors) + 2))
    times = []
    for name in names:
        X, y = load(name)
        chosen, maucs, seconds = measure(X, y, n_jobs)
        shown = name.split("_sub_")[-1]
        for size in sorted({size for _, size in chosen}):
            stable = {s: stability(chosen[s, size], X.shape[1]).value for s in selectors}
            mauc = {s: float(np.mean(maucs[s, size])) for s in selectors}
            cells = [f"{stable['GreedyMAUC']:.3f} / {mauc['GreedyMAUC']:.4f}"]
            for rule in RULES:
                gained = stable[rule] - stable["GreedyMAUC"], mauc[rule] - mauc["GreedyMAUC"]
                differences[rule].append(gained)
                cells.append(f"{gained[0]:+.3f} / {gained[1]:+.4f}")
            print(f"| {shown} | {size} | {' | '.join(cells)} |", flush=True)
        times.append([shown, *(f"{np.median(found):.2f}" for found in seconds.values())])
    print()
    print_means(differences)
    print("Median processor seconds of a fit\n")
    print_table(["data set", "GreedyMAUC", "ConsensusSelector"], times)


def print_means(differences):
    """Print means over data sets and sizes of differences in stability and MAUC, by rule."""
    rows = []
    for rule, pairs in differences.items():
        stable, mauc = np.array(pairs).T
        rows.append(
            [
                rule,
                f"{stable.mean():+.3f}",
                f"{stable.min():+.3f}",
                f"{(stable > 0).sum()} of {len(stable)}",
                f"{mauc.mean():+.4f}",
                f"{np.median(mauc):+.4f}",
                f"{mauc.min():+.4f}",
                f"{(mauc >= -0.003).sum()} of {len(mauc)}",
            ]
        )
    print_table(
        [
            "rule",
            "stability, mean",
            "least",
            "higher",
            "MAUC, mean",
            "median",
            "least",
            ">= -0.003",
        ],
        rows,
    )


def read_differences(paths):
    """Return the differences that earlier runs printed."""
    differences = {rule: [] for rule in RULES}
    for path in paths:
        for line in Path(path).read_text().splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) == len(RULES) + 3 and cells[1].isdigit():
                for rule, cell in zip(RULES, cells[3:], strict=True):
                    differences[rule].append([float(part) for part in cell.split(" / ")])
    return differences


if __name__ == "__main__":
    if sys.argv[1:2] == ["--means"]:
        print_means(read_differences(sys.argv[2:]))
    else:
        main(sys.argv[1:] or NAMES)
