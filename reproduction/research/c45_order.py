"""Whether the paper's C4.5 saw the chosen columns in the order of the file or of the ranking.

C4.5 takes the first of equally good columns, so their order matters; with all features of a data
set nothing else differs between selectors. Prints the mean absolute difference to the published
MAUC over the sizes for both orders, and the values with all features. Run as
``python -m reproduction.research.c45_order``.
"""

import argparse

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mauc import mauc_score
from mauc.datasets import load_dataset
from mauc.lab import C45
from mauc.report import markdown_table
from mauc.selectors import make_selector
from mauc.stats import shown_name
from reproduction.published import load_published

SELECTORS = {
    "mdfs": {"random_state": 0},
    "maucd": {},
    "mrmr": {},
    "fsdd": {},
    "schi": {"schedule": "round_robin"},
    "ssu": {"schedule": "round_robin"},
    "chi": {},
    "su": {},
}
SIZES = (10, 20, 30, 40, 50, 60)
ORDERS = {"ranking": np.asarray, "file": np.sort}


def measure(data, n_repeats):
    """Return the mean MAUC by selector and order, one value per size."""
    found = {}
    for seed in range(n_repeats):
        folds = StratifiedKFold(10, shuffle=True, random_state=seed)
        for train, test in folds.split(data.X, data.y):
            X, y = data.X[train], data.y[train]
            for name, options in SELECTORS.items():
                ranking = make_selector(name, max(SIZES), **options).fit(X, y).ranking_
                for order, arrange in ORDERS.items():
                    curve = []
                    for size in SIZES:
                        columns = arrange(ranking[:size])
                        tree = C45().fit(X[:, columns], y)
                        scores = tree.predict_proba(data.X[test][:, columns])
                        curve.append(mauc_score(data.y[test], scores))
                    found.setdefault((name, order), []).append(curve)
    return {key: np.mean(curves, axis=0) for key, curves in found.items()}


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10, help="times tenfold")
    options = parser.parse_args()
    curves = measure(load_dataset("synthetic"), options.repeats)
    published = load_published()
    published = published[published["dataset"] == "synthetic"]
    paper = published.set_index(["classifier", "selector", "size"])["mauc"]
    rows, off = [], {order: [] for order in ORDERS}
    for name in SELECTORS:
        target = np.array([paper["c45", name, size] for size in SIZES])
        shown = []
        for order in ORDERS:
            off[order].append(np.abs(curves[name, order] - target).mean())
            shown.append(f"{off[order][-1]:.4f}")
        last = [f"{curves[name, order][-1]:.4f}" for order in ORDERS]
        rows.append([shown_name("selector", name), *shown, *last, f"{target[-1]:.3f}"])
    rows.append(["mean", *(f"{np.mean(values):.4f}" for values in off.values()), "", "", ""])
    heads = [*(f"order of the {order}" for order in ORDERS)]
    print(markdown_table(["selector", *heads, *(f"all, {one}" for one in ORDERS), "paper"], rows))


if __name__ == "__main__":
    main()
