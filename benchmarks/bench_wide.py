"""Selectors on data that are much wider than tall, against MDFS and against sorting alone."""

import time
from functools import partial

import numpy as np

from _common import print_header, print_row, random_data, time_in_turns
from mauc import ARCO, FCBF, JMI, MDFS, MRMR, GreedyMAUC, SpreadFx

N_SAMPLES, N_FEATURES, N_CLASSES = 500, 100_000, 20
N_SELECTED = 50
N_REPEATS = 3
SELECTORS = (
    ("GreedyMAUC", GreedyMAUC(N_SELECTED), "<= 2"),
    ("ARCO", ARCO(N_SELECTED), "<= 3"),
    ("MRMR", MRMR(N_SELECTED), ""),
    ("JMI", JMI(N_SELECTED), ""),
    ("FCBF", FCBF(N_SELECTED), ""),
    ("SSU", SpreadFx(N_SELECTED, relevance="su"), ""),
)


def wide_data(dtype):
    """Return normal features, one in fifty of them with class means that differ."""
    X, y = random_data(N_SAMPLES, N_FEATURES, N_CLASSES, dtype)
    rng = np.random.default_rng(1)
    shifted = np.arange(0, N_FEATURES, 50)
    means = 0.7 * rng.standard_normal((N_CLASSES, len(shifted)))
    X[:, shifted] += means[y].astype(dtype)
    return X, y


def main():
    shape = f"{N_SAMPLES} x {N_FEATURES}, {N_CLASSES} classes"
    print_header(f"{N_SELECTED} of {shape}: processor seconds, one thread")
    for dtype in (np.float32, np.float64):
        X, y = wide_data(dtype)
        contestants = [partial(selector.fit, X, y) for _, selector, _ in SELECTORS]
        mdfs, argsort, *others = time_in_turns(
            partial(MDFS(N_SELECTED, random_state=0).fit, X, y),
            partial(np.argsort, X, axis=0),
            *contestants,
            n_repeats=N_REPEATS,
            clock=time.process_time,
        )
        label = np.dtype(dtype).name
        print_row(f"{label}: MDFS", mdfs, "argsort", argsort)
        for (name, _, bar), seconds in zip(SELECTORS, others, strict=True):
            print_row(f"{label}: {name}", seconds, "MDFS", mdfs, bar)
            print_row(f"{label}: {name}", seconds, "argsort", argsort)


if __name__ == "__main__":
    main()
