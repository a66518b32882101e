"""Importances of an estimator as the prior of GreedyMAUC, where samples are not few.

``python -m reproduction.research.prior run NAME`` ranks with a prior of `PRIORS` and judges; a file
per name in the folder MAUC_RUNS keeps what is done. ``run NAME two`` takes the tables of two
classes alone. ``... table BASE NAME [NAME ...]`` prints the differences to BASE. MAUC_SEED draws
other folds and other class pairs.

Tables: those of MAUC_DATA with 900 rows or more, so that 600 are left to learn from; of two
classes, a class and that nearest to it (``/2``), the classes of even against those of odd number
(``%2``), breast_cancer (380 rows to learn from) and tables of rules. At most 1,500 rows of each, 3
folds, K = 5, 10, 20, the judges of `reproduction.research.spread`.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression

from mauc import GreedyMAUC
from reproduction.beyond.rivals import LightGBM
from reproduction.research.spread import folds_of, judge, read

LARGE = (
    "indiana",
    "isolet",
    "mnist",
    "phoneme",
    "usps",
    "washington_sub_forest",
    "penbased",
    "satimage",
    "segment",
    "semeion",
    "texture",
    "cnae9",
)
PAIRS = tuple(
    f"{name}/2"
    for name in ("indiana", "mnist", "phoneme", "usps", "penbased", "satimage", "texture")
)
HALVES = tuple(
    f"{name}%2"
    for name in ("isolet", "mnist", "usps", "washington_sub_forest", "satimage", "texture")
)
RULES = ("rules 0", "rules 1", "rules 2")
TWO = (*PAIRS, *HALVES, "breast_cancer", *RULES)
SETS = (*LARGE, *TWO)
SIZES = (5, 10, 20)


class HistGain(HistGradientBoostingClassifier):
    """scikit-learn's boosting, whose importances are the sums of the gains of its splits."""

    @property
    def feature_importances_(self):
        gains = np.zeros(self.n_features_in_)
        for tree in (tree for trees in self._predictors for tree in trees):
            splits = tree.nodes[tree.nodes["is_leaf"] == 0]
            np.add.at(gains, splits["feature_idx"], splits["gain"])
        return gains


PRIORS = {
    "none": None,
    "extra_trees": ExtraTreesClassifier(200, random_state=0),
    "forest": RandomForestClassifier(200),
    "lightgbm": LightGBM(n_estimators=100, importance_type="gain"),
    "hist": HistGain(max_iter=100, max_leaf_nodes=15, early_stopping=False),
    "logistic": LogisticRegression(C=0.1, max_iter=200),
}


def folds(name):
    """Yield X, y, training and test rows; ``NAME%2`` has two classes."""
    for X, y, train, test in folds_of(name.partition("%")[0]):
        yield X, np.unique(y, return_inverse=True)[1] % 2 if "%" in name else y, train, test


def run(name, sets):
    path = Path(os.environ["MAUC_RUNS"]) / f"{name}.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    done = {(row["set"], row["fold"]) for row in map(json.loads, lines)}
    for one in sets:
        for fold, (X, y, train, test) in enumerate(folds(one)):
            if (one, fold) in done:
                continue
            sizes = [k for k in SIZES if k < X.shape[1]]
            start = time.process_time()
            selector = GreedyMAUC(max(sizes), prior=PRIORS[name], n_jobs=1)
            ranking = selector.fit(X[train], y[train]).ranking_
            seconds = time.process_time() - start
            row = {
                "set": one,
                "fold": fold,
                "seconds": round(seconds, 3),
                "classes": len(np.unique(y)),
                "rows": len(y),
                "ranking": ranking.tolist(),
                "mauc": judge(ranking, X, y, train, test, sizes),
            }
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")


def table(base, names):
    start, classes, rows = read(base)
    others = {name: read(name)[0] for name in names}
    shared = [s for s in SETS if all(s in found for found in (start, *others.values()))]
    groups = {
        "three classes or more": [s for s in shared if s in LARGE],
        "two classes": [s for s in shared if s in TWO and s not in RULES],
        "- a class and the nearest": [s for s in shared if s in PAIRS],
        "- even against odd": [s for s in shared if s in HALVES],
        "- rules in binary columns": [s for s in shared if s in RULES],
        "all but rules": [s for s in shared if s not in RULES],
    }
    print(
        f"| prior, in thousandths of MAUC over {base} | tables | all K | "
        + " | ".join(f"K = {k}" for k in SIZES)
        + " | up : down by > 0.5 | judges: NB, LDA, "
        "5NN, trees |\n|" + "---|" * (5 + len(SIZES))
    )
    for name, found in others.items():
        for group, members in groups.items():
            if not members:
                continue
            parts = [1000 * (found[s] - start[s]) for s in members]
            by_set = np.array([part.mean() for part in parts])
            by_size = [np.mean([part[i] for part in parts if i < len(part)]) for i in range(3)]
            cells = " | ".join(f"{cell:+.1f}" for cell in (by_set.mean(), *by_size))
            judged = " ".join(f"{cell:+.1f}" for cell in np.mean([p.mean(0) for p in parts], 0))
            print(
                f"| {name}: {group} | {len(members)} | {cells} | {(by_set > 0.5).sum()} : "
                f"{(by_set < -0.5).sum()} | {judged} |"
            )
    print("\n| table | rows | classes | " + " | ".join((base, *names)) + " |")
    print("|" + "---|" * (4 + len(names)))
    for s in shared:
        cells = " | ".join(f"{1000 * (f[s] - start[s]).mean():+.1f}" for f in others.values())
        print(f"| {s} | {rows[s]:,} | {classes[s]} | {start[s].mean():.4f} | {cells} |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] == "run":
        run(sys.argv[2], TWO if sys.argv[3:] == ["two"] else SETS)
    else:
        table(sys.argv[2], sys.argv[3:])
