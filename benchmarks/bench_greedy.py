"""GreedyMAUC of 100 features, against mRMR and against the work that it cannot avoid."""

from functools import partial

import numpy as np

from _common import load, print_header, print_row, time_in_turns
from mauc import MRMR, feature_pair_auc
from mauc.data.door import make_problem
from mauc.measure.effects import measure
from mauc.selectors.greedy_mauc import GreedyMAUC

N_SELECTED = 100
N_THREADS = 2
CASES = (
    ("mnist", np.uint8, "<= 1", ""),
    ("mnist", np.float32, "", ""),
    ("isolet", np.float32, "", "<= 1.5"),
)


def measure_all(X, y):
    """Compute AUCs and effects of all features and the normal scores of all samples."""
    measure(make_problem(X, y), n_jobs=N_THREADS)


def multiply(X):
    """Compute as many matrix-vector products with X as features are selected."""
    for column in range(N_SELECTED):
        X.T @ X[:, column]


def bench_mrmr(name, X, y, bar):
    """Compare whole fits."""
    greedy = GreedyMAUC(N_SELECTED, n_jobs=N_THREADS)
    whole = GreedyMAUC(N_SELECTED, max_samples=None, n_jobs=N_THREADS)
    rival = MRMR(N_SELECTED, n_jobs=N_THREADS)
    ours, exact, theirs = time_in_turns(
        *(partial(selector.fit, X, y) for selector in (greedy, whole, rival))
    )
    print_row(f"{name}: whole fit", ours, "MRMR", theirs, bar)
    print_row(f"{name}: correlations of all samples", exact, "MRMR", theirs)


def bench_parts(name, X, y, bar):
    """Compare a whole fit with pair AUCs and normal scores, and with matrix-vector products."""
    greedy = GreedyMAUC(N_SELECTED, n_jobs=N_THREADS)
    floats = np.asfortranarray(X, dtype=np.float32)
    ours, auc, measures, products = time_in_turns(
        partial(greedy.fit, X, y),
        partial(feature_pair_auc, X, y, n_jobs=N_THREADS),
        partial(measure_all, X, y),
        partial(multiply, floats),
    )
    print_row(f"{name}: pair AUCs", auc)
    print_row(f"{name}: AUCs and normal scores", measures, "pair AUCs", auc)
    print_row(f"{name}: {N_SELECTED} products", products)
    print_row(f"{name}: whole fit", ours, "measures + products", measures + products, bar)


def main():
    print_header(f"GreedyMAUC, {N_SELECTED} features, {N_THREADS} threads")
    for name, dtype, mrmr_bar, parts_bar in CASES:
        X, y, source = load(name, dtype)
        label = f"{name} {np.dtype(dtype).name} ({source})"
        bench_mrmr(label, X, y, mrmr_bar)
        bench_parts(label, X, y, parts_bar)


if __name__ == "__main__":
    main()
