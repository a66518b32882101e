"""The share of every sample in the AUCs of its class: sorted score columns in, components out."""

import numpy as np
from numba import njit


def pair_components(ST, codes, weights, totals):
    """Return how often each sample is on the right side of the samples of every other class.

    Parameters
    ----------
    ST : ndarray of shape (n_classes, n_samples), float64
        Score columns.
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,), float64
    totals : ndarray of shape (n_classes,), float64
        Weight of each class.

    Returns
    -------
    components : ndarray of shape (n_samples, n_classes)
        ``components[a, j]``, a being of class i, is the share of class j that a is ranked
        correctly against, the mean of columns i and j; a tie counts 1/2. Its mean over the
        samples of class i is (A_ij + A_ji) / 2. 0 for the class of the sample itself and for
        classes that are absent.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the Areas under Two or More
       Correlated Receiver Operating Characteristic Curves", Biometrics 44, 1988.
    """
    components = np.zeros((len(codes), len(ST)))
    add_components(ST, np.argsort(ST, axis=1), codes, weights, totals, components)
    components /= 4.0 * np.where(totals > 0, totals, 1.0)
    return components


@njit(cache=True, nogil=True)
def add_components(ST, orders, codes, weights, totals, out):
    """Add to out[a, j] the wins of sample a, 2 per weight and 1 per tied weight, of two columns."""
    n_classes, n = ST.shape
    below = np.empty(n_classes, np.float64)
    tied = np.zeros(n_classes, np.float64)
    for i in range(n_classes):
        scores, order = ST[i], orders[i]
        for j in range(n_classes):
            below[j] = 0.0
        start = 0
        while start < n:
            # order[start:stop] share a score; `below` holds all classes' weight before them.
            stop = start
            while stop < n and scores[order[stop]] == scores[order[start]]:
                tied[codes[order[stop]]] += weights[order[stop]]
                stop += 1
            for place in range(start, stop):
                row = order[place]
                k = codes[row]
                if k == i:
                    for j in range(n_classes):
                        if j != i:
                            out[row, j] += 2.0 * below[j] + tied[j]
                else:
                    out[row, i] += 2.0 * (totals[i] - below[i]) - tied[i]
            for place in range(start, stop):
                k = codes[order[place]]
                below[k] += tied[k]
                tied[k] = 0.0
            start = stop
