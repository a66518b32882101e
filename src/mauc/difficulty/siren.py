"""How hard the class pairs are, and whether the features that serve them are selected."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.utils import gen_batches

from mauc.checks import check_choice, check_int, is_int
from mauc.data.columns import default_names
from mauc.data.door import FitOptions, check_fitted, check_generator, make_problem
from mauc.data.problem import Decomposition, Problem
from mauc.engine.arrays import n_pairs_of
from mauc.evaluation.fold import ask_judges
from mauc.evaluation.folds import Folds, check_cv, make_folds, warn_of_leaks
from mauc.evaluation.judges import judged_rows
from mauc.exceptions import MaucError, MaucWarning, warn_user
from mauc.layout import Layout, plain_layout
from mauc.memory import check_memory
from mauc.parallel import run_blocks
from mauc.progress import progress, track
from mauc.registry import RELEVANCES, Accepts, make_selector
from mauc.results import MAX_ROWS, Result, number, short_name
from mauc.search.lists import rank_features
from mauc.selectors.base import RankingSelector

if TYPE_CHECKING:
    import pandas as pd

_MAX_CHOSEN = 100  # as many as the paper looks at
_MAX_LISTED = 5  # pairs that are printed
_RANKED_AT_ONCE = 2**18  # scores: their copies stay small


def siren_study(
    X: ArrayLike,
    y: ArrayLike,
    *,
    relevance: str = "chi2",
    n_features: int | None = None,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    auc: ArrayLike | None = None,
    selectors: Iterable[Any] | Mapping[str, Any] | None = None,
    categorical_features: ArrayLike | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool | None = False,
) -> "SirenStudy":
    """Measure how hard the class pairs are and whether the best features serve the hard ones.

    A feature that separates the easy pairs scores high on the whole problem, so a selector that
    looks at the whole problem may leave the hard pairs without features (the siren pitfall).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        NaN is a missing value.
    y : array-like of shape (n_samples,)
        Class labels.
    relevance : {"auc", "chi2", "su", "ig", "fsdd", "fisher", "anova"}, default="chi2"
        What ranks the features of the whole problem and, on its samples alone, of each pair.
    n_features : int, optional
        How many of the best features of the whole problem to follow, and how many each of the
        selectors chooses; 100 by default, or half of the features if those are fewer.
    cv : int, splitter or iterable of splits, default=5
        Folds: their number, stratified by class, and by group where there are groups; a splitter of
        scikit-learn, which gets the labels and groups, such as GroupKFold, LeaveOneGroupOut or
        TimeSeriesSplit; or pairs of training and test rows.
    groups : array-like of shape (n_samples,), optional
        What rows belong to, such as a patient: those of a group are on one side of every split.
        The AUCs of the pairs come from them.
    auc : array-like of shape (n_pairs,), optional
        How hard the pairs are, measured elsewhere: the smaller, the harder, NaN if unknown. By
        default it is the AUC, with all features, of the best of four classifiers.
    selectors : iterable, or mapping of str to any, optional
        Selectors to compare: names as in `mauc.selectors.make_selector`, or selectors, which are
        cloned and fitted; in a mapping, whose keys become their names, also rankings and masks.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        A relevance or selector that takes numbers only gets their codes, with a warning.
    random_state : int, SeedSequence, Generator, RandomState or None, default=0
        Of the folds, if `cv` is a number, and the named selectors.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
    verbose : bool, default=False
        Whether to show on standard error how far a fit is that takes longer than two seconds.

    Returns
    -------
    study : SirenStudy

    Notes
    -----
    The classifiers are those that judge the page of a selection: Naive Bayes, a linear
    discriminant, a nearest-neighbour rule and extra trees, each on all classes. The best has the
    largest MAUC. [1]_ has Naive Bayes on the samples of each pair alone (Figure 1). The ranks of
    the best features on the pairs are Figures 2 and 3, there of 100 features by "chi2" and by
    "su". Memory is O(n_features * n_pairs), and refused if more than is free.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems",
       section 4.1.
    .. [2] G. Forman, "A Pitfall and Solution in Multi-Class Feature Selection for Text
       Classification", ICML 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc.difficulty import siren_study
    >>> iris = load_iris()
    >>> print(siren_study(iris.data, iris.target_names[iris.target], n_features=1))
    3 class pairs; the best 1 of 4 features by chi2
    AUC with all features by a linear discriminant
    hardest pairs            AUC     neglect  shortfall
    versicolor vs virginica  0.9980  0.000    0.0000
    setosa vs versicolor     1.0000  0.167    0.0000
    setosa vs virginica      1.0000  0.167    0.0000
    siren index 0.000 (neglect 0.000 on the hardest third, 0.167 on the easiest)
    """
    check_choice("relevance", relevance, RELEVANCES)
    if is_int(cv):
        check_cv(cv, 0)
    named = _labelled(selectors)
    options = FitOptions(
        Accepts(nominal=True), categorical_features=categorical_features, dates="warn"
    )
    problem = make_problem(X, y, options, None, groups)
    # For what takes numbers only.
    coded = replace(problem, is_nominal=np.zeros_like(problem.is_nominal))
    ranked = problem if RELEVANCES[relevance].accepts.nominal else coded
    n_chosen = check_int("n_features", n_features, 1, problem.n_features, optional=True)
    n_chosen = n_chosen or min(_MAX_CHOSEN, max(1, problem.n_features // 2))
    _check_memory(problem, n_chosen)
    if auc is not None:
        auc, n_pairs = np.asarray(auc), n_pairs_of(problem.n_classes)
        if auc.shape != (n_pairs,) or auc.dtype.kind not in "fiu":
            raise MaucError(
                f"auc must have {n_pairs} values, one per pair of the sorted labels, got an array "
                f"of {auc.dtype} of shape {auc.shape}."
            )
    _warn_of_codes(relevance, named, problem)
    seed = random_state
    if not is_int(seed):
        seed = check_generator(random_state).randint(2**31 - 1)
    with progress("siren study", verbose=verbose):
        with progress(f"ranks by {relevance}", verbose=verbose):
            whole = Decomposition("whole", problem.n_classes)
            score = RELEVANCES[relevance].score
            lists, _ = rank_features(ranked, whole, score, n_chosen, n_jobs=n_jobs)
            scores = feature_auc = _pair_scores(problem, "auc", n_jobs)
            if relevance != "auc":
                scores = _pair_scores(ranked, relevance, n_jobs)
            ranks = _ranks(scores)
        judge, n_folds = SirenStudy.judge, cv if is_int(cv) else 0
        if auc is None:
            with progress("classifiers", verbose=verbose):
                folds = make_folds(problem, cv, seed)
                warn_of_leaks(problem, folds)
                auc, judge = _best_auc(problem, folds, n_jobs)
                n_folds = len(folds)
        selections = {
            name: _select(
                selector,
                X,
                coded,
                n_chosen,
                categorical_features=categorical_features,
                random_state=seed,
                n_jobs=n_jobs,
            )
            for name, selector in track(named.items(), "selectors", len(named))
        }
    names = problem.feature_names
    if names is None:
        names = np.array(default_names(range(problem.n_features)))
    return SirenStudy(
        problem.classes,
        problem.class_counts,
        names,
        relevance,
        int(n_folds),
        auc,
        ranks,
        feature_auc,
        lists.features[0],
        selections,
        judge,
    )


def _best_auc(problem: Problem, folds: Folds, n_jobs: int | None) -> tuple[np.ndarray, str]:
    """Return the AUCs of the best judge of the panel with all features, and its name."""
    rows = judged_rows(problem)
    folds = [(np.intersect1d(train, rows), np.intersect1d(test, rows)) for train, test in folds]
    sets = [np.arange(problem.n_features)] * len(folds)
    judged = ask_judges(problem, folds, sets, n_jobs=n_jobs)
    return judged.auc[judged.best], judged.judges[judged.best]


@dataclass(frozen=True, eq=False, repr=False)
class SirenStudy(Result):
    """How hard every class pair is, and how features rank on it.

    Pairs of the sorted labels are in the order (0, 1), (0, 2), ..., (c-2, c-1).

    Parameters
    ----------
    classes, class_counts : ndarray of shape (n_classes,)
    feature_names : ndarray of shape (n_features,)
    relevance : str
        What ranks the features, on the whole problem and on the pairs.
    n_folds : int
    auc : ndarray of shape (n_pairs,)
        Cross-validated AUC of the judge on the pair: the smaller, the harder. NaN if a class
        has a single sample, which leaves nothing to test on.
    ranks, feature_auc : ndarray of shape (n_features, n_pairs)
        Rank of every feature on every pair, 1 for the best, ties sharing the mean; its folded AUC.
    chosen : ndarray of shape (n_chosen,)
        The best features of the whole problem by the relevance, best first.
    selections : dict of str to ndarray
        What selectors chose, best first.
    judge : str
        What `auc` belongs to, in words.

    See Also
    --------
    siren_study : Makes one.
    siren_index : The formula of `index`.
    """

    classes: np.ndarray
    class_counts: np.ndarray
    feature_names: np.ndarray
    relevance: str
    n_folds: int
    auc: np.ndarray
    ranks: np.ndarray
    feature_auc: np.ndarray
    chosen: np.ndarray
    selections: Mapping[str, np.ndarray] = field(default_factory=dict)
    judge: str = "a given measure"

    @cached_property
    def names(self) -> list[str]:
        """Names of the pairs, such as "a vs b"."""
        return Decomposition("one-vs-one", len(self.classes)).names(self.classes)

    @property
    def order(self) -> np.ndarray:
        """Pairs from the hardest to the easiest, those without an AUC last."""
        return np.argsort(self.auc, kind="stable")

    @property
    def best_auc(self) -> np.ndarray:
        """Largest folded AUC of a single feature on every pair."""
        return np.asarray(self.feature_auc.max(axis=0))

    @property
    def index(self) -> float:
        """Siren index of the best features of the whole problem."""
        return siren_index(self.chosen, self)

    def neglect(self, selection: Any = None) -> np.ndarray:
        """Return how far down every pair ranks the chosen features, from 0, its best, to 1.

        `selection` is a fitted selector, a ranking or a mask, by default the best of the whole
        problem.
        """
        columns = self._columns(selection)
        n_left = len(self.ranks) - len(columns)
        if n_left == 0:
            return np.zeros(len(self.auc))
        best = (len(columns) + 1) / 2
        return np.asarray((self.ranks[columns].mean(axis=0) - best) / n_left).clip(0.0, 1.0)

    def shortfall(self, selection: Any = None) -> np.ndarray:
        """Return how much AUC the best single feature of every pair has over the best chosen."""
        chosen_auc = self.feature_auc[self._columns(selection)].max(axis=0)
        return np.asarray(self.best_auc - chosen_auc)

    def weights(self, third: str) -> np.ndarray:
        """Return the weight of every pair in the mean over the third "hard" or "easy"."""
        return third_weights(self.auc if third == "hard" else -self.auc)

    def frame_columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`: one row per pair, the hardest first."""
        first, second = np.triu_indices(len(self.classes), 1)
        chosen_auc = self.feature_auc[self.chosen]
        columns = {
            "pair": np.array(self.names, object),
            "class_i": self.classes[first],
            "class_j": self.classes[second],
            "n_i": self.class_counts[first],
            "n_j": self.class_counts[second],
            "auc": self.auc,
            "third": self._thirds(),
            "neglect": self.neglect(),
            "mean_rank": self.ranks[self.chosen].mean(axis=0),
            "best_auc": self.best_auc,
            "best_feature": self.feature_names[self.feature_auc.argmax(axis=0)],
            "chosen_auc": chosen_auc.max(axis=0),
            "chosen_feature": self.feature_names[self.chosen[chosen_auc.argmax(axis=0)]],
            "shortfall": self.shortfall(),
        }
        return {name: values[self.order] for name, values in columns.items()}

    def plot(self, ax: Any = None, *, order: str = "difficulty") -> Any:
        """Draw the study; return its `mauc.plotting.SirenDisplay`, which explains the options."""
        # By name: plots build on studies, not the other way round.
        return import_module("mauc.plotting").SirenDisplay(self).plot(ax, order=order)

    def comparison(self) -> "pd.DataFrame":
        """Compare the selectors by what they leave to the hard pairs.

        One row per selector: its number of features, siren index, mean neglect of the hardest
        (``hard``) and easiest third of the pairs (``easy``), mean shortfall on the hardest, and its
        worst pair.
        """
        import pandas as pd

        if not self.selections:
            raise MaucError("there must be selectors to compare: pass siren_study selectors=.")
        rows = [{"selector": name, **self._measures(one)} for name, one in self.selections.items()]
        return pd.DataFrame(rows)

    def printed_parts(self) -> list[str | Layout]:
        """Return the hardest pairs, the index, and the selectors if there are any."""
        if len(self.auc) == 1:
            return [
                f"{short_name(self.names[0])}: AUC {number(self.auc[0])} with all features by "
                f"{self.judge}; with two classes there is nothing to neglect, and no selector to "
                f"compare: the study needs three or more"
            ]
        neglect, shortfall = self.neglect(), self.shortfall()
        pairs = [
            [
                short_name(self.names[pair]),
                number(self.auc[pair]),
                number(neglect[pair], ".3f"),
                number(shortfall[pair]),
            ]
            for pair in self.order[:_MAX_LISTED]
        ]
        easy, hard = (float(self.weights(third) @ neglect) for third in ("easy", "hard"))
        parts: list[str | Layout] = [
            f"{len(self.auc)} class pairs; the best {len(self.chosen)} of {len(self.ranks)} "
            f"features by {self.relevance}",
            f"AUC with all features by {self.judge}",
            plain_layout(["hardest pairs", "AUC", "neglect", "shortfall"], pairs, len(self.auc)),
            f"siren index {self.index:z.3f} (neglect {hard:.3f} on the hardest third, "
            f"{easy:.3f} on the easiest)",
        ]
        if self.selections:
            parts.append(self._selector_table())
        return parts

    def _selector_table(self) -> Layout:
        heads = ["index", "hard", "easy", "shortfall"]
        forms = [".3f", ".3f", ".3f", ".4f"]
        rows = []
        for name, chosen in list(self.selections.items())[:MAX_ROWS]:
            measures = self._measures(chosen)
            cells = [number(measures[key], form) for key, form in zip(heads, forms, strict=True)]
            rows.append([short_name(name), *cells])
        return plain_layout(["selector", *heads], rows, len(self.selections))

    def _measures(self, selection: np.ndarray) -> dict[str, Any]:
        hard, neglect = self.weights("hard"), self.neglect(selection)
        return {
            "n_features": len(selection),
            "index": siren_index(selection, self),
            "hard": float(hard @ neglect),
            "easy": float(self.weights("easy") @ neglect),
            "shortfall": float(hard @ self.shortfall(selection)),
            "worst_pair": self.names[int(np.argmax(np.where(hard > 0, neglect, -1.0)))],
        }

    def _thirds(self) -> np.ndarray:
        is_hard, is_easy = (self.weights(third) > 0 for third in ("hard", "easy"))
        # A pair in both has so many ties that the thirds overlap.
        cases = [np.isnan(self.auc), is_hard & ~is_easy, is_easy & ~is_hard]
        return np.select(cases, ["unknown", "hard", "easy"], "middle")

    def _columns(self, selection: Any) -> np.ndarray:
        return self.chosen if selection is None else columns_of(selection, len(self.ranks))


def siren_index(selection: Any, study: "SirenStudy", *, n_features: int | None = None) -> float:
    """Return how much more a selection neglects the hard class pairs than the easy ones.

    Parameters
    ----------
    selection : fitted selector, ranking or mask
        A selector that was fitted on the features of the study, the numbers of columns in order,
        or a mask of the columns.
    study : SirenStudy
        Of the same data.
    n_features : int, optional
        Take only the first of a ranking. What has no order is taken whole.

    Returns
    -------
    index : float
        In [0, 1]. 0 if the hard pairs are served no worse than the easy ones, 1 if the easy ones
        get their best features and the hard ones their worst. NaN if no pair could be measured.

    See Also
    --------
    SirenStudy.comparison : The index of several selectors and the two means it is made of.

    Notes
    -----
    A pair is neglected by the probability that a feature which was left out outranks a chosen one
    on it. The index is the mean over the hardest third of the pairs, by the AUC of the judge,
    less that over the easiest (docs/methods/measures.md). Random draws also have an index about 0,
    for they neglect all pairs alike: look at the mean over the hardest third as well.

    Examples
    --------
    >>> from mauc import MAUCD, MDFS
    >>> from mauc.datasets import make_siren
    >>> from mauc.difficulty import siren_index, siren_study
    >>> data = make_siren()
    >>> study = siren_study(data.X, data.y, relevance="auc")
    >>> round(siren_index(MAUCD(5).fit(data.X, data.y), study), 3)
    0.28
    >>> round(siren_index(MDFS(5, random_state=0).fit(data.X, data.y), study), 3)
    0.0
    """
    neglect = study.neglect(columns_of(selection, len(study.ranks), n_features))
    difference = (study.weights("hard") - study.weights("easy")) @ neglect
    return float(np.maximum(0.0, difference))  # unlike max, np.maximum propagates NaN


def third_weights(difficulty: np.ndarray) -> np.ndarray:
    """Return weights, summing to 1, of a mean over the smallest third; NaN gets none.

    A third of five numbers is two: the smallest, and one shared by the two that come next.

    >>> third_weights(np.array([0.9, 0.6, 0.7, 0.7, 1.0]))
    array([0.  , 0.5 , 0.25, 0.25, 0.  ])
    """
    known = np.sort(difficulty[~np.isnan(difficulty)])
    if len(known) == 0:
        return np.full(len(difficulty), np.nan)
    n_third = -(-len(known) // 3)
    is_inside = difficulty < known[n_third - 1]
    is_edge = difficulty == known[n_third - 1]
    n_left = n_third - is_inside.sum()
    return np.asarray((is_inside + is_edge * (n_left / is_edge.sum())) / n_third)


def columns_of(selection: Any, n_columns: int, n_features: int | None = None) -> np.ndarray:
    """Return the columns of a fitted selector, a ranking or a mask."""
    if isinstance(selection, RankingSelector):
        check_fitted(selection)
        selection = selection.ranking_
    elif hasattr(selection, "get_support"):
        selection = selection.get_support()
    columns = np.asarray(selection)
    if columns.dtype == bool and columns.shape == (n_columns,):
        columns, n_features = np.flatnonzero(columns), None
    if columns.ndim != 1 or columns.dtype.kind not in "iu" or len(columns) == 0:
        raise MaucError(
            f"a selection must be a fitted selector, column numbers or a mask of {n_columns} "
            f"columns with one at least, got {selection!r}."
        )
    if columns.min() < 0 or columns.max() >= n_columns or len(np.unique(columns)) < len(columns):
        raise MaucError(
            f"a selection must hold distinct columns in [0, {n_columns - 1}], got {selection!r}."
        )
    return columns[:n_features]


def _pair_scores(problem: Problem, relevance: str, n_jobs: int | None) -> np.ndarray:
    """Return the relevance of all features on all pairs, shape (n_features, n_pairs)."""
    pairs = Decomposition("one-vs-one", problem.n_classes)

    scores = np.empty((problem.n_features, pairs.n_subproblems))
    parts = run_blocks(
        lambda block: RELEVANCES[relevance].score(problem, pairs, block),
        problem.blocks(pairs.n_subproblems),
        n_jobs,
    )
    for block, part in parts:
        scores[block] = part
    return scores


def _ranks(scores: np.ndarray) -> np.ndarray:
    """Return the rank of every feature on every pair, 1 for the largest score."""
    ranks = np.empty(scores.shape)
    for part in gen_batches(scores.shape[1], max(1, _RANKED_AT_ONCE // len(scores))):
        ranks[:, part] = rankdata(-scores[:, part], axis=0)
    return ranks


def _check_memory(problem: Problem, n_chosen: int) -> None:
    """Refuse a study that would not fit into memory."""
    n_pairs, n_features = n_pairs_of(problem.n_classes), problem.n_features
    # AUCs, scores and ranks; the roles of the classes in the pairs; ranking lists of selectors;
    # the table as the judges read it.
    n_bytes = 24 * n_features * n_pairs + 8 * n_pairs * problem.n_classes
    n_bytes += 48 * n_pairs * n_chosen + 16 * n_features * problem.n_samples
    check_memory(
        n_bytes,
        f"{problem.n_classes:,} classes, which are {n_pairs:,} class pairs, times {n_features:,} "
        "features",
        "merge classes, leave out rare ones, or take fewer features",
    )


def _labelled(selectors: Iterable[Any] | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the selectors by name."""
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
                f"selectors must have distinct names, got {label!r} twice; pass a dict."
            )
        if isinstance(selector, str):
            make_selector(selector)  # an unknown name is refused before the data are looked at
        labelled[label] = selector
    return labelled


def _takes_codes(selector: Any) -> bool:
    """Whether a selector of this library takes no nominal columns."""
    made = make_selector(selector) if isinstance(selector, str) else selector
    return isinstance(made, RankingSelector) and not made.accepts.nominal


def _warn_of_codes(relevance: str, named: Mapping[str, Any], problem: Problem) -> None:
    """Warn about selectors that get the codes of nominal columns as numbers."""
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
        if isinstance(selector, RankingSelector):
            selector.set_params(n_features_to_select=n_chosen)
        if known.get("categorical_features", ...) is None:
            selector.set_params(categorical_features=options["categorical_features"])
    if hasattr(selector, "fit"):
        is_ours = isinstance(selector, RankingSelector)
        given = {"groups": coded.groups} if is_ours and coded.groups is not None else {}
        X = coded.value_columns(slice(None)).T if takes_codes else X
        selector = selector.fit(X, y, **given)
    return columns_of(selector, coded.n_features, n_chosen)
