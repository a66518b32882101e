"""RBF SVM on nested feature sets: squared distances grow from size to size."""

import numpy as np

from mauc.classifiers.svm.rbf_kernel import SquaredDistances


class NestedSVM:
    """Scores of RBFSVM on the first features of rankings.

    The columns are scaled once; the distances grow by the columns that a size adds, in the order
    of the ranking, so kernel matrices and machines are those of a fit on the subset, to the bit.

    Parameters
    ----------
    model : RBFSVM
        Its options are used, it is not fitted.
    train : SVMSamples
    X_test : ndarray of shape (n_test, n_features)
    response_method : {"predict_proba", "decision_function"}
    """

    def __init__(self, model, train, X_test, response_method):
        self._model, self._train, self._response = model, train.scaled, response_method
        self._indicators, self._QT = train.indicators, train.scale(X_test)

    def scores(self, ranking, sizes):
        """Yield the scores of the first k features for each k of the ascending sizes."""
        ZT, codes = self._train.ZT, self._train.codes
        within, between = SquaredDistances(ZT), SquaredDistances(self._QT, ZT)
        start = 0
        for size in sizes:
            for distances in (within, between):
                distances.add(self._indicators.columns(ranking[start:size]))
            gamma = self._model.gamma_for(ZT[self._indicators.columns(ranking[:size])], size)
            svc = self._model.make_svc("precomputed", gamma).fit(within.kernel(gamma), codes)
            kernel = between.kernel(gamma)
            if self._response == "decision_function":
                yield svc.decision_function(kernel)
            else:
                yield np.eye(self._train.n_classes)[svc.predict(kernel)]
            start = size
