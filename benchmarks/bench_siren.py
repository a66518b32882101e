"""siren_study with 300 classes: what the classifiers that say which pairs are hard add to it."""

import time

import numpy as np

from _common import print_header, print_row, time_in_turns
from mauc import siren_study

N_CLASSES, N_PER_CLASS, N_FEATURES = 300, 20, 40
METHODS = ["mdfs", "maucd", "chi", "su", "mrmr"]  # those of mauc siren


def make_data():
    """Return classes of 20 samples whose means differ by half a standard deviation."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(N_CLASSES), N_PER_CLASS))
    X = rng.normal(size=(len(y), N_FEATURES))
    return X + 0.5 * rng.normal(size=(N_CLASSES, N_FEATURES))[y], y


def main():
    X, y = make_data()
    auc = np.linspace(0.5, 1.0, N_CLASSES * (N_CLASSES - 1) // 2)
    print_header(f"siren_study, {len(auc):,} class pairs, {len(y)} x {N_FEATURES}, CPU seconds")
    ours, theirs = time_in_turns(
        lambda: siren_study(X, y, selectors=METHODS),
        lambda: siren_study(X, y, selectors=METHODS, auc=auc),
        n_repeats=1,
        clock=time.process_time,
    )
    print_row("the study", ours, "AUCs of the pairs given", theirs, "<= 4")


if __name__ == "__main__":
    main()
