"""Naive Bayes on nested feature sets by matrix products: a fold in, scores of all sizes out."""

import numpy as np

from mauc.problem.weights import scale_by_class

MIN_DEVIATION = 0.05  # of a class, relative to that of all training samples


def nested_log_probabilities(X_train, codes, X_test, n_classes, sizes, weights=None):
    r"""Yield the log-probabilities given the first k columns, for each k of the ascending sizes.

    Parameters
    ----------
    X_train, X_test : ndarray of shape (n_samples, n_features)
        Columns in the order of a ranking; NaN is a missing value.
    codes : ndarray of shape (n_train,), int32
        Classes 0 .. n_classes - 1, each present.
    n_classes : int
    sizes : sequence of int
    weights : ndarray of shape (n_train,), float64, optional
        Positive; all 1 by default.

    Yields
    ------
    scores : ndarray of shape (n_test, n_classes)

    Notes
    -----
    The log joint density of class c is a sum over the known features,

    .. math:: \log P(c) - \sum_f \Big[ \frac{(x_f - \mu_{cf})^2}{2 \sigma_{cf}^2}
              + \log \sigma_{cf} \Big],

    whose parts are products of the test matrix, of its square and of its mask with matrices of
    shape (n_features, n_classes): a thousandth of the work of single densities. Columns are
    standardised first, so that nothing cancels; a deviation is at least 1/20 of that of the whole
    column, so that a class without spread does not dominate. The order of a product's
    sums depends on the number of BLAS threads, which the caller keeps at one.
    """
    known = ~np.isnan(X_train)
    members = np.eye(n_classes)[codes].T
    if weights is None:
        counts = np.maximum(known.sum(axis=0), 1)
        center = np.where(known, X_train, 0.0).sum(axis=0, dtype=np.float64) / counts
        Z = np.where(known, X_train - center, 0.0)
        scale = np.sqrt((Z**2).sum(axis=0) / counts)
        prior = np.log(members.sum(axis=1) / len(codes))
    else:
        shares = np.ldexp(weights, -np.frexp(weights.max())[1])
        counts = _positive(shares @ known)
        center = shares @ np.where(known, X_train, 0.0) / counts
        Z = np.where(known, X_train - center, 0.0)
        scale = np.sqrt(shares @ Z**2 / counts)
        # Within a class only ratios of weights matter; between them logarithms do not overflow.
        scaled, exponents = scale_by_class(weights, codes, n_classes)
        members *= scaled
        prior = np.log(members.sum(axis=1)) + exponents * np.log(2.0)
        prior -= np.logaddexp.reduce(prior)
    scale[scale == 0.0] = 1.0
    Z /= scale
    n_known = _positive(members @ known)
    mean = (members @ Z) / n_known
    spread = np.sqrt(np.maximum((members @ Z**2) / n_known - mean**2, MIN_DEVIATION**2))
    precision = 1.0 / spread**2
    constant = mean**2 * precision / 2 + np.log(spread)
    is_given = ~np.isnan(X_test)
    is_complete = is_given.all(axis=0)
    Q = np.where(is_given, (X_test - center) / scale, 0.0)
    joint = np.tile(prior, (len(Q), 1))
    start = 0
    for size in sizes:
        part = slice(start, size)
        joint += Q[:, part] @ (mean * precision)[:, part].T
        joint -= Q[:, part] ** 2 @ (precision / 2)[:, part].T
        if is_complete[part].all():
            joint -= constant[:, part].sum(axis=1)
        else:
            joint -= is_given[:, part].astype(np.float64) @ constant[:, part].T
        odds = joint - joint.max(axis=1, keepdims=True)
        yield odds - np.log(np.exp(odds).sum(axis=1, keepdims=True))
        start = size


def _positive(sums):
    """Return sums of weights, 1 where nothing was summed: all that is divided by it is 0."""
    return np.where(sums > 0.0, sums, 1.0)
