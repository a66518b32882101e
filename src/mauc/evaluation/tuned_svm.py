"""RBF SVMs tuned per data set or fold, and size: a ranking in, MAUC out."""

from dataclasses import dataclass

import numpy as np

from mauc.checks import check_choice
from mauc.classifiers import TuningResult, tune_rbf_svm
from mauc.data.categories import learn_categories
from mauc.data.validate import check_table
from mauc.evaluation.evaluate import FoldEvaluator, check_sizes
from mauc.exceptions import MaucError

SCOPES = ("dataset", "dataset_size", "fold", "fold_size")


@dataclass(frozen=True)
class TunedScores:
    """MAUC of tuned machines, and how they were tuned.

    Parameters
    ----------
    mauc : ndarray of shape (n_sizes,)
    scope : {"dataset", "dataset_size", "fold", "fold_size"}
    tunings : tuple of TuningResult
        One for all sizes, or one per size with scopes "dataset_size" and "fold_size".
    """

    mauc: np.ndarray
    scope: str
    tunings: tuple[TuningResult, ...]


def evaluate_tuned_svm(
    ranking, sizes, X_train, y_train, X_test, y_test, *, scope="fold", tuned=None,
    response_method="predict_proba", categorical_features=None, n_jobs=None, **options,
):  # fmt: skip
    """Compute the test MAUC of a tuned `RBFSVM` on the first k features of a ranking.

    The paper tunes for every fold, size and selector, which takes too long on one machine for its
    larger data sets; the scope says how much of that is done.

    Parameters
    ----------
    ranking : array-like of int
        Columns, best first.
    sizes : array-like of int
        How many of them to use, each in [1, len(ranking)].
    X_train, X_test : array-like of shape (n_samples, n_features)
    y_train, y_test : array-like of shape (n_samples,)
    scope : {"dataset", "dataset_size", "fold", "fold_size"}, default="fold"
        The words of `mauc.experiments.TuningSpec`. "dataset" and "dataset_size" use the
        parameters of `tuned`; "fold" tunes once, on the training part and the features of the
        largest size; "fold_size" tunes on the training part for every size.
    tuned : TuningResult, or sequence of TuningResult, optional
        What `tune_rbf_svm` found on the data set; for scope "dataset" one result, for
        "dataset_size" one per size.
    response_method : {"predict_proba", "decision_function"}, default="predict_proba"
        What MAUC is computed from, in tuning and on the test part.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, column numbers or names. Columns of a data frame with a
        categorical dtype or of strings are always nominal.
    n_jobs : int, optional
        Threads. The result does not depend on it.
    **options
        Passed to `tune_rbf_svm`: the grid, ``search``, ``n_folds``, ``random_state``.

    Returns
    -------
    scores : TunedScores

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc.evaluation import evaluate_tuned_svm
    >>> X, y = load_wine(return_X_y=True)
    >>> scores = evaluate_tuned_svm(
    ...     [6, 12, 0, 9], [2, 4], X[::2], y[::2], X[1::2], y[1::2], search="coarse_to_fine"
    ... )
    >>> scores.scope, scores.tunings[0].n_evaluated
    ('fold', 20)
    """
    check_choice("scope", scope, SCOPES)
    if scope.startswith("dataset") != (tuned is not None):
        raise MaucError('tuned= is for scope="dataset" and "dataset_size" only, which need it.')
    if tuned is not None and options:
        raise MaucError(f"nothing is tuned with tuned=; leave out {', '.join(options)}.")
    if scope == "dataset" and not isinstance(tuned, TuningResult):
        raise MaucError(f'tuned= must be one TuningResult for scope="dataset", got {tuned!r}.')
    evaluator = FoldEvaluator(
        X_train, y_train, X_test, y_test, categorical_features=categorical_features, n_jobs=n_jobs
    )
    _, X_train, is_nominal = learn_categories(X_train, categorical_features)
    ranking, X_train = np.asarray(ranking), check_table(X_train)
    sizes = check_sizes(sizes, len(ranking), "the length of the ranking")

    def tune(size):
        return tune_rbf_svm(
            X_train[:, ranking[:size]], y_train,
            response_method=response_method, categorical_features=is_nominal[ranking[:size]],
            n_jobs=n_jobs, **options,
        )  # fmt: skip

    def evaluate(some_sizes, tuning):
        model = tuning.classifier()
        return evaluator.evaluate(ranking, some_sizes, model, response_method=response_method)

    if scope in ("dataset", "fold"):
        tuning = tune(max(sizes)) if tuned is None else tuned
        return TunedScores(evaluate(sizes, tuning), scope, (tuning,))
    tunings = tuple(map(tune, sizes)) if tuned is None else tuple(tuned)
    if len(tunings) != len(sizes):
        raise MaucError(f"tuned= must have one result per size ({len(sizes)}), got {len(tunings)}.")
    pairs = zip(sizes, tunings, strict=True)
    mauc = np.concatenate([evaluate([size], tuning) for size, tuning in pairs])
    return TunedScores(mauc, scope, tunings)
