"""Steps of GreedyMAUC, judged by classifiers on held-out folds, by K and by number of classes.

``python -m reproduction.research.spread run NAME`` ranks with the library on the Python path (or,
as "LightGBM gain" or "XGBoost gain", with theirs) and judges; a file per name in the folder
MAUC_RUNS keeps what is done. ``... table BASE NAME [NAME ...]`` prints the differences to BASE.

Tables: the 22 of MAUC_DATA, and as many of three to five classes as they give: a class and those
nearest to it. At most 1,500 rows of each, thinned by class, 3 folds; also 100 rows of some, judged
on the rest, and eight tables of rules. K = 5, 10, 20, 50. Judges: Naive Bayes, linear discriminant,
5 nearest neighbours and extra trees. "XGBoost gain" needs the package xgboost.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from mauc import GreedyMAUC, mauc_score
from mauc.classifiers import NormalNaiveBayes
from reproduction.beyond.rivals import LightGBMGain, Rival, by_scores
from reproduction.common import load_npz

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
    "urban",
    "vehicle",
    "synthetic",
)
SMALL = (
    "arrhythmia",
    "dermatology",
    "libras",
    "sorlie",
    "su",
    "thyroid_sub_srbct",
    "thyroid_sub_tox171",
)
SETS = LARGE + SMALL
CUT = set(LARGE) - {"phoneme", "vehicle"} | {"libras", "arrhythmia", "dermatology"}
FEW = (*(f"{name}/{c}" for name in SETS if name in CUT for c in (3, 5)), "breast_cancer", "wine")
# 100 rows to learn from, and all others to judge by; + has permuted columns up to 3,000 in all.
WIDE = "isolet/5", "mnist/5", "usps/5", "semeion/5", "cnae9/5", "phoneme", "indiana/5"
THIN = (
    *(f"{name}:100{more}" for name in WIDE for more in ("", "+")),
    "texture/5:100",
    "segment/5:100",
    "satimage/5:100",
    "vehicle:100",
)
RULES = tuple(f"rules {seed}" for seed in range(8))
SIZES = (5, 10, 20, 50)
MAX_ROWS, N_FOLDS = 1500, 3
SEED = int(os.environ.get("MAUC_SEED", "2911"))


def load(name):
    """Return X and y; ``NAME/c`` is c classes of it, one drawn and those nearest to it."""
    if name in ("wine", "breast_cancer"):
        return (load_wine if name == "wine" else load_breast_cancer)(return_X_y=True)
    if name in RULES:
        return make_rules(int(name.split()[1]))
    name, _, n_classes = name.split(":")[0].partition("/")
    X, y = load_npz(name, np.float64)
    if n_classes:
        classes = np.unique(y)
        Z = StandardScaler().fit_transform(X)
        means = np.array([Z[y == one].mean(axis=0) for one in classes])
        first = np.random.default_rng([SEED, int(n_classes)]).integers(len(classes))
        near = np.argsort(((means - means[first]) ** 2).sum(axis=1), kind="stable")
        rows = np.isin(y, classes[near[: int(n_classes)]])
        X, y = X[rows], y[rows]
    if len(y) > MAX_ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=MAX_ROWS, stratify=y, random_state=SEED)
    return X, y


def make_rules(seed):
    """Return 36 binary columns, and two classes by eight conjunctions of the first 14 of them."""
    rng = np.random.default_rng(seed)
    X = (rng.random((MAX_ROWS, 36)) < rng.uniform(0.1, 0.6, 36)).astype(np.float64)
    y = np.full(MAX_ROWS, -1)
    for rule in range(8):  # the first that holds decides
        columns = rng.choice(14, size=rng.integers(2, 4), replace=False)
        holds = (X[:, columns] == rng.integers(0, 2, len(columns))).all(axis=1)
        y[holds & (y < 0)] = rule % 2
    y[y < 0] = rng.integers(0, 2)
    return X, np.where(rng.random(MAX_ROWS) < 0.02, 1 - y, y)


def folds_of(name):
    """Yield X, y, training and test rows."""
    X, y = load(name)
    if name.endswith("+"):
        rng = np.random.default_rng(SEED)
        drawn = X[:, rng.integers(X.shape[1], size=3000 - X.shape[1])]
        X = np.hstack([X, rng.permuted(drawn, axis=0)])
    if ":" in name:
        split = StratifiedShuffleSplit(N_FOLDS, train_size=100, random_state=SEED)
    else:
        split = StratifiedKFold(N_FOLDS, shuffle=True, random_state=SEED)
    for train, test in split.split(X, y):
        yield X, y, train, test


class XGBoostGain(Rival):
    """Total gain of the splits in XGBoost: 100 rounds of trees of depth 4, learning rate 0.1."""

    def _order(self, X, y):
        from xgboost import XGBClassifier

        model = XGBClassifier(
            n_estimators=100,
            max_depth=4,
            learning_rate=0.1,
            importance_type="total_gain",
            tree_method="hist",
            max_bin=64,
            n_jobs=1,
            random_state=self.random_state,
        )
        return by_scores(model.fit(X, y).feature_importances_, X, y)


RIVALS = {
    "LightGBM gain": LightGBMGain(50, time_limit=1e4),
    "XGBoost gain": XGBoostGain(50, time_limit=1e4),
}


def judges():
    return (
        NormalNaiveBayes(),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.05),
        KNeighborsClassifier(5),
        ExtraTreesClassifier(60, random_state=0, n_jobs=1),
    )


def judge(ranking, X, y, train, test, sizes=SIZES):
    """Return the MAUC of every judge for every size."""
    scaler = StandardScaler().fit(X[train])
    here, there = scaler.transform(X[train]), scaler.transform(X[test])
    found = []
    for k in sizes:
        chosen = ranking[:k]
        for model in judges():
            model.fit(here[:, chosen], y[train])
            found.append(mauc_score(y[test], model.predict_proba(there[:, chosen])))
    return np.reshape(found, (len(sizes), -1)).round(6).tolist()


def run(name):
    path = Path(os.environ["MAUC_RUNS"]) / f"{name}.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    done = {(row["set"], row["fold"]) for row in map(json.loads, lines)}
    for one in SETS + FEW + THIN + RULES:
        if all((one, fold) in done for fold in range(N_FOLDS)):
            continue
        for fold, (X, y, train, test) in enumerate(folds_of(one)):
            if (one, fold) in done:
                continue
            k = min(max(SIZES), X.shape[1])
            start = time.process_time()
            selector = RIVALS.get(name) or GreedyMAUC(k, n_jobs=1)
            ranking = selector.fit(X[train], y[train]).ranking_[:k]
            seconds = time.process_time() - start
            row = {
                "set": one,
                "fold": fold,
                "seconds": round(seconds, 3),
                "classes": len(np.unique(y)),
                "rows": len(y),
                "ranking": ranking.tolist(),
                "mauc": judge(ranking, X, y, train, test),
            }
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")


def read(name):
    """Return {set: MAUC (n_sizes, n_judges), mean of the folds}, {set: classes}, {set: rows}."""
    path = Path(os.environ["MAUC_RUNS"]) / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    sets = {row["set"]: row for row in rows}
    mauc = {s: np.mean([r["mauc"] for r in rows if r["set"] == s], axis=0) for s in sets}
    return mauc, {s: r["classes"] for s, r in sets.items()}, {s: r["rows"] for s, r in sets.items()}


def table(base, names):
    start, classes, rows = read(base)
    others = {name: read(name)[0] for name in names}
    shared = [
        s
        for s in SETS + FEW + THIN + RULES
        if all(s in found for found in (start, *others.values()))
    ]
    groups = {
        "22 sets": [s for s in shared if s in SETS],
        "22 sets, > 5 classes": [s for s in shared if s in SETS and classes[s] > 5],
        "22 sets, <= 5 classes": [s for s in shared if s in SETS and classes[s] <= 5],
        "22 sets, < 300 rows": [s for s in shared if s in SETS and rows[s] < 300],
        "few classes": [s for s in shared if s in FEW],
        "both, <= 5 classes": [s for s in shared if classes[s] <= 5 and s in SETS + FEW],
        "100 rows": [s for s in shared if s in THIN and s[-1] != "+"],
        "100 rows, 3,000 wide": [s for s in shared if s[-1] == "+"],
        "binary rules": [s for s in shared if s in RULES],
    }
    print(
        f"differences to {base} in thousandths: all K, "
        + ", ".join(f"K = {k}" for k in SIZES)
        + ", K >= 10, up : down by more than 0.5 (judges: NB, LDA, 5NN, trees)\n"
    )
    for name, found in others.items():
        print(name)
        for group, members in groups.items():
            if not members:
                continue
            parts = np.array([1000 * (found[s] - start[s]) for s in members])
            by_set, by_size = parts.mean(axis=(1, 2)), parts.mean(axis=(0, 2))
            cells = [by_set.mean(), *by_size, by_size[1:].mean()]
            shown = " ".join(f"{cell:+6.2f}" for cell in cells)
            judged = " ".join(f"{cell:+5.1f}" for cell in parts.mean(axis=(0, 1)))
            print(
                f"  {group:<22} {len(members):3} {shown}   {(by_set > 0.5).sum():2} : "
                f"{(by_set < -0.5).sum():2}   ({judged})"
            )
        print()
    print(
        f"{'set':<26}{'rows':>6}{'classes':>8}{base:>9} " + " ".join(f"{n[:9]:>9}" for n in names)
    )
    for s in shared:
        cells = " ".join(f"{1000 * (f[s] - start[s]).mean():+9.2f}" for f in others.values())
        print(f"{s:<26}{rows[s]:6}{classes[s]:8}{start[s].mean():9.4f} {cells}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] == "run":
        run(sys.argv[2])
    else:
        table(sys.argv[2], sys.argv[3:])
