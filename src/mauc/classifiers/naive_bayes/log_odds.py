"""Joint log-probabilities in, log-odds and log-probabilities of the classes out."""

import numpy as np


def log_odds(joint):
    """Return log(p_k / (1 - p_k)) of every class, exact at both ends.

    Parameters
    ----------
    joint : ndarray of shape (n_samples, n_classes)
        Joint log-probabilities l, up to a constant per row.

    Returns
    -------
    odds : ndarray of shape (n_samples, n_classes)
        l_k minus the logarithm of the sum of exp(l_j) over the other classes. inf if there is
        one class only.
    """
    n, n_classes = joint.shape
    if n_classes == 1:
        return np.full((n, 1), np.inf)
    rows, winner = np.arange(n), np.argmax(joint, axis=1)
    with np.errstate(under="ignore"):
        largest = joint[rows, winner][:, np.newaxis]
        shares = np.exp(joint - largest)
        # Without a class that is not the largest, the sum still contains the 1 of the largest.
        others = largest + np.log(np.maximum(1.0, shares.sum(axis=1, keepdims=True) - shares))
        # Without the largest, the sum has to be computed again.
        rest = joint.copy()
        rest[rows, winner] = -np.inf
        second = rest.max(axis=1, keepdims=True)
        others[rows, winner] = second[:, 0] + np.log(np.exp(rest - second).sum(axis=1))
    return joint - others


def log_probabilities(odds):
    """Return log p_k from the log-odds; that of a certain class is tiny, not 0."""
    with np.errstate(under="ignore"):
        return -np.logaddexp(0.0, -odds)
