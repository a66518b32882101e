"""MAUC of tuned support vector machines on the first features of a ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from mauc.checks import check_choice
from mauc.data.arguments import CategoricalFeatures, TableLike
from mauc.data.door import check_table
from mauc.data.nominal import learn_categories
from mauc.evaluation.evaluate import FoldEvaluator
from mauc.evaluation.fold import check_sizes
from mauc.exceptions import MaucError
from mauc.lab.svm_tuning import TuningResult, tune_on_features

SCOPES = ("dataset", "dataset_size", "fold", "fold_size")


@dataclass(frozen=True)
class TunedScores:
    """MAUC of tuned machines, and how they were tuned."""

    mauc: np.ndarray  #: shape (n_sizes,)
    scope: str  #: "dataset", "dataset_size", "fold" or "fold_size"
    tunings: tuple[TuningResult, ...]  #: one for all sizes, or per size with scopes "..._size"


def evaluate_tuned_svm(
    ranking: ArrayLike,
    sizes: ArrayLike,
    X_train: TableLike,
    y_train: ArrayLike,
    X_test: TableLike,
    y_test: ArrayLike,
    *,
    scope: Literal["dataset", "dataset_size", "fold", "fold_size"] = "fold",
    tuned: TuningResult | Sequence[TuningResult] | None = None,
    response_method: Literal["predict_proba", "decision_function"] = "predict_proba",
    train_weight: ArrayLike | None = None,
    test_weight: ArrayLike | None = None,
    categorical_features: CategoricalFeatures = None,
    n_jobs: int | None = None,
    **options: Any,
) -> "TunedScores":
    """Compute the test MAUC of a tuned `RBFSVM` on the first k features of a ranking.

    The paper tunes for every fold, size and selector, which takes too long on one machine for its
    larger data sets; the scope says how much of that is done.

    Parameters
    ----------
    ranking, sizes, X_train, y_train, X_test, y_test
        As in `evaluate_ranking`.
    scope : {"dataset", "dataset_size", "fold", "fold_size"}, default="fold"
        As in `mauc.experiments.TuningSpec`. "dataset" and "dataset_size" use the
        parameters of `tuned`; "fold" tunes once, on the training part and the features of the
        largest size; "fold_size" tunes on the training part for every size.
    tuned : TuningResult, or sequence of TuningResult, optional
        What `tune_rbf_svm` found on the data set; for scope "dataset" one result, for
        "dataset_size" one per size.
    response_method : {"predict_proba", "decision_function"}, default="predict_proba"
        What MAUC is computed from, in tuning and on the test part.
    train_weight, test_weight : array-like of shape (n_samples,), optional
        Sample weights, of machines and MAUC; tuning has those of the training part.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
    **options
        Passed to `tune_rbf_svm`: the grid, ``search``, ``n_folds``, ``random_state``.

    Returns
    -------
    scores : TunedScores

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc.lab import evaluate_tuned_svm
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
        X_train,
        y_train,
        X_test,
        y_test,
        train_weight=train_weight,
        test_weight=test_weight,
        categorical_features=categorical_features,
        n_jobs=n_jobs,
    )
    _, X_train, is_nominal = learn_categories(X_train, categorical_features)
    ranking, X_train = np.asarray(ranking), check_table(X_train)
    sizes = check_sizes(sizes, len(ranking), "the length of the ranking")
    given = {"response_method": response_method, "n_jobs": n_jobs, "sample_weight": train_weight}
    options |= given

    def tune(size: int) -> TuningResult:
        """Tune on the first features of the ranking."""
        return tune_on_features(
            X_train, np.asarray(y_train), ranking[:size], is_nominal, **options
        )[0]

    def evaluate(some_sizes: ArrayLike, tuning: TuningResult) -> np.ndarray:
        """Return the test MAUC of a tuned machine for some sizes."""
        model = tuning.classifier()
        return evaluator.evaluate(ranking, some_sizes, model, response_method=response_method)

    if scope in ("dataset", "fold"):
        tuning = tuned if isinstance(tuned, TuningResult) else tune(max(sizes))
        return TunedScores(evaluate(sizes, tuning), scope, (tuning,))
    each = [tuned] if isinstance(tuned, TuningResult) else tuned
    tunings = tuple(map(tune, sizes)) if each is None else tuple(each)
    if len(tunings) != len(sizes):
        raise MaucError(f"tuned= must have one result per size ({len(sizes)}), got {len(tunings)}.")
    pairs = zip(sizes, tunings, strict=True)
    mauc = np.concatenate([evaluate([size], tuning) for size, tuning in pairs])
    return TunedScores(mauc, scope, tunings)
