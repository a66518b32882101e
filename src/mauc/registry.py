"""The registry of methods: one entry each, with all that other parts of the library say of it.

``mauc methods``, plans, tables, figures, pages, tests and the tags of scikit-learn read these
entries. It stands outside the packages of selectors and classifiers, and a class is imported when
it is first asked for, so that ``import mauc`` and ``mauc --help`` load none.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from mauc.checks import check_choice, unknown_choice
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    import numpy as np


class Accepts(NamedTuple):
    """What a method takes besides dense, finite numbers."""

    sparse: bool = False  #: sparse matrices
    infinite: bool = False  #: infinite values
    nominal: bool = False  #: nominal columns
    missing: bool = True  #: missing values, as all methods of this library do
    sources: bool = True  #: columns that are read from files in blocks

    def names(self) -> list[str]:
        """Return the names of what not every method takes, and this one does."""
        return [
            name for name in ("sparse", "infinite", "nominal", "sources") if getattr(self, name)
        ]


@dataclass(frozen=True, kw_only=True)
class Method:
    """A selector or classifier by its short name; called, it makes one."""

    name: str  #: the short name in plans and on the command line
    class_name: str
    label: str  #: its name in tables and figures
    measure: str  #: short description: how it ranks features, or how it classifies
    accepts: Accepts  #: with its default options
    kind: Literal["selector", "classifier"] = "selector"
    home: str = "mauc"  #: the package that its class is imported from
    options: dict[str, Any] = field(default_factory=dict)  #: parameters that the short name implies
    is_in_paper: bool = False  #: whether Wang and Tang's experiments have it

    @property
    def estimator_class(self) -> Any:
        """The class, imported now."""
        return getattr(import_module(self.home), self.class_name)

    def __call__(
        self, n_features_to_select: int | float | str | None = None, **options: Any
    ) -> Any:
        """Return an unfitted estimator; an option that it does not have is refused."""
        made = self.estimator_class(**self.options)
        if n_features_to_select is not None:
            options = {"n_features_to_select": n_features_to_select, **options}
        for name in options:
            if name not in made.get_params():
                raise unknown_choice(f"option of {self.kind} {self.name}", name, made.get_params())
        return made.set_params(**options)


#: a score of every column of X for telling the labels y apart, see `SubproblemSelector`
ScoreFunction: TypeAlias = Callable[..., "np.ndarray"]


@dataclass(frozen=True, kw_only=True)
class Relevance:
    """A measure of one feature on one sub-problem.

    That of the name "su" is the function `mauc.measure.relevance.su_relevance`.
    """

    name: str  #: value of ``relevance=``, or the name of the function that is
    label: str  #: name of its scores in tables
    accepts: Accepts
    is_auc: bool = False  #: whether scores are wins divided by the largest possible wins
    is_binned: bool = False  #: whether it sees MDL bins, of which a feature may have a single one
    function: ScoreFunction | None = None  #: of a user; None for those of the package

    @cached_property
    def score(self) -> Callable[..., Any]:
        """The function ``(problem, decomposition, chosen) -> scores``, imported when asked for."""
        if self.function is not None:
            score_by = import_module("mauc.measure.score_function").score_by
            return partial(score_by, self.function)
        return getattr(import_module("mauc.measure.relevance"), f"{self.name}_relevance")


_AUC = Accepts(sparse=True, infinite=True, nominal=True)
_MOMENTS = Accepts(sparse=True)
_BINNED = Accepts(sparse=True, nominal=True)
_ORDERED = Accepts(sparse=True, infinite=True)
_FITTED = Accepts(nominal=True, sources=False)  # what compares rows
_FUNCTION = Accepts(sparse=True, missing=False)

#: values of ``relevance=`` beside functions, as editors complete them
RelevanceName = Literal["auc", "chi2", "su", "ig", "fsdd", "fisher", "anova"]

#: relevances by name; the selectors that draw from ranking lists take any of them
RELEVANCES = {
    entry.name: entry
    for entry in (
        Relevance(name="auc", label="AUC", accepts=_AUC, is_auc=True),
        Relevance(name="chi2", label="chi-square", accepts=_BINNED, is_binned=True),
        Relevance(name="su", label="symm. uncertainty", accepts=_BINNED, is_binned=True),
        Relevance(name="ig", label="information gain", accepts=_BINNED, is_binned=True),
        Relevance(name="fsdd", label="FSDD", accepts=_MOMENTS),
        Relevance(name="fisher", label="Fisher score", accepts=_MOMENTS),
        Relevance(name="anova", label="F", accepts=_MOMENTS),
    )
}


def relevance_of(given: RelevanceName | ScoreFunction) -> Relevance:
    """Return the entry of a value of ``relevance=``: of a name or, made now, of a function."""
    if callable(given):
        name = function_name(given)
        return Relevance(name=name, label=name, accepts=_FUNCTION, function=given)
    if not isinstance(given, str):
        raise MaucError(f"relevance must be a name or a function of X and y, got {given!r}.")
    return RELEVANCES[check_choice("relevance", given, RELEVANCES)]


def function_name(function: ScoreFunction) -> str:
    """Return the name of a function, that of what a partial calls, or of the class of others."""
    inner = function.func if isinstance(function, partial) else function
    return str(getattr(inner, "__name__", type(inner).__name__))


def _by_name(*entries: Method) -> dict[str, Method]:
    return {entry.name: entry for entry in entries}


#: selectors by short name, those of the paper first, in its order; new ones come last, as figures
#: give a selector its colour by its place
SELECTORS = _by_name(
    Method(
        name="mdfs",
        class_name="MDFS",
        label="MDFS",
        measure="AUC on class pairs drawn at random",
        accepts=_AUC,
        is_in_paper=True,
    ),
    Method(
        name="maucd",
        class_name="MAUCD",
        label="MAUCD",
        measure="mean AUC over the class pairs",
        accepts=_AUC,
        is_in_paper=True,
    ),
    Method(
        name="mrmr",
        class_name="MRMR",
        label="mRMR",
        measure="relevance minus redundancy",
        accepts=_BINNED,
        is_in_paper=True,
    ),
    Method(
        name="fsdd",
        class_name="FSDD",
        label="FSDD",
        measure="distance discriminant",
        accepts=_MOMENTS,
        is_in_paper=True,
    ),
    Method(
        name="schi",
        class_name="SpreadFx",
        label="SCHI",
        measure="chi-square, the classes in turn",
        accepts=_BINNED,
        options={"relevance": "chi2"},
        is_in_paper=True,
    ),
    Method(
        name="ssu",
        class_name="SpreadFx",
        label="SSU",
        measure="symmetrical uncertainty, the classes in turn",
        accepts=_BINNED,
        options={"relevance": "su"},
        is_in_paper=True,
    ),
    Method(
        name="chi",
        class_name="ChiSquare",
        label="CHI",
        measure="chi-square",
        accepts=_BINNED,
        is_in_paper=True,
    ),
    Method(
        name="su",
        class_name="SymmetricalUncertainty",
        label="SU",
        measure="symmetrical uncertainty",
        accepts=_BINNED,
        is_in_paper=True,
    ),
    Method(
        name="relieff",
        class_name="ReliefF",
        label="ReliefF",
        measure="nearest misses minus nearest hits",
        accepts=_FITTED,
        is_in_paper=True,
    ),
    Method(
        name="fisher",
        class_name="FisherScore",
        label="Fisher score",
        measure="Fisher score",
        accepts=_MOMENTS,
    ),
    Method(
        name="ig",
        class_name="InformationGain",
        label="information gain",
        measure="information gain",
        accepts=_BINNED,
    ),
    Method(
        name="anova",
        class_name="AnovaF",
        label="ANOVA F",
        measure="F of the analysis of variance",
        accepts=_MOMENTS,
    ),
    Method(
        name="fcbf",
        class_name="FCBF",
        label="FCBF",
        measure="symmetrical uncertainty, redundant features removed",
        accepts=_BINNED,
    ),
    Method(
        name="arco",
        class_name="ARCO",
        label="ARCO",
        measure="AUC minus rank correlation",
        accepts=_ORDERED,
    ),
    Method(
        name="jmi",
        class_name="JMI",
        label="JMI",
        measure="joint mutual information",
        accepts=_BINNED,
    ),
    Method(
        name="greedy",
        class_name="GreedyMAUC",
        label="GreedyMAUC",
        measure="separation of all class pairs by the set",
        accepts=_AUC,
    ),
    Method(
        name="subproblem",
        class_name="SubproblemSelector",
        label="SubproblemSelector",
        measure="any relevance on any sub-problems",
        accepts=_AUC,
    ),
    Method(
        name="consensus",
        class_name="ConsensusSelector",
        label="consensus",
        measure="a selector on halves of the samples",
        accepts=_AUC,
    ),
)

#: classifiers by short name
CLASSIFIERS = _by_name(
    Method(
        name="nb",
        class_name="NormalNaiveBayes",
        label="Naive Bayes",
        measure="normal densities",
        accepts=_FITTED,
        kind="classifier",
        home="mauc.classifiers",
        is_in_paper=True,
    ),
    Method(
        name="c45",
        class_name="C45",
        label="C4.5",
        measure="a pruned tree, as WEKA's J48",
        accepts=_FITTED,
        kind="classifier",
        home="mauc.lab",
        is_in_paper=True,
    ),
    Method(
        name="1nn",
        class_name="NearestNeighbor",
        label="1NN",
        measure="the nearest sample",
        accepts=_FITTED,
        kind="classifier",
        home="mauc.classifiers",
        is_in_paper=True,
    ),
    Method(
        name="svm",
        class_name="RBFSVM",
        label="SVM",
        measure="support vectors with a Gaussian kernel",
        accepts=_FITTED,
        kind="classifier",
        home="mauc.classifiers",
        is_in_paper=True,
    ),
)


def logistic_regression() -> Any:
    """Return scikit-learn's logistic regression behind the steps that it needs."""
    from sklearn.linear_model import LogisticRegression

    return _scaled(LogisticRegression(max_iter=1000))


def nearest_neighbors() -> Any:
    """Return scikit-learn's nearest neighbours behind the steps that they need."""
    from sklearn.neighbors import KNeighborsClassifier

    return _scaled(KNeighborsClassifier())


def support_vectors() -> Any:
    """Return scikit-learn's support vector machine behind the steps that it needs."""
    from sklearn.svm import SVC

    return _scaled(SVC())


def _scaled(classifier: Any) -> Any:
    """Return a classifier of numbers of one scale, none of which is missing, as a pipeline."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), classifier)


#: classifiers of scikit-learn by short name
PEERS = _by_name(
    Method(
        name="logistic",
        class_name="logistic_regression",
        label="logistic regression",
        measure="linear, of scaled columns without gaps",
        accepts=Accepts(sources=False),
        kind="classifier",
        home="mauc.registry",
    ),
    Method(
        name="knn",
        class_name="nearest_neighbors",
        label="5NN",
        measure="the 5 nearest samples, of scaled columns without gaps",
        accepts=Accepts(sources=False),
        kind="classifier",
        home="mauc.registry",
    ),
    Method(
        name="svc",
        class_name="support_vectors",
        label="SVC",
        measure="support vectors with a Gaussian kernel, of scaled columns without gaps",
        accepts=Accepts(sources=False),
        kind="classifier",
        home="mauc.registry",
    ),
    Method(
        name="forest",
        class_name="RandomForestClassifier",
        label="random forest",
        measure="200 random trees",
        accepts=Accepts(sources=False),
        kind="classifier",
        home="sklearn.ensemble",
        options={"n_estimators": 200, "random_state": 0},
    ),
    Method(
        name="boosting",
        class_name="HistGradientBoostingClassifier",
        label="gradient boosting",
        measure="boosted trees",
        accepts=Accepts(sources=False),
        kind="classifier",
        home="sklearn.ensemble",
        options={"random_state": 0},
    ),
)

#: short names of the paper's selectors, in its order
PAPER_SELECTORS = tuple(name for name, entry in SELECTORS.items() if entry.is_in_paper)

#: names of the selector classes, and what the classes of all methods accept by default
SELECTOR_CLASSES = tuple(dict.fromkeys(entry.class_name for entry in SELECTORS.values()))
CLASS_ACCEPTS = {
    entry.class_name: entry.accepts for entry in (*SELECTORS.values(), *CLASSIFIERS.values())
}


@cache
def accepts_of(kind: type) -> Accepts:
    """Return what a class, or its nearest ancestor in the library, accepts."""
    names = (ancestor.__name__ for ancestor in kind.__mro__)
    return next((CLASS_ACCEPTS[name] for name in names if name in CLASS_ACCEPTS), Accepts())


def make_selector(
    method: str, n_features_to_select: int | float | str | None = None, **options: Any
) -> Any:
    """Return the unfitted selector of a short name.

    Parameters
    ----------
    method : str
        A name in `SELECTORS`.
    n_features_to_select : int, float or "all", optional
        How many features; the selector's own default if not given.
    **options
        Further parameters of the selector.

    Returns
    -------
    selector : RankingSelector

    Examples
    --------
    >>> from mauc.selectors import make_selector
    >>> make_selector("schi", 5)
    SpreadFx(n_features_to_select=5)
    """
    if method not in SELECTORS:
        raise unknown_choice("selector", method, SELECTORS)
    return SELECTORS[method](n_features_to_select, **options)


def make_classifier(method: str, **options: Any) -> Any:
    """Return the unfitted classifier of a short name.

    Parameters
    ----------
    method : str
        A name in `CLASSIFIERS` or, of scikit-learn, "logistic", "knn", "svc", "forest" or
        "boosting".
    **options
        Parameters of the classifier.

    Returns
    -------
    classifier : classifier

    Examples
    --------
    >>> from mauc.classifiers import make_classifier
    >>> make_classifier("svm", C=8.0)
    RBFSVM(C=8.0)
    """
    known = CLASSIFIERS | PEERS
    if method not in known:
        raise unknown_choice("classifier", method, known)
    return known[method](**options)


def import_estimator(what: str, path: str) -> Any:
    """Return the unfitted estimator of an import path; `what` is the option that has it."""
    module, _, name = path.rpartition(".")
    try:
        made = getattr(import_module(module), name)()
        made.get_params()
    except Exception as error:  # the module is not ours and may raise anything
        raise MaucError(
            f"{what} {path!r} must be the import path of an estimator whose parameters have "
            f"defaults; it cannot be used: {error}."
        ) from error
    return made
