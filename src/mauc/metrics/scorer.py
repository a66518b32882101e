"""MAUC as a scikit-learn scorer: estimator, X, y in, MAUC out."""

import numpy as np
from sklearn.base import BaseEstimator

from mauc.data.validate import check_no_missing_label
from mauc.exceptions import MaucError, listed
from mauc.metrics.mauc import mauc_score

RESPONSES = ("predict_proba", "decision_function")


class MAUCScorer(BaseEstimator):
    """Score a fitted classifier by the MAUC of its probabilities or decision values.

    Unlike a scorer made by ``make_scorer``, it knows the classes of the classifier, so a fold
    that lacks a class is scored on the pairs that are present.

    Parameters
    ----------
    response_method : {"predict_proba", "decision_function"} or tuple, \
            default=("predict_proba", "decision_function")
        Where the scores come from: the first of these that the classifier has.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from mauc import MDFS, mauc_scorer
    >>> X, y = load_wine(return_X_y=True)
    >>> pipeline = make_pipeline(MDFS(4, random_state=0), GaussianNB())
    >>> cross_val_score(pipeline, X, y, scoring=mauc_scorer).mean().round(3)
    np.float64(0.994)
    """

    def __init__(self, response_method=RESPONSES):
        self.response_method = response_method

    def score(self, estimator, X, y, sample_weight=None):
        """Return the MAUC of the estimator's scores of X."""
        check_no_missing_label(y)
        methods = self.response_method
        methods = (methods,) if isinstance(methods, str) else methods
        for method in methods:
            if hasattr(estimator, method):
                scores = getattr(estimator, method)(X)
                unseen = np.setdiff1d(y, estimator.classes_)
                if len(unseen):
                    raise MaucError(
                        f"y must hold only classes that {type(estimator).__name__} has seen in "
                        f"fit, got also {listed(unseen)}."
                    )
                return mauc_score(y, scores, labels=estimator.classes_, sample_weight=sample_weight)
        raise MaucError(
            f"{type(estimator).__name__} must have {' or '.join(methods)} to be scored by MAUC."
        )

    __call__ = score


mauc_scorer = MAUCScorer()
