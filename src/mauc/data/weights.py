"""Sample weights in other units: without overflow in products, or as numbers of rows."""

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


_MAX_EXPONENT = 400  # of two, in a total of weights whose products are ordinary numbers


def scale_weights(sample_weight, codes, class_weights):
    """Scale the weights by class where products of them leave the doubles, and only there.

    Weights that are whole numbers stay so, and sums of them exact.

    Parameters
    ----------
    sample_weight : ndarray of shape (n_samples,), float64, or None
    codes : ndarray of shape (n_samples,), int32
    class_weights : ndarray of shape (n_classes,), float64

    Returns
    -------
    sample_weight, class_weights : ndarray
        As given where all products are ordinary numbers.
    exponents : ndarray of shape (n_classes,), int64
        What was given is the result times two to this power.
    """
    n_classes = len(class_weights)
    largest = np.abs(np.frexp(class_weights)[1]).max(initial=0)
    if sample_weight is None or largest <= _MAX_EXPONENT:
        return sample_weight, class_weights, np.zeros(n_classes, np.int64)
    scaled, exponents = scale_by_class(sample_weight, codes, n_classes)
    totals = np.bincount(codes, scaled, minlength=n_classes)
    return scaled, totals, exponents.astype(np.int64)


def effective_rows(weights, codes, n_classes):
    """Return weights as numbers of rows, and the unit of every class.

    Those of a class sum to its effective number of rows, (sum w)^2 / sum w^2: equal weights,
    whatever they are, count every row once, and a row of weight 0 counts as absent.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,), float64
        Every class has a positive one.
    codes : ndarray of shape (n_samples,), int32
    n_classes : int

    Returns
    -------
    scaled : ndarray of shape (n_samples,), float64
    units : ndarray of shape (n_classes,), float64
        The weights are ``scaled * units[codes]``.
    """
    largest = np.zeros(n_classes)
    np.maximum.at(largest, codes, weights)
    scaled = weights / largest[codes]
    totals = np.bincount(codes, scaled, minlength=n_classes)
    factors = totals / np.bincount(codes, scaled * scaled, minlength=n_classes)
    return scaled * factors[codes], largest / factors
