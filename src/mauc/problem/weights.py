"""Scale sample weights so that products of two of them neither overflow nor vanish."""

import numpy as np


def scale_by_class(weights, codes, n_classes):
    """Scale the weights of each class by a power of two: its largest weight is in [1/2, 1).

    AUCs of class pairs are ratios that do not change thereby, not even in their last bit, but
    the product of two weights of 1e200 would be infinite and that of two of 1e-200 zero.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,), float64
        Not negative.
    codes : ndarray of shape (n_samples,), int
    n_classes : int

    Returns
    -------
    scaled : ndarray of shape (n_samples,), float64
        ``weights / 2**exponents[codes]``.
    exponents : ndarray of shape (n_classes,), int
        0 for a class without weight.
    """
    largest = np.zeros(n_classes)
    np.maximum.at(largest, codes, weights)
    exponents = np.frexp(largest)[1]
    return np.ldexp(weights, -exponents[codes]), exponents
