"""Growth of the cost of all class-pair AUCs with the rows and with the columns."""

import time
from functools import partial

import numpy as np

from _common import print_header, print_row, random_data, time_in_turns
from mauc import feature_pair_auc

N_CLASSES = 20
GROWTH = np.array([1, 2, 4])


def seconds_of(shapes):
    """Return the seconds of random data of each shape."""
    cases = [random_data(n_samples, n_features, N_CLASSES) for n_samples, n_features in shapes]
    return time_in_turns(
        *(partial(feature_pair_auc, X, y, n_jobs=1) for X, y in cases), clock=time.process_time
    )


def print_growth(shapes, seconds, costs, law):
    """Print each size against the smallest one grown by the law."""
    print_row("{} x {}".format(*shapes[0]), seconds[0])
    expected = seconds[0] * costs / costs[0]
    for shape, ours, theirs in zip(shapes[1:], seconds[1:], expected[1:], strict=True):
        print_row("{} x {}".format(*shape), ours, f"{law} from the first", theirs, "<= 1.15")


def main():
    print_header(f"cost growth of feature_pair_auc, float32, {N_CLASSES} classes, 1 thread")
    samples = 5_000 * GROWTH
    shapes = [(n_samples, 400) for n_samples in samples]
    print_growth(shapes, seconds_of(shapes), samples * np.log(samples), "n log n")
    features = 400 * GROWTH
    shapes = [(5_000, n_features) for n_features in features]
    print_growth(shapes, seconds_of(shapes), features, "linear")


if __name__ == "__main__":
    main()
