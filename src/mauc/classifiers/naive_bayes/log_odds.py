"""Joint log-probabilities in, log-odds and log-probabilities of the classes out."""

import numpy as np


def log_odds(joint):
    """Return log(p_k / (1 - p_k)) of every class, exact at both ends.

    Parameters
    ----------
    joint : ndarray of shape (n_samples, n_classes)
        Joint log-probabilities l, or anything that differs from them by a number per row.

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
        # Without a class that does not win, the sum still holds the winner's 1.
        others = largest + np.log(np.maximum(1.0, shares.sum(axis=1, keepdims=True) - shares))
        # Without the winner, the sum has to be taken anew.
        rest = joint.copy()
        rest[rows, winner] = -np.inf
        second = rest.max(axis=1, keepdims=True)
        others[rows, winner] = second[:, 0] + np.log(np.exp(rest - second).sum(axis=1))
    return joint - others


def log_probabilities(odds):
    """Return log p_k from the log-odds; the one of a sure winner is tiny, not 0."""
    with np.errstate(under="ignore"):
        return -np.logaddexp(0.0, -odds)
