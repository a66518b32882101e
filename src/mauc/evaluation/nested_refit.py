"""Any classifier on nested feature sets: a new fit for every size."""

from sklearn.base import clone


class NestedRefit:
    """Scores of a classifier on the first features of rankings.

    Parameters
    ----------
    fold : Fold
    classifier : classifier
        A parameter `categorical_features`, if it has one, is None or a mask of all features.
    response_method : str
        The method that gives the scores.
    """

    def __init__(self, fold, classifier, response_method):
        self._fold, self._classifier, self._response = fold, classifier, response_method

    def scores(self, ranking, sizes):
        """Yield the scores of the first k features for each k of the ascending sizes."""
        mask = self._classifier.get_params().get("categorical_features")
        for size in sizes:
            columns = ranking[:size]
            model = clone(self._classifier)
            if mask is not None and not isinstance(mask, str):
                model.set_params(categorical_features=mask[columns])
            model.fit(self._fold.X_train[:, columns], self._fold.codes_train)
            yield getattr(model, self._response)(self._fold.X_test[:, columns])
