"""How far the losses that `alternatives_` of GreedyMAUC predicts are from measured ones.

Run as ``python -m reproduction.research.exchanges [data sets]``, with MAUC_DATA. GreedyMAUC chooses
10 features on half of the samples, twice; each exchange is then measured: a linear discriminant
learns from that half with the chosen feature and with its alternative, and the loss is that of its
MAUC on the other half.
"""

import sys
import warnings

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedShuffleSplit

from mauc import GreedyMAUC, mauc_score
from reproduction.common import load_npz

SETS = (
    "indiana",
    "isolet",
    "mnist",
    "phoneme",
    "synthetic",
    "thyroid_sub_srbct",
    "usps",
    "washington_sub_forest",
    "arrhythmia",
    "cnae9",
    "dermatology",
    "libras",
    "penbased",
    "satimage",
    "segment",
    "semeion",
    "sorlie",
    "texture",
    "urban",
    "vehicle",
)
MAX_ROWS, N_CHOSEN, N_HALVES = 4000, 10, 2
FAR = 0.005


def measure(name):
    """Return the predicted and the measured losses of all exchanges on one data set."""
    X, y = load_npz(name, np.float64, MAX_ROWS)
    found = []
    halves = StratifiedShuffleSplit(N_HALVES, test_size=0.5, random_state=0)
    for train, test in halves.split(X, y):
        selector = GreedyMAUC(N_CHOSEN).fit(X[train], y[train])

        def mauc(columns, train=train, test=test):
            model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
            model.fit(X[train][:, columns], y[train])
            scores = model.predict_proba(X[test][:, columns])
            return mauc_score(y[test], scores, labels=model.classes_)

        chosen = mauc(selector.ranking_)
        for exchanges in selector.alternatives_.values():
            for one in exchanges:
                exchanged = np.where(
                    selector.ranking_ == one.feature, one.alternative, selector.ranking_
                )
                found.append((one.loss, chosen - mauc(exchanged)))
    return np.array(found).reshape(-1, 2)


def describe(name, found):
    """Return a row of the table in Markdown."""
    predicted, measured = found.T
    errors = measured - predicted
    cells = (
        predicted.mean(),
        measured.mean(),
        measured.max(),
        np.sqrt((errors**2).mean()),
        np.median(np.abs(errors)),
    )
    values = " | ".join(f"{value:.4f}" for value in cells)
    return f"| {name} | {len(found)} | {values} | {(measured > FAR).mean():.3f} |"


def main():
    """Print one row per data set, and one of all exchanges."""
    warnings.simplefilter("ignore")
    heads = (
        "data set",
        "exchanges",
        "predicted",
        "measured",
        "largest",
        "RMS error",
        "median error",
        f"above {FAR}",
    )
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    parts = []
    for name in sys.argv[1:] or SETS:
        found = measure(name)
        if len(found):
            parts.append(found)
            print(describe(name, found), flush=True)
    print(describe("all", np.vstack(parts)))


if __name__ == "__main__":
    main()
