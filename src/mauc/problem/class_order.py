"""The samples class after class: class codes in, an order and the starts of the classes out."""

import numpy as np


def group_by_class(y, n_classes, sample_weight=None):
    """Sort the samples by class, keeping their order within a class.

    Class by class, sums stay in registers; in row order, adding to the sums of ``y[i]`` would
    wait for the store before it.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), int32
    n_classes : int
    sample_weight : ndarray of shape (n_samples,) or None

    Returns
    -------
    order : ndarray of uint32
        Samples, class after class; those of weight 0 are left out.
    starts : ndarray of shape (n_classes + 1,), int64
        Class k is ``order[starts[k]:starts[k + 1]]``.
    weights : ndarray of float64
        Weight of ``order[i]``, or empty where all weights are 1.
    """
    # NumPy's stable sort of 16-bit integers is a radix sort.
    short = y.astype(np.uint16) if n_classes <= 2**16 else y
    order = np.argsort(short, kind="stable").astype(np.uint32)
    weights = np.empty(0, dtype=np.float64)
    if sample_weight is not None:
        order = order[sample_weight[order] > 0]
        weights = np.ascontiguousarray(sample_weight[order], dtype=np.float64)
    counts = np.bincount(y[order], minlength=n_classes)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return order, starts, weights
