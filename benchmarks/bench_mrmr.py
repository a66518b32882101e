"""mRMR of 50 features, against fast-select and mrmr-selection."""

import warnings
from functools import partial

import numba
import numpy as np

from _common import print_header
from _peers import import_peer, load_shapes, print_rows, time_wall_and_cpu, version
from mauc import MRMR

N_SELECTED = 50
N_THREADS = 2


def three_states(X):
    """Return each feature as -1, 0, 1: below, within, above mean -+ sd."""
    mean, sd = X.mean(axis=0), X.std(axis=0, ddof=1)
    return (mean + sd < X).astype(np.int32) - (mean - sd > X)


def bench_fast_select(fast_select, name, X, y):
    """Compare with fast-select, warm, which gets the features ready in three states."""
    states = three_states(X)
    peer = fast_select.mRMR(N_SELECTED, method="MID", backend="cpu")
    raw, same, theirs = time_wall_and_cpu(
        partial(MRMR(N_SELECTED, n_jobs=N_THREADS).fit, X, y),
        partial(MRMR(N_SELECTED, binning="none", n_jobs=N_THREADS).fit, states, y),
        partial(peer.fit, states, y),
        n_repeats=5,
    )
    print_rows(f"{name}: same states", same, version("fast-select"), theirs, ">= 3")
    print_rows(f"{name}: raw values", raw, "the same", theirs, ">= 3")


def bench_mrmr_selection(mrmr, name, X, y):
    """Compare with mrmr-selection's own criterion, F statistic over mean correlation."""
    import pandas as pd

    frame, target = pd.DataFrame(X), pd.Series(y)
    peer = partial(mrmr.mrmr_classif, frame, target, N_SELECTED, n_jobs=1, show_progress=False)
    ours = MRMR(N_SELECTED, n_jobs=N_THREADS)
    raw, theirs = time_wall_and_cpu(partial(ours.fit, X, y), peer, n_repeats=3)
    # One thread of it is faster here than its processes.
    print_rows(f"{name}: raw values", raw, version("mrmr-selection"), theirs, ">= 30")


def main():
    numba.set_num_threads(min(N_THREADS, numba.config.NUMBA_NUM_THREADS))
    warnings.simplefilter("ignore")  # of the peers, about their own dependencies
    print_header(f"mRMR (MID), {N_SELECTED} features, {N_THREADS} threads, whole fit")
    fast_select = import_peer("fast_select", "fast-select")
    mrmr = import_peer("mrmr", "mrmr-selection")
    for name, (X, y) in load_shapes().items():
        if fast_select is not None:
            bench_fast_select(fast_select, name, X, y)
        if mrmr is not None:
            bench_mrmr_selection(mrmr, name, X, y)


if __name__ == "__main__":
    main()
