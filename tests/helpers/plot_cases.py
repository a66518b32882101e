"""Every display on small, large and awkward cases, for tests and for `tools/gallery.py`."""

import string

import numpy as np
import pandas as pd

from mauc.data.problem import Decomposition
from mauc.evaluation import SizeCurve
from mauc.plotting import (
    CostCurveDisplay,
    CriticalDifferenceDisplay,
    CurvesDisplay,
    PairMapDisplay,
    SizeCurveDisplay,
    StabilityDisplay,
    TraceDisplay,
    WinDrawLossDisplay,
)
from mauc.registry import SELECTORS
from mauc.selectors.trace import CostCurve, SelectionTrace
from mauc.stats import Comparison

LETTERS = list(string.ascii_lowercase)
ALL = list(SELECTORS)
LONG = [
    "mean concentration of the first marker in the blood, mmol per litre",
    "size_µm",
    "Länge der Kelchblätter (größte)",
    "cost in $ per $ earned",
    "température °C",
    "ширина лепестка",
    "β-carotene",
    "100% of_all^things",
    "x",
    "two\nlines",
]
AWKWARD_CLASSES = ["Iris versicolor subsp. of the northern coast", "naïve", "γ", "$5 $10"]


def feature_names(n_features):
    """Return plain names."""
    return [f"f{number}" for number in range(n_features)]


def make_run(selectors, datasets, classifiers, sizes, *, n_folds=5, level=0.9):
    """Return rows like those of a run, with curves that rise towards 1 and cross."""
    rng = np.random.default_rng(7)
    rows = []
    for dataset in datasets:
        for place, selector in enumerate(selectors):
            skill = 0.006 * ((5 * place) % 7 - 3)
            slope = 0.4 + 0.2 * ((7 * place) % 11) / 11
            pool = 10 + 3 * place
            for fold in range(n_folds):
                shift = rng.normal(0, 0.02)
                order = rng.permutation(pool)
                for classifier in classifiers:
                    for size in sizes:
                        mauc = 1 - (1 - level) * np.exp(-slope * size / max(sizes)) + skill
                        mauc += shift
                        rows.append(
                            {
                                "dataset": dataset,
                                "repeat": 0,
                                "fold": fold,
                                "selector": selector,
                                "classifier": classifier,
                                "size": size,
                                "status": "ok",
                                "error": None,
                                "mauc": min(max(mauc, 0), 1),
                                "features": np.sort(order[:size])
                                if size < pool
                                else np.arange(size),
                                "n_train": 80,
                                "n_test": 20,
                                "n_features": 200,
                            }
                        )
    return pd.DataFrame(rows)


def make_trace(names, classes, n_steps, *, highest=60, is_whole=False, is_predicted=False):
    """Return a trace whose ranks grow with the steps."""
    rng = np.random.default_rng(3)
    decomposition = Decomposition("whole" if is_whole else "one-vs-one", len(classes))
    subproblems = rng.integers(0, decomposition.n_subproblems, n_steps)
    ranks = np.ceil(np.geomspace(1, highest, n_steps) * rng.uniform(0.3, 1, n_steps)).astype(int)
    subproblem_names = np.array(decomposition.names(np.array(list(classes))))
    return SelectionTrace(
        features=np.arange(n_steps),
        subproblems=subproblems,
        ranks=ranks,
        scores=np.linspace(1, 0.6, n_steps),
        feature_names=np.array([names[at % len(names)] for at in range(n_steps)]),
        subproblem_names=subproblem_names[subproblems],
        details={"predicted_mauc": 0.99 - 0.1 * 0.7 ** np.arange(n_steps)} if is_predicted else {},
    )


def make_map(names, classes, n_features, *, is_asked=True):
    """Return a pair map of random AUCs, with a nominal feature that has none."""
    rng = np.random.default_rng(5)
    pairs = Decomposition("one-vs-one", len(classes))
    auc = rng.beta(2, 2, (n_features, pairs.n_subproblems)) / 2 + 0.5
    if n_features > 5:
        auc[3] = np.nan
    asked = rng.integers(0, pairs.n_subproblems, n_features) if is_asked else None
    names = [names[at % len(names)] for at in range(n_features)]
    classes = np.array(list(classes))
    return PairMapDisplay(auc, names, classes, asked)


def make_costs(n_features):
    """Return a cost curve that flattens."""
    costs = np.cumsum(1 + np.arange(n_features) % 4)
    return CostCurve(costs.astype(float), 1 - 0.4 * np.exp(-np.arange(n_features) / 6))


def make_curve(sizes, *, best=None, level=0.8, noise=0.02):
    """Return a curve with its best mean at the place `best`, the last by default."""
    rng = np.random.default_rng(1)
    places = np.arange(len(sizes))
    best = len(sizes) - 1 if best is None else best
    mean = 1 - (1 - level) * 0.7 ** np.minimum(places, best) - 0.01 * np.maximum(places - best, 0)
    folds = mean + rng.normal(0, noise, 5)[:, np.newaxis]
    return SizeCurve(np.asarray(sizes), np.minimum(folds, 1.0))


def cases():
    """Return name -> function that draws; each returns its display."""
    sizes, many_sizes = (5, 10, 20, 30, 40, 50), (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)
    auto = [1, 2, 3, 4, 5, 7, 13, 24, 56, 100]
    five = ["wine", "glass", "letters", "a data set of a long and winding name", "isolet"]
    four = ["nb", "c45", "1nn", "svm"]
    few = ["mdfs", "maucd", "greedy"]
    own = ["mdfs", "my own selector with quite a long name", "_private", "GreedyMAUC$2$", "naïve"]

    def curves(*args, spread="interval", labels="auto", **options):
        return lambda: CurvesDisplay.from_run(
            make_run(*args, **options), spread=spread, labels=labels
        )

    def stability(*args, size=None, **options):
        return lambda: StabilityDisplay.from_run(make_run(*args, **options), size=size)

    def wins(*args, reference="mdfs", **options):
        return lambda: WinDrawLossDisplay.from_run(
            make_run(*args, n_folds=8, **options), Comparison(reference)
        )

    def ranks(n_selectors, n_problems, names=ALL, *, posthoc="holm", noise=2.0):
        rng = np.random.default_rng(2)
        scores = -np.arange(n_selectors) + noise * rng.normal(size=(n_problems, n_selectors))
        return lambda: CriticalDifferenceDisplay.from_scores(
            scores, names[:n_selectors], posthoc=posthoc
        )

    def with_gap():
        rows = make_run(few, five[:2], four[:3], sizes)
        return rows[(rows["dataset"] == "wine") | (rows["classifier"] == "nb")]

    return {
        "curves_one_selector": curves(["mdfs"], ["wine"], ["nb"], sizes),
        "curves_one_size": curves(few, ["wine"], ["nb"], [10]),
        "curves_few": curves(few, ["wine"], ["nb"], sizes),
        "curves_eighteen": curves(ALL, ["wine"], ["nb"], many_sizes),
        "curves_eighteen_panels": curves(ALL, five[:3], four, sizes, n_folds=3),
        "curves_gap": lambda: CurvesDisplay.from_run(with_gap()),
        "curves_own_names": curves(own, ["wine"], ["nb"], sizes),
        "curves_std": curves(few, five[:2], ["nb"], many_sizes, spread="std"),
        "stability_one": stability(["mdfs"], ["wine"], ["nb"], sizes),
        "stability_eighteen": stability(ALL, ["wine"], ["nb"], sizes),
        "stability_eighteen_five": stability(ALL, five, ["nb"], sizes, n_folds=3),
        "stability_size": stability(ALL, five[:2], ["nb"], sizes, size=10),
        "wins_one": wins(few[:2], ["wine"], ["nb"], sizes),
        "wins_eighteen": wins(ALL, five, four, sizes),
        "wins_own": wins(own, five[:2], ["nb"], sizes, reference=own[1]),
        "ranks_eighteen": ranks(18, 12, noise=6.0),
        "ranks_nemenyi": ranks(9, 12, posthoc="nemenyi"),
        "ranks_equal": ranks(18, 40, posthoc="nemenyi", noise=300.0),
        "ranks_own": ranks(5, 12, own),
        "cost_curve": lambda: CostCurveDisplay(make_costs(8)).plot(),
        "cost_curve_large": lambda: CostCurveDisplay(make_costs(90)).plot(),
        "size_curve": lambda: SizeCurveDisplay(make_curve(auto, best=6)).plot(),
        "size_curve_edge": lambda: SizeCurveDisplay(make_curve(auto, noise=0.001)).plot(),
        "size_curve_one": lambda: SizeCurveDisplay(make_curve([1])).plot(),
        "size_curve_large": lambda: SizeCurveDisplay(make_curve([1, 10, 100, 1000, 4000])).plot(),
        "trace_two_classes": lambda: TraceDisplay(make_trace(["only"], "ab", 1)).plot(),
        "trace_long_names": lambda: TraceDisplay(make_trace(LONG, AWKWARD_CLASSES, 20)).plot(),
        "trace_large": lambda: TraceDisplay(
            make_trace(feature_names(300), LETTERS, 300, highest=617)
        ).plot(),
        "trace_predicted": lambda: make_trace(LONG, AWKWARD_CLASSES, 10, is_predicted=True).plot(),
        "trace_predicted_one": lambda: make_trace(["x"], "ab", 1, is_predicted=True).plot(),
        "map_two_classes": lambda: make_map(["only"], "ab", 1).plot(),
        "map_long_names": lambda: make_map(LONG, AWKWARD_CLASSES, 10).plot(),
        "map_large": lambda: make_map(feature_names(300), LETTERS, 300).plot(),
        "map_many_long": lambda: make_map(
            LONG, [f"class number {c}" for c in LETTERS], 40, is_asked=False
        ).plot(),
        "map_many_pairs": lambda: make_map(feature_names(300), LETTERS, 300).plot(by="pairs"),
    }
