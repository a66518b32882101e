"""Weights whose products leave the doubles: weights of samples in, weights in other units out."""

import numpy as np

_MAX_EXPONENT = 400  # of two, in a total of weights whose products are ordinary numbers


def scale_weights(sample_weight, codes, class_weights):
    """Scale the weights of each class by a power of two if products of them leave the doubles.

    The AUC of a class pair does not change with the units of either class, and powers of two
    change no bit of it.

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
    exponents = np.frexp(class_weights)[1].astype(np.int64)
    if sample_weight is None or (np.abs(exponents) <= _MAX_EXPONENT).all():
        return sample_weight, class_weights, np.zeros(len(class_weights), np.int64)
    scaled = np.ldexp(sample_weight, -exponents[codes])
    return scaled, np.bincount(codes, scaled, minlength=len(class_weights)), exponents
