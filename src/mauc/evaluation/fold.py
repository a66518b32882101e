"""A fold of a problem: selectors rank its training part, judges score its test part."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from joblib import hash as hash_content
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from mauc.checks import check_choice
from mauc.classifiers.base import BaseClassifier, Indicators, NestedScores, Samples, find_categories
from mauc.classifiers.bayes import NormalNaiveBayes
from mauc.data.arguments import Classifier
from mauc.data.nominal import column_mask
from mauc.data.problem import Problem
from mauc.data.weights import PairWeights, as_counts, pair_table
from mauc.estimator import Ranker
from mauc.evaluation.judges import Split, judges_of, score_fold, split_fold
from mauc.exceptions import MaucError, MaucWarning, format_labels
from mauc.metrics.mauc import ClassPairs, score_columns

RESPONSES = ("predict_proba", "predict_log_proba", "decision_function")

Array = np.ndarray
Judge: TypeAlias = str | Classifier  # a short name of `JUDGES`, or a classifier


class Fold:
    """Training and test rows of a problem, all of weight > 0.

    Selectors rank the training part, `Problem.training_part`. Judges, those of the panel or
    classifiers, see `columns` in their order, those of a ranking; all if None. Work that sizes
    share is done once. Nothing is validated: that was done when the problem was made.
    """

    def __init__(
        self,
        problem: Problem,
        train: Array,
        test: Array,
        columns: Array | None = None,
        *,
        n_jobs: int | None = None,
    ) -> None:
        self.problem: Problem = problem
        self.train: Array = train
        self.test: Array = test
        self.n_jobs: int | None = n_jobs
        self.columns: Array = np.arange(problem.n_features) if columns is None else columns
        self._trained = np.unique(problem.codes[train])

    def on(self, columns: Array) -> "Fold":
        """Return the fold whose judges see other columns."""
        return Fold(self.problem, self.train, self.test, columns, n_jobs=self.n_jobs)

    @cached_property
    def pairs(self) -> ClassPairs:
        """The class pairs of the test rows."""
        problem, weights = self.problem, self.problem.sample_weight
        shares = problem.pair_shares
        return ClassPairs(
            problem.codes[self.test],
            np.arange(problem.n_classes),
            None if weights is None else weights[self.test],
            pair_weight=None if shares is None else pair_table(shares, problem.n_classes),
            name="a fold",
        )

    def rank(self, selector: Ranker, size: int | None = None) -> Array:
        """Return the features of a selector on the training part, best first.

        `size` is how many, by default as many as the selector says. What it says of class pairs
        holds, unless the part lacks a class.
        """
        part = self.problem.training_part(self.train)
        given = selector.fit_options.pair_weight
        has_weights = given is not None or part.pair_shares is not None
        if has_weights and part.n_classes == self.problem.n_classes:
            shares = PairWeights(given).shares(part.classes, part.class_weights)
            part = replace(part, pair_shares=shares)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MaucWarning)  # they were raised for all rows
            found: Array = selector.rank_problem(part, size).selection.features
        return found

    def scores(
        self, judge: Judge, sizes: Sequence[int], response_method: str = "auto"
    ) -> Iterable[Array]:
        """Return scores of the test rows by the first k columns, for ascending sizes k.

        A class that was not trained has 0. Response "auto" of a classifier is that of
        `response_of`.
        """
        if isinstance(judge, str):
            found: Iterable[Array] = score_fold(judge, self._split, sizes)
        else:
            found = self._classify(judge, sizes, response_method)
        if len(self._trained) == self.problem.n_classes:
            return found
        return map(self._with_all_classes, found)

    def mauc(
        self, judge: Judge, sizes: Sequence[int] | Array, response_method: str = "auto"
    ) -> Array:
        """Return the MAUC of the first k columns, (n_sizes,).

        With wishes, of the largest number up to k after which groups and what is kept are whole.
        """
        wishes = self.problem.wishes
        if wishes is not None:
            ends = np.flatnonzero(wishes.ends(self.columns)) + 1
            sizes = ends[np.maximum(np.searchsorted(ends, sizes, "right") - 1, 0)]
        distinct, positions = np.unique(sizes, return_inverse=True)
        found = self.pairs.mauc_of_each(self.scores(judge, distinct.tolist(), response_method))
        return found[positions]

    @cached_property
    def _split(self) -> Split:
        return split_fold(self.problem, self.columns, self.train, self.test, self.n_jobs)

    @cached_property
    def _table(self) -> "TrainTest":
        """What classifiers see."""
        problem, columns = self.problem, self.columns
        XT = problem.columns.floats(columns)
        parts = [XT.take(rows, axis=1).T for rows in (self.train, self.test)]
        is_infinite = np.any([np.isinf(part).any(axis=0) for part in parts], axis=0)
        for at in np.flatnonzero(is_infinite)[:1]:
            name = format_labels([problem.labels[columns[at]]])
            raise MaucError(f"X must be finite for a classifier, got infinity in feature {name}.")
        weights = problem.sample_weight
        return TrainTest(
            *parts,
            codes=np.searchsorted(self._trained, problem.codes[self.train]).astype(np.int32),
            weights=None if weights is None else as_counts(weights[self.train]),
            n_classes=len(self._trained),
            n_jobs=self.n_jobs,
        )

    def _classify(self, model: Any, sizes: Sequence[int], response_method: str) -> Iterator[Array]:
        problem, columns = self.problem, self.columns
        names = problem.feature_names
        own = own_nominal(model, problem.n_features, None if names is None else [*map(str, names)])
        is_nominal = (problem.is_nominal | own)[columns]
        if response_method == "auto":
            response_method = response_of(model)
        table, ranking = self._table, np.arange(len(columns))
        try:
            yield from table.scores(model, is_nominal, response_method, ranking, sizes)
        except MaucError:
            raise
        except Exception as error:  # the classifier is not ours and may raise anything
            name = judges_of(model)["classifier"]
            raise MaucError(f"{name} cannot be used on these data: {error}") from error

    def _with_all_classes(self, known: Array) -> Array:
        scores = np.zeros((len(known), self.problem.n_classes))
        scores[:, self._trained] = score_columns(known, "the scores").T
        return scores


class TrainTest:
    """Both parts of a fold as arrays, on which classifiers are fitted and asked.

    What depends on a single column is computed once for all rankings and sizes, and kept for every
    classifier, with its parameters, that was asked.
    """

    def __init__(
        self,
        X_train: Array,
        X_test: Array,
        *,
        codes: Array,
        weights: Array | None,
        n_classes: int,
        n_jobs: int | None,
    ) -> None:
        self.X_train: Array = X_train
        self.X_test: Array = X_test
        self.codes: Array = codes
        self.weights: Array | None = weights
        self._n_classes, self._n_jobs = n_classes, n_jobs
        self._nested: dict[tuple[type, str, str], NestedScores | None] = {}

    def scores(
        self,
        classifier: Any,
        is_nominal: Array,
        response_method: str,
        ranking: Array,
        sizes: Sequence[int] | Array,
    ) -> Iterable[Array]:
        """Return the scores of the test rows by the first k columns of a ranking, k ascending."""
        responses = [name for name in RESPONSES if hasattr(classifier, name)]
        check_choice("response_method", response_method, responses)
        # A subclass may compute something else, so it is fitted like any other classifier.
        if isinstance(classifier, BaseClassifier) and "nest" in vars(type(classifier)):
            # By content: NumPy abbreviates the representation of a long array.
            key = type(classifier), hash_content(classifier.get_params()), response_method
            if key not in self._nested:
                self._nested[key] = self._nest(classifier, is_nominal, response_method)
            if (nested := self._nested[key]) is not None:
                return nested(ranking, sizes)
        return self._refit(classifier, is_nominal, response_method, ranking, sizes)

    def _nest(
        self, classifier: BaseClassifier, is_nominal: Array, response_method: str
    ) -> NestedScores | None:
        """Return the work that a classifier shares among all rankings, or None."""
        model = clone(classifier)
        model.check_options()
        weights = self._fit_weights(model).get("sample_weight", np.ones(len(self.codes)))
        nominal = np.flatnonzero(is_nominal)
        samples = Samples(self.X_train, self.codes, weights, self._n_classes, nominal)
        return model.nest(samples, self.X_test, response_method, self._n_jobs)

    def _refit(
        self,
        classifier: Any,
        is_nominal: Array,
        response_method: str,
        ranking: Array,
        sizes: Sequence[int] | Array,
    ) -> Iterator[Array]:
        """Yield the scores of a new fit for every size."""
        weights = self._fit_weights(classifier)
        takes_nominal = "categorical_features" in classifier.get_params()
        names_some = takes_nominal and declared_nominal(classifier) is not None
        X_train, X_test, parts = self.X_train, self.X_test, None
        if is_nominal[ranking].any() and not takes_nominal:
            X_train, X_test, parts = self._with_indicators(is_nominal, ranking[: max(sizes)])
        for size in sizes:
            columns = ranking[:size] if parts is None else np.concatenate(parts[:size])
            model = clone(classifier)
            if takes_nominal and (is_nominal.any() or names_some):
                model.set_params(categorical_features=is_nominal[columns])
            model.fit(X_train[:, columns], self.codes, **weights)
            yield getattr(model, response_method)(X_test[:, columns])

    def _with_indicators(
        self, is_nominal: Array, ranking: Array
    ) -> tuple[Array, Array, list[Array]]:
        """Return both parts with indicators of nominal columns, and the columns of each feature."""
        X_train, X_test = self.X_train[:, ranking], self.X_test[:, ranking]
        nominal = np.flatnonzero(is_nominal[ranking])
        indicators = Indicators(len(ranking), find_categories(X_train, nominal))
        parts = [indicators.columns([j]) for j in range(len(ranking))]
        columns = indicators.columns(nominal)
        tables = []
        for X in (X_train, X_test):
            X = indicators.expand(X)
            X[:, columns] = np.nan_to_num(X[:, columns])
            tables.append(X)
        return tables[0], tables[1], parts

    def _fit_weights(self, classifier: Any) -> dict[str, Array]:
        """Return the weights as an argument of ``fit``, none if they would change nothing."""
        if self.weights is None:
            return {}
        if has_fit_parameter(classifier, "sample_weight"):
            return {"sample_weight": self.weights}
        steps = getattr(classifier, "steps", [("", classifier)])  # of a pipeline
        takers = [name for name, step in steps if has_fit_parameter(step, "sample_weight")]
        if takers and takers[-1] == steps[-1][0]:
            return {f"{name}__sample_weight": self.weights for name in takers}
        check_equal_weights(classifier, self.weights)
        return {}


@dataclass(frozen=True)
class Judged:
    """What judges make of a set of features per fold, on held-out samples."""

    judges: dict[str, str]  #: in words by short name
    folds: list[Fold]
    scores: dict[str, list[Array]]  #: of every judge, (n_test, n_classes) per fold

    @cached_property
    def _fold_auc(self) -> dict[str, Array]:
        """AUC of every judge on every fold and pair, NaN where the fold lacks a class."""
        return {
            judge: np.array(
                [
                    np.mean(fold.pairs.auc(score_columns(part, "the scores")), axis=0)
                    for fold, part in zip(self.folds, scores, strict=True)
                ]
            )
            for judge, scores in self.scores.items()
        }

    @cached_property
    def auc(self) -> dict[str, Array]:
        """AUC of every judge on every pair, the mean over the folds that have both classes."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a class that no fold tests
            return {judge: np.nanmean(auc, axis=0) for judge, auc in self._fold_auc.items()}

    @cached_property
    def fold_mauc(self) -> dict[str, Array]:
        """MAUC of every judge on every fold."""
        return {
            judge: np.array(
                [fold.pairs.mean(row) for fold, row in zip(self.folds, auc, strict=True)]
            )
            for judge, auc in self._fold_auc.items()
        }

    @property
    def mauc(self) -> dict[str, float]:
        """MAUC of every judge, the mean over the folds."""
        return {judge: float(found.mean()) for judge, found in self.fold_mauc.items()}

    @property
    def best(self) -> str:
        """The judge with the largest MAUC, the first of equals."""
        return max(self.mauc, key=self.mauc.__getitem__)

    def pooled(self, problem: Problem) -> dict[str, Any]:
        """Return labels, weights, groups and folds of all tested rows, for metrics."""
        rows = np.concatenate([fold.test for fold in self.folds])
        groups = None if problem.groups is None else problem.groups[rows]
        if groups is None and len(np.unique(rows)) < len(rows):
            groups = rows  # a row that several folds test counts once
        weights = problem.sample_weight
        return {
            "y_true": problem.codes[rows],
            "labels": np.arange(problem.n_classes),
            "sample_weight": None if weights is None else weights[rows],
            "groups": groups,
            "pair_weight": pair_table(problem.pair_shares, problem.n_classes),
            "folds": np.repeat(np.arange(len(self.folds)), [len(one.test) for one in self.folds]),
        }

    def best_on(self, pair: int) -> tuple[float, str]:
        """Return the largest AUC on a pair, and its judge in words."""
        name = max(self.auc, key=lambda judge: float(self.auc[judge][pair]))
        return float(self.auc[name][pair]), self.judges[name]


def ask_judges(
    problem: Problem,
    folds: Iterable[tuple[Array, Array]],
    sets: Iterable[Array],
    classifier: Classifier | None = None,
    judges: Iterable[str] | None = None,
    n_jobs: int | None = None,
) -> Judged:
    """Ask judges, by default all, about the set of features of each fold."""
    made: list[Fold] = []
    scores: dict[str, list[Array]] = {name: [] for name in judges or judges_of(classifier)}
    with threadpool_limits(1):  # the same bits on any number of cores
        for (train, test), chosen in zip(folds, sets, strict=True):
            made.append(Fold(problem, train, test, chosen, n_jobs=n_jobs))
            for name, parts in scores.items():
                judge = name if classifier is None else classifier
                parts += made[-1].scores(judge, [len(chosen)])
    return Judged(judges_of(classifier), made, scores)


def response_of(classifier: object) -> str:
    """Return what MAUC is computed from; probabilities of Naive Bayes saturate."""
    if isinstance(classifier, NormalNaiveBayes):
        return "predict_log_proba"
    return next((name for name in RESPONSES if hasattr(classifier, name)), RESPONSES[0])


def declared_nominal(classifier: Any) -> Any:
    """Return the columns that a classifier's ``categorical_features`` names, None for none."""
    own = classifier.get_params().get("categorical_features")
    # Not columns, but an option such as scikit-learn's "from_dtype".
    is_option = isinstance(own, str) and not isinstance(classifier, BaseClassifier)
    return None if is_option else own


def own_nominal(classifier: Any, n_features: int, names: list[str] | None) -> Array:
    """Return the mask of the columns that a classifier's ``categorical_features`` names."""
    return column_mask(declared_nominal(classifier), n_features, names)


def check_equal_weights(method: object, weights: np.ndarray) -> None:
    """Raise unless the weights of a method that takes none are equal, where not 0."""
    given = weights[weights > 0]
    if len(given) and (given != given[0]).any():
        raise MaucError(
            f"{type(method).__name__} takes no sample weights, so those that are not 0 must be "
            f"equal, got {given.min():g} to {given.max():g}; leave sample_weight out or take "
            f"a classifier with weights."
        )


def check_sizes(sizes: ArrayLike, n_ranked: int, meaning: str) -> np.ndarray:
    """Return subset sizes as an array; `meaning` says what the largest, `n_ranked`, is."""
    sizes = np.asarray(sizes)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or len(sizes) == 0:
        raise MaucError(f"sizes must be whole numbers, one or more of them, got {sizes.tolist()}.")
    if sizes.min() < 1 or sizes.max() > n_ranked:
        raise MaucError(
            f"sizes must be in [1, {n_ranked}] ({meaning}), got {sizes.min()} to {sizes.max()}."
        )
    return sizes
