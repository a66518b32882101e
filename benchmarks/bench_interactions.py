"""GreedyMAUC(interactions=True): pairs that act together are found, and what that costs."""

import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from _common import load, print_header, print_row, time_in_turns
from mauc import GreedyMAUC

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.helpers.xor_pairs import KINDS, make_pairs

N_SEEDS = 20


def last_rank(kind, seed):
    """Return the rank, from 1, of the last wanted feature."""
    X, y, wanted = make_pairs(kind, seed)
    ranking = GreedyMAUC("all", interactions=True).fit(X, y).ranking_.tolist()
    return 1 + max(ranking.index(feature) for feature in wanted)


def tables():
    """Yield a label and data to time."""
    for name, dtype in (("mnist", np.uint8), ("isolet", np.float32), ("usps", np.float32)):
        X, y, source = load(name, dtype)
        yield f"{name} ({source})", X, y
    rng = np.random.default_rng(0)
    y = np.arange(500) % 4
    X = np.asfortranarray(rng.normal(size=(500, 5000)), np.float32)
    X[:, :30] += rng.normal(size=(4, 30))[y]
    yield "500 x 5,000", X, y


def main():
    print(f"600 samples, 60 features: rank of the last feature of the pairs, {N_SEEDS} seeds")
    for kind in KINDS:
        ranks = [last_rank(kind, seed) for seed in range(N_SEEDS)]
        n_within = sum(rank <= 5 for rank in ranks)
        print(f"{kind:<14} worst {max(ranks)}, within the first 5 in {n_within} of {N_SEEDS}")
    print_header("GreedyMAUC of 100 features, one thread, CPU seconds")
    for label, X, y in tables():
        plain, pairs = time_in_turns(
            *(partial(GreedyMAUC(100, interactions=wanted).fit, X, y)
              for wanted in (False, True)),
            n_repeats=5, clock=time.process_time,
        )  # fmt: skip
        print_row(f"{label}: interactions=True", pairs, "without", plain)


if __name__ == "__main__":
    main()
