"""C4.5 on nested feature sets: the columns are sorted once."""

import numpy as np

from mauc.classifiers.c45.order import sort_orders
from mauc.classifiers.c45.tree import fit_tree, predict_fractions
from mauc.classifiers.nominal_columns import find_categories


class NestedTree:
    """Scores of C45 on the first features of rankings.

    Parameters
    ----------
    fold : Fold
    classifier : C45
        Its parameters are taken, it is not fitted.
    response_method : {"predict_proba"}
    """

    def __init__(self, fold, classifier, response_method):
        classifier._check_parameters()
        self._fold, self._model = fold, classifier
        X = fold.X_train
        nominal = classifier._nominal_columns(fold.n_features)
        classifier.categories_ = find_categories(X, nominal)
        self._n_values = np.zeros(fold.n_features, np.int32)
        for j, values in classifier.categories_.items():
            self._n_values[j] = len(values)
        self._XT = classifier._encode(X)
        self._QT = classifier._encode(fold.X_test)
        self._order = sort_orders(self._XT)
        self._has_missing = np.isnan(self._XT).any(axis=1)

    def scores(self, ranking, sizes):
        """Yield the leaf fractions of the first k features for each k of the ascending sizes."""
        model, n_classes = self._model, len(self._fold.classes)
        for size in sizes:
            columns = ranking[:size].astype(np.int32)
            tree = fit_tree(
                self._XT,
                self._fold.codes_train,
                n_classes,
                self._order,
                columns,
                n_values=self._n_values if self._n_values[columns].any() else None,
                has_missing=bool(self._has_missing[columns].any()),
                confidence=model.confidence,
                min_leaf=model.min_samples_leaf,
                prune=model.prune,
                raising=model.subtree_raising,
            )
            fractions = np.empty((self._QT.shape[1], n_classes))
            predict_fractions(tree, self._QT, fractions)
            yield fractions
