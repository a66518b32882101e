"""How far features fall on the hard class pairs: ranks in, neglect and siren index out."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, clone

from mauc.checks import check_choice, check_int, is_int
from mauc.data.columns import default_names
from mauc.data.decomposition import Decomposition
from mauc.data.problem import Problem, make_problem
from mauc.data.validate import check_generator
from mauc.difficulty.bayes_auc import pair_bayes_auc
from mauc.difficulty.study import SirenStudy, columns_of
from mauc.engine.arrays import n_pairs_of
from mauc.exceptions import MaucError, MaucWarning, warn_user
from mauc.memory import check_memory
from mauc.parallel import run_blocks
from mauc.progress import shown, track
from mauc.registry import RELEVANCES, Accepts, make_selector
from mauc.selectors.base import RankingSelector
from mauc.selectors.lists import rank_features

if TYPE_CHECKING:
    from mauc.difficulty.study import SirenStudy, columns_of


_MAX_CHOSEN = 100  # as many as the paper looks at
_RANKED_AT_ONCE = 2**18  # scores: their copies stay small


def siren_study(
    X: ArrayLike,
    y: ArrayLike,
    *,
    relevance: str = "chi2",
    n_features: int | None = None,
    n_folds: int = 5,
    selectors: Iterable[Any] | Mapping[str, Any] | None = None,
    categorical_features: ArrayLike | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool | None = False,
) -> SirenStudy:
    """Measure how hard the class pairs are and whether the best features serve the hard ones.

    A feature that separates the easy pairs scores high on the whole problem, so a selector that
    looks at the whole problem may leave the hard pairs without features (the siren pitfall).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        NaN is a missing value. Columns of a data frame with a categorical dtype or of strings are
        nominal.
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
    categorical_features : array-like of bool, int or str, optional
        Further nominal columns, as a mask, column numbers or names. A relevance or selector that
        takes numbers only gets their codes, with a warning.
    random_state : int, RandomState instance or None, default=0
        Of the folds and the named selectors.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
    verbose : bool, default=False
        Whether to show on standard error how far it is, once it takes longer than two seconds: a
        bar on a terminal, lines elsewhere. None shows the bar only.

    Returns
    -------
    study : SirenStudy

    Notes
    -----
    The AUC of a pair is that of `mauc.classifiers.NormalNaiveBayes`, with all features and the
    samples of the two classes alone (Figure 1 of [1]_), the mean over stratified folds. The
    ranks of the best features on the pairs are Figures 2 and 3, there of 100 features by "chi2"
    and by "su". Memory is O(n_features * n_pairs), and refused if more than is free.

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
    checked.categorical_features = categorical_features
    problem = make_problem(checked, X, y, accepts=Accepts(nominal=True))
    # For what takes numbers only.
    coded = replace(problem, is_nominal=np.zeros_like(problem.is_nominal))
    ranked = problem if RELEVANCES[relevance].accepts.nominal else coded
    n_chosen = _check_n_features(n_features, problem.n_features)
    _check_memory(problem, n_chosen)
    _warn_of_codes(relevance, named, problem)
    seed = random_state
    if not is_int(seed):
        seed = check_generator(random_state).randint(2**31 - 1)
    names = problem.feature_names
    with shown("siren study", verbose=verbose):
        with shown(f"ranks by {relevance}", verbose=verbose):
            whole = Decomposition("whole", problem.n_classes)
            score = RELEVANCES[relevance].score
            lists, _ = rank_features(ranked, whole, score, n_chosen, n_jobs=n_jobs)
            feature_auc = _pair_scores(problem, "auc", n_jobs)
            scores = feature_auc
            if relevance != "auc":
                scores = _pair_scores(ranked, relevance, n_jobs)
            ranks = _ranks(scores)
        with shown("Naive Bayes", verbose=verbose):
            auc = pair_bayes_auc(problem, int(n_folds), seed, n_jobs)
        selections = {
            name: _select(
                selector, X, coded, n_chosen,
                categorical_features=categorical_features, random_state=seed, n_jobs=n_jobs,
            )
            for name, selector in track(named.items(), "selectors", len(named))
        }  # fmt: skip
    return SirenStudy(
        classes=problem.classes,
        class_counts=problem.class_counts,
        feature_names=_default_names(problem.n_features) if names is None else names,
        relevance=relevance,
        n_folds=int(n_folds),
        auc=auc,
        ranks=ranks,
        feature_auc=feature_auc,
        chosen=lists.features[0],
        selections=selections,
    )


def _pair_scores(problem: Problem, relevance: str, n_jobs: int | None) -> np.ndarray:
    """Return the relevance of all features on all pairs, shape (n_features, n_pairs)."""
    pairs = Decomposition("one-vs-one", problem.n_classes)
    scores = np.empty((problem.n_features, pairs.n_subproblems))
    parts = run_blocks(
        lambda block: RELEVANCES[relevance].score(problem, pairs, block),
        problem.blocks(pairs.n_subproblems), n_jobs,
    )  # fmt: skip
    for block, part in parts:
        scores[block] = part
    return scores


def _ranks(scores: np.ndarray) -> np.ndarray:
    """Return the rank of every feature on every pair, 1 for the largest score."""
    ranks = np.empty(scores.shape)
    width = max(1, _RANKED_AT_ONCE // len(scores))
    for first in range(0, scores.shape[1], width):
        part = slice(first, first + width)
        ranks[:, part] = rankdata(-scores[:, part], axis=0)
    return ranks


def _check_memory(problem: Problem, n_chosen: int) -> None:
    """Refuse a study that would not fit into memory."""
    n_pairs, n_features = n_pairs_of(problem.n_classes), problem.n_features
    # AUCs, scores and ranks; the roles of the classes in the pairs; ranking lists of selectors;
    # columns by class and their orders.
    n_bytes = 24 * n_features * n_pairs + 8 * n_pairs * problem.n_classes
    n_bytes += 48 * n_pairs * n_chosen + 16 * n_features * problem.n_samples
    check_memory(
        n_bytes,
        f"{problem.n_classes:,} classes, which are {n_pairs:,} class pairs, times {n_features:,} "
        "features",
        "merge classes, leave out rare ones, or take fewer features",
    )


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


def _made(selector: Any) -> Any:
    return make_selector(selector) if isinstance(selector, str) else selector


def _takes_codes(selector: Any) -> bool:
    """Whether a selector of this library takes no nominal columns."""
    made = _made(selector)
    return isinstance(made, RankingSelector) and not made.accepts.nominal


def _warn_of_codes(relevance: str, named: Mapping[str, Any], problem: Problem) -> None:
    """Name what gets the codes of nominal columns as numbers."""
    if not problem.is_nominal.any():
        return
    found = [name for name, selector in named.items() if _takes_codes(selector)]
    if not RELEVANCES[relevance].accepts.nominal:
        found.insert(0, f"relevance {relevance!r}")
    if found:
        warn_user(
            f"nominal columns are codes, in the order of their values, for {', '.join(found)}: "
            "numbers only are taken there.",
            MaucWarning,
        )


def _select(selector: Any, X: ArrayLike, coded: Problem, n_chosen: int, **options: Any) -> Any:
    """Return the columns that a selector chooses, or those of a ranking or mask."""
    y = coded.classes[coded.codes]
    takes_codes = _takes_codes(selector)
    if isinstance(selector, str):
        selector = make_selector(selector, n_chosen)
        known = selector.get_params()
        selector.set_params(**{name: options[name] for name in options if name in known})
    elif hasattr(selector, "fit"):
        selector = clone(selector)
        known = selector.get_params()
        if known.get("categorical_features", ...) is None:
            selector.set_params(categorical_features=options["categorical_features"])
    if hasattr(selector, "fit"):
        selector = selector.fit(coded.value_columns(slice(None)).T if takes_codes else X, y)
    return columns_of(selector, coded.n_features, n_chosen)


def _check_n_features(n_features: int | None, n_columns: int) -> int:
    if n_features is None:
        return min(_MAX_CHOSEN, max(1, n_columns // 2))
    if not is_int(n_features) or not 1 <= n_features <= n_columns:
        raise MaucError(
            f"n_features must be in [1, {n_columns}] (the number of features), got {n_features!r}."
        )
    return int(n_features)


def _default_names(n_features: int) -> np.ndarray:
    return np.array(default_names(range(n_features)))
