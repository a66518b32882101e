"""Data sets, wishes and pages for the what-if section, as GreedyMAUC takes them."""

import os
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import GaussianNB

from mauc import GreedyMAUC
from mauc.datasets import load_dataset
from mauc.report.html import selection_report

GOLDEN = Path(__file__).parent.parent / "golden" / "what_if"
BUNDLED = ("breast_cancer", "control_charts", "digits", "iris", "siren", "wine")
SHARED = (
    "indiana",
    "isolet",
    "mnist",
    "phoneme",
    "synthetic",
    "thyroid_sub_srbct",
    "thyroid_sub_tox171",
    "usps",
    "washington_sub_forest",
    "more/arrhythmia",
    "more/cnae9",
    "more/dermatology",
    "more/libras",
    "more/penbased",
    "more/satimage",
    "more/segment",
    "more/semeion",
    "more/sorlie",
    "more/su",
    "more/texture",
    "more/urban",
    "more/vehicle",
)
SIZE = 6  # of the selection of a page


def load(name):
    """Return X and y of a bundled data set, or of one in the folder that MAUC_DATA names."""
    if name in BUNDLED:
        dataset = load_dataset(name)
        return np.asarray(dataset.X), np.asarray(dataset.y)
    with np.load(Path(os.environ["MAUC_DATA"]) / f"{name}.npz") as data:
        return data["X"], data["y"]


def fit(X, y, size, keep=(), exclude=(), prices=None, budget=None, pairs=None):
    """Fit GreedyMAUC with wishes by column number; `pairs` has [class, class, weight]."""
    classes = np.unique(y)
    costs = None
    if prices or budget is not None:
        costs = np.ones(X.shape[1])
        for column, price in prices or ():
            costs[column] = price
    return GreedyMAUC(
        size,
        keep=list(keep) or None,
        exclude=list(exclude) or None,
        feature_costs=costs,
        budget=budget,
        pair_weight={(classes[a], classes[b]): weight for a, b, weight in pairs} if pairs else None,
    ).fit(X, y)


def make_page(X, y, size, **options):
    """Return the report of a selection of this size, and the model that its page carries."""
    options = {"classifier": GaussianNB(), "cv": 2} | options
    report = selection_report(GreedyMAUC(size).fit(X, y), X, y, **options)
    return report, report.to_dict()["what_if"]
