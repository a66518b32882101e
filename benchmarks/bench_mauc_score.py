"""MAUC of a score matrix, against scikit-learn's one-versus-one AUC."""

from functools import partial

import numpy as np
from scipy.special import softmax
from sklearn.metrics import roc_auc_score

from _common import SHAPES, print_header, print_row, random_data, time_in_turns
from mauc import mauc_score


def main():
    n_samples, _, n_classes = SHAPES["isolet"]
    decisions, y = random_data(n_samples, n_classes, n_classes, np.float64)
    decisions = decisions + 2 * (y[:, np.newaxis] == np.arange(n_classes))
    scores = softmax(decisions, axis=1)
    ours, theirs = time_in_turns(
        partial(mauc_score, y, scores),
        partial(roc_auc_score, y, scores, multi_class="ovo"),
        n_repeats=5,
    )
    print_header("mauc_score")
    measure = f"{n_samples} x {n_classes} probabilities"
    print_row(measure, ours, 'roc_auc_score("ovo")', theirs, ">= 20")


if __name__ == "__main__":
    main()
