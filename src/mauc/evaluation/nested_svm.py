"""RBF machine on nested feature sets: squared distances grow from size to size."""

import numpy as np

from mauc.classifiers.svm.rbf_kernel import SquaredDistances
from mauc.evaluation.nested_refit import NestedRefit


class NestedSVM:
    """Scores of RBFSVM on the first features of rankings.

    The columns are scaled once; the distances grow by the columns that a size adds, in the order
    of the ranking, so kernel matrices and machines are those of a fit on the subset, to the bit.
    Where RBFSVM does not precompute its kernel, it is fitted for every size.

    Parameters
    ----------
    fold : Fold
    classifier : RBFSVM
    response_method : {"predict_proba", "decision_function"}
    """

    def __init__(self, fold, classifier, response_method):
        self._fold, self._classifier, self._response = fold, classifier, response_method
        classifier.set_scale(fold.X_train)
        self._ZT, self._QT = classifier.scale(fold.X_train), classifier.scale(fold.X_test)

    def scores(self, ranking, sizes):
        """Yield the scores of the first k features for each k of the ascending sizes."""
        if not self._classifier.is_precomputed(self._ZT.shape[1]):
            yield from NestedRefit(self._fold, self._classifier, self._response).scores(
                ranking, sizes
            )
            return
        within, between = SquaredDistances(self._ZT), SquaredDistances(self._QT, self._ZT)
        start = 0
        for size in sizes:
            for distances in (within, between):
                distances.add(ranking[start:size])
            gamma = self._classifier.check_gamma(self._ZT[ranking[:size]])
            svc = self._classifier.make_svc(self._ZT.shape[1], gamma)
            svc.fit(within.kernel(gamma), self._fold.codes_train)
            kernel = between.kernel(gamma)
            if self._response == "decision_function":
                yield svc.decision_function(kernel)
            else:
                yield np.eye(len(self._fold.classes))[svc.predict(kernel)]
            start = size
