"""What an estimator as the prior of GreedyMAUC costs: 200 trees, CPU seconds of one thread."""

import time
from functools import partial

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from _common import print_header, print_row, random_data, time_in_turns
from mauc import GreedyMAUC

N_SELECTED = 50
SHAPES = ((100, 5000, 4), (500, 500, 5), (2000, 800, 10))


def main():
    print_header(f"GreedyMAUC, {N_SELECTED} features, one thread, CPU seconds")
    rng = np.random.default_rng(0)
    for n_samples, n_features, n_classes in SHAPES:
        X, y = random_data(n_samples, n_features, n_classes)
        X = X.copy()
        X[:, :30] += rng.normal(size=(n_classes, 30))[y]
        plain, trees = time_in_turns(
            *(
                partial(GreedyMAUC(N_SELECTED, prior=prior).fit, X, y)
                for prior in (None, ExtraTreesClassifier(200, random_state=0))
            ),
            n_repeats=3,
            clock=time.process_time,
        )
        label = f"{n_samples:,} x {n_features:,}, {n_classes} classes"
        print_row(f"{label}: 200 extra trees as the prior", trees, "no prior", plain)


if __name__ == "__main__":
    main()
