"""The siren pitfall: which class pairs are hard, and which selectors neglect them."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold

from mauc.checks import check_choice, check_int, is_int
from mauc.classifiers import NormalNaiveBayes
from mauc.difficulty.measures import columns_of
from mauc.difficulty.study import SirenStudy
from mauc.exceptions import MaucError
from mauc.metrics.class_pairs import ClassPairs
from mauc.parallel import run_blocks
from mauc.problem.decomposition import Decomposition
from mauc.problem.problem import Problem
from mauc.problem.validate import check_generator, make_problem
from mauc.problem.wide_columns import as_floats
from mauc.registry import RELEVANCES, Accepts, make_selector
from mauc.selectors.rankings import rank_features

_MAX_CHOSEN = 100  # as many as the paper looks at


def siren_study(
    X: ArrayLike,
    y: ArrayLike,
    *,
    relevance: str = "chi2",
    n_features: int | None = None,
    n_folds: int = 5,
    selectors: Iterable[Any] | Mapping[str, Any] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> SirenStudy:
    """Measure how hard the class pairs are and whether the best features serve the hard ones.

    A feature that separates the easy pairs scores high on the whole problem, so a selector that
    looks at the whole problem may leave the hard pairs without features (the siren pitfall).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        NaN is a missing value.
    y : array-like of shape (n_samples,)
        Class labels.
    relevance : {"auc", "chi2", "su", "ig", "fsdd", "fisher", "anova", "fast"}, default="chi2"
        What ranks the features of the whole problem and, on its samples alone, of each pair.
    n_features : int, optional
        How many of the best features of the whole problem to follow, and how many each of the
        selectors chooses; 100 by default, or half of the features if those are fewer.
    n_folds : int, default=5
        Folds of the cross-validation on a pair; no more than the smaller class has samples.
    selectors : iterable, or mapping of str to any, optional
        Selectors to compare: names as in `mauc.selectors.make_selector`, or selectors, which are
        cloned and fitted; in a mapping, whose keys become their names, also rankings and masks.
    random_state : int, RandomState instance or None, default=0
        Of the folds and the named selectors.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.

    Returns
    -------
    study : SirenStudy

    Notes
    -----
    The AUC of a pair is that of `mauc.classifiers.NormalNaiveBayes`, with all features and the
    samples of the two classes alone (Figure 1 of [1]_), the mean over stratified folds. The
    ranks of the best features on the pairs are Figures 2 and 3, there of 100 features by "chi2"
    and by "su". Memory is O(n_features * n_pairs).

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems",
       section 4.1.
    .. [2] G. Forman, "A Pitfall and Solution in Multi-Class Feature Selection for Text
       Classification", ICML 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc.difficulty.siren import siren_study
    >>> iris = load_iris()
    >>> print(siren_study(iris.data, iris.target_names[iris.target], n_features=1))
    3 class pairs; the best 1 of 4 features by chi2
    hardest pairs            AUC     neglect  shortfall
    versicolor vs virginica  0.9880  0.000    0.0000
    setosa vs versicolor     1.0000  0.167    0.0000
    setosa vs virginica      1.0000  0.167    0.0000
    siren index 0.000 (neglect 0.000 on the hardest third, 0.167 on the easiest)
    """
    check_choice("relevance", relevance, RELEVANCES)
    check_int("n_folds", n_folds, 2)
    named = _labelled(selectors)
    checked = BaseEstimator()
    problem = make_problem(checked, X, y, accepts=Accepts())
    n_chosen = _check_n_features(n_features, problem.n_features)
    seed = random_state
    if not is_int(seed):
        seed = check_generator(random_state).randint(2**31 - 1)
    whole = Decomposition("whole", problem.n_classes)
    lists, _ = rank_features(problem, whole, RELEVANCES[relevance].score, n_chosen, n_jobs=n_jobs)
    names = problem.feature_names
    feature_auc = _pair_scores(problem, "auc", n_jobs)
    scores = feature_auc if relevance == "auc" else _pair_scores(problem, relevance, n_jobs)
    return SirenStudy(
        classes=problem.classes,
        class_counts=problem.class_counts,
        feature_names=_default_names(problem.n_features) if names is None else names,
        relevance=relevance,
        n_folds=int(n_folds),
        auc=_bayes_auc(problem, int(n_folds), seed, n_jobs),
        ranks=rankdata(-scores, axis=0),
        feature_auc=feature_auc,
        chosen=lists.features[0],
        selections={
            name: _select(selector, X, y, n_chosen, seed, n_jobs)
            for name, selector in named.items()
        },
    )


def _pair_scores(problem: Problem, relevance: str, n_jobs: int | None) -> np.ndarray:
    """Return the relevance of all features on all pairs, shape (n_features, n_pairs)."""
    pairs = Decomposition("one-vs-one", problem.n_classes)
    blocks = problem.blocks(pairs.n_subproblems)
    parts = run_blocks(
        lambda block: RELEVANCES[relevance].score(problem, pairs, block), blocks, n_jobs
    )
    return np.concatenate([part for _, part in parts])


def _bayes_auc(problem: Problem, n_folds: int, seed: int, n_jobs: int | None) -> np.ndarray:
    """Return the cross-validated AUC of Naive Bayes on every pair."""
    is_float = problem.X.dtype in (np.float32, np.float64)
    X = problem.X[:, :] if is_float else as_floats(problem.X[:, :])

    # The precision of a column, and with it the density of a class, depends on the values of both
    # classes, so that nothing can be shared between pairs.
    def measure(pair: np.ndarray) -> float:
        n_splits = min(n_folds, *problem.class_counts[pair])
        if n_splits < 2:
            return np.nan
        rows = np.flatnonzero(np.isin(problem.codes, pair))
        columns, y_pair = np.ascontiguousarray(X[rows].T), problem.codes[rows]
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
        values = []
        for train, test in folds.split(rows, y_pair):
            # Taken along contiguous columns, which is how the classifier wants them.
            model = NormalNaiveBayes().fit(np.take(columns, train, axis=1).T, y_pair[train])
            probabilities = model.predict_proba(np.take(columns, test, axis=1).T)
            values.append(ClassPairs.of_test(y_pair[test], pair).mauc(probabilities))
        return float(np.mean(values))

    pairs = Decomposition("one-vs-one", problem.n_classes).members
    return np.array([auc for _, auc in run_blocks(measure, pairs, n_jobs)])


def _labelled(selectors: Iterable[Any] | Mapping[str, Any] | None) -> dict[str, Any]:
    if selectors is None:
        return {}
    if isinstance(selectors, Mapping):
        return dict(selectors)
    if isinstance(selectors, str):
        selectors = [selectors]
    labelled: dict[str, Any] = {}
    for selector in selectors:
        label = selector if isinstance(selector, str) else type(selector).__name__
        if label in labelled:
            raise MaucError(
                f"selectors must have distinct names, got {label!r} twice; give a dict."
            )
        if isinstance(selector, str):
            make_selector(selector)  # an unknown name is refused before the data are looked at
        labelled[label] = selector
    return labelled


def _select(
    selector: Any, X: ArrayLike, y: ArrayLike, n_chosen: int, seed: int, n_jobs: int | None
) -> np.ndarray:
    """Return the columns that a selector chooses, or those of a ranking or mask."""
    if isinstance(selector, str):
        selector = make_selector(selector, n_chosen)
        options = {"random_state": seed, "n_jobs": n_jobs}
        known = selector.get_params()
        selector.set_params(**{name: options[name] for name in options if name in known})
    if hasattr(selector, "fit"):
        selector = clone(selector).fit(X, y)
    return columns_of(selector, np.shape(X)[1], n_chosen)


def _check_n_features(n_features: int | None, n_columns: int) -> int:
    if n_features is None:
        return min(_MAX_CHOSEN, max(1, n_columns // 2))
    if not is_int(n_features) or not 1 <= n_features <= n_columns:
        raise MaucError(
            f"n_features must be in [1, {n_columns}] (the number of features), got {n_features!r}."
        )
    return int(n_features)


def _default_names(n_features: int) -> np.ndarray:
    return np.array([f"x{column}" for column in range(n_features)])
