"""What an evaluation is given: subset sizes, weights, the nominal columns of a classifier."""

import numpy as np

from mauc.classifiers.base import BaseClassifier
from mauc.exceptions import MaucError
from mauc.problem.nominal import flag_columns
from mauc.problem.validate import check_weights


def own_nominal(classifier, n_features, names):
    """Return the mask of the columns that a classifier's ``categorical_features`` names.

    Parameters
    ----------
    classifier : classifier
        With or without that parameter.
    n_features : int
    names : list of str, or None
    """
    own = classifier.get_params().get("categorical_features")
    if isinstance(own, str) and not isinstance(classifier, BaseClassifier):
        own = None  # no column, but a word such as "from_dtype" of scikit-learn
    return flag_columns(own, n_features, names)


def check_equal_weights(method, weights):
    """Raise unless the weights of a method that takes none are equal, where not 0.

    Parameters
    ----------
    method : estimator
        Without ``sample_weight`` in ``fit``.
    weights : ndarray of shape (n_samples,)
    """
    given = weights[weights > 0]
    if len(given) and (given != given[0]).any():
        raise MaucError(
            f"{type(method).__name__} takes no sample weights, so those that are not 0 must be "
            f"equal, got {given.min():g} to {given.max():g}; leave sample_weight out or take "
            f"a method with weights (`mauc methods` names them)."
        )


def check_width(X_test, X_train):
    """Raise unless both parts have the same number of columns."""
    if X_train.shape[1] != X_test.shape[1]:
        raise MaucError(
            f"X_test must have the {X_train.shape[1]} columns of X_train, got {X_test.shape[1]}."
        )


def drop_absent(X, y, weights):
    """Return the samples of positive weight, and their weights or None."""
    if weights is None:
        return X, y, None
    weights = check_weights(weights, X)
    is_there = weights > 0
    if not is_there.all():
        X, y, weights = np.asfortranarray(X[is_there]), y[is_there], weights[is_there]
    return X, y, None if (weights == 1.0).all() else weights


def check_sizes(sizes, n_ranked, meaning):
    """Return subset sizes as an array.

    Parameters
    ----------
    sizes : array-like of int
    n_ranked : int
        The largest size that is possible.
    meaning : str
        What `n_ranked` is, for the error message.
    """
    sizes = np.asarray(sizes)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or len(sizes) == 0:
        raise MaucError(f"sizes must be whole numbers, one or more of them, got {sizes.tolist()}.")
    if sizes.min() < 1 or sizes.max() > n_ranked:
        raise MaucError(
            f"sizes must be in [1, {n_ranked}] ({meaning}), got {sizes.min()} to {sizes.max()}."
        )
    return sizes
