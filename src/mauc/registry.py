"""The registry of methods: one entry each, with all that other parts of the library say of it.

The list of public names, ``mauc methods``, plans, tables, figures, pages and the tags of
scikit-learn read these entries. It stands outside the packages of selectors and classifiers, and a
class is imported when it is first asked for, so that ``import mauc`` and ``mauc --help`` load none.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from typing import Any, NamedTuple

from mauc.checks import unknown_choice
from mauc.exceptions import MaucError


class Accepts(NamedTuple):
    """What a method takes besides dense, finite numbers; all take missing values and weights."""

    sparse: bool = False  #: sparse matrices
    infinite: bool = False  #: infinite values
    nominal: bool = False  #: nominal columns

    def names(self) -> list[str]:
        """Return the names of the fields that are True."""
        return [name for name, is_taken in zip(self._fields, self, strict=True) if is_taken]


@dataclass(frozen=True)
class Method:
    """A selector or classifier by its short name; called, it makes one."""

    kind: str  #: "selector" or "classifier"
    name: str  #: the short name in plans and on the command line
    label: str  #: its name in tables and figures
    class_name: str
    module: str  #: of the class
    measure: str  #: short description: how it ranks features, or how it classifies
    accepts: Accepts  #: with its default options
    options: dict[str, Any] = field(default_factory=dict)  #: parameters that the short name implies
    is_in_paper: bool = False  #: whether Wang and Tang's experiments have it

    @property
    def estimator_class(self) -> Any:
        """The class, imported now."""
        return getattr(import_module(self.module), self.class_name)

    def __call__(self, n_features_to_select: Any = None, **options: Any) -> Any:
        """Return an unfitted estimator; an option that it does not have is refused."""
        made = self.estimator_class(**self.options)
        if n_features_to_select is not None:
            options = {"n_features_to_select": n_features_to_select, **options}
        for name in options:
            if name not in made.get_params():
                raise unknown_choice(f"option of {self.kind} {self.name}", name, made.get_params())
        return made.set_params(**options)


@dataclass(frozen=True)
class Relevance:
    """A measure of one feature on one sub-problem, computed in `mauc.measure.relevance`."""

    name: str  #: value of ``relevance=``
    measure: str  #: short description
    accepts: Accepts
    label: str  #: name of its scores in tables
    reads_rows: bool = False  #: whether it reads rows, not columns, where X is row-major

    @cached_property
    def score(self) -> Callable[..., Any]:
        """The function ``(problem, decomposition, chosen) -> scores``, imported when asked for."""
        return getattr(import_module("mauc.measure.relevance"), f"{self.name}_relevance")


_AUC = Accepts(sparse=True, infinite=True, nominal=True)
_MOMENTS = Accepts(sparse=True)
_BINNED = Accepts(sparse=True, nominal=True)
_ORDERED = Accepts(sparse=True, infinite=True)
_FITTED = Accepts(nominal=True)

#: relevances by name; the selectors that draw from ranking lists take any of them
RELEVANCES = {
    row[0]: Relevance(*row)
    for row in (
        ("auc", "AUC, folded around 1/2", _AUC, "AUC"),
        ("chi2", "chi-square of MDL bins", _BINNED, "chi-square"),
        ("su", "symmetrical uncertainty of MDL bins", _BINNED, "symm. uncertainty"),
        ("ig", "information gain of MDL bins", _BINNED, "information gain"),
        ("fsdd", "distance discriminant", _MOMENTS, "FSDD", True),
        ("fisher", "Fisher score", _MOMENTS, "Fisher score", True),
        ("anova", "F of the analysis of variance", _MOMENTS, "F", True),
        ("fast", "AUC of few thresholds", _MOMENTS, "AUC"),
    )
}

_PAPER = (
    ("mdfs", "MDFS", "MDFS", "filters", "AUC on class pairs drawn at random", _AUC),
    ("maucd", "MAUCD", "MAUCD", "filters", "mean AUC over the class pairs", _AUC),
    ("mrmr", "mRMR", "MRMR", "information", "relevance minus redundancy", _BINNED),
    ("fsdd", "FSDD", "FSDD", "filters", "distance discriminant", _MOMENTS),
    (
        "schi",
        "SCHI",
        "SpreadFx",
        "filters",
        "chi-square, the classes in turn",
        _BINNED,
        {"relevance": "chi2"},
    ),
    (
        "ssu",
        "SSU",
        "SpreadFx",
        "filters",
        "symmetrical uncertainty, the classes in turn",
        _BINNED,
        {"relevance": "su"},
    ),
    ("chi", "CHI", "ChiSquare", "filters", "chi-square", _BINNED),
    ("su", "SU", "SymmetricalUncertainty", "filters", "symmetrical uncertainty", _BINNED),
    ("relieff", "ReliefF", "ReliefF", "relieff", "nearest misses minus nearest hits", _FITTED),
)
_FURTHER = (
    ("fisher", "Fisher score", "FisherScore", "filters", "Fisher score", _MOMENTS),
    ("ig", "information gain", "InformationGain", "filters", "information gain", _BINNED),
    ("anova", "ANOVA F", "AnovaF", "filters", "F of the analysis of variance", _MOMENTS),
    (
        "fcbf",
        "FCBF",
        "FCBF",
        "fcbf",
        "symmetrical uncertainty, redundant features removed",
        _BINNED,
    ),
    ("fast", "FAST", "FAST", "filters", "AUC of few thresholds", _MOMENTS),
    ("arco", "ARCO", "ARCO", "arco", "AUC minus rank correlation", _ORDERED),
    ("jmi", "JMI", "JMI", "information", "joint mutual information", _BINNED),
    (
        "greedy",
        "GreedyMAUC",
        "GreedyMAUC",
        "greedy_mauc",
        "separation of all class pairs by the set",
        _AUC,
    ),
    (
        "subproblem",
        "SubproblemSelector",
        "SubproblemSelector",
        "filters",
        "any relevance on any sub-problems",
        _AUC,
    ),
    (
        "consensus",
        "consensus",
        "ConsensusSelector",
        "consensus",
        "a selector on halves of the samples",
        _AUC,
    ),
)
_CLASSIFIERS = (
    ("nb", "Naive Bayes", "NormalNaiveBayes", "bayes", "normal densities", _FITTED),
    ("c45", "C4.5", "C45", "mauc.lab.c45.estimator", "a pruned tree, as WEKA's J48", _FITTED),
    ("1nn", "1NN", "NearestNeighbor", "nearest", "the nearest sample", _FITTED),
    ("svm", "SVM", "RBFSVM", "svm", "support vectors with a Gaussian kernel", _FITTED),
)
_PEERS = (
    (
        "logistic",
        "logistic regression",
        "logistic_regression",
        "mauc.registry",
        "linear, of scaled columns without gaps",
        Accepts(),
    ),
    (
        "knn",
        "5NN",
        "nearest_neighbors",
        "mauc.registry",
        "the 5 nearest samples, of scaled columns without gaps",
        Accepts(),
    ),
    (
        "svc",
        "SVC",
        "support_vectors",
        "mauc.registry",
        "support vectors with a Gaussian kernel, of scaled columns without gaps",
        Accepts(),
    ),
    (
        "forest",
        "random forest",
        "RandomForestClassifier",
        "sklearn.ensemble",
        "200 random trees",
        Accepts(),
        {"n_estimators": 200, "random_state": 0},
    ),
    (
        "boosting",
        "gradient boosting",
        "HistGradientBoostingClassifier",
        "sklearn.ensemble",
        "boosted trees",
        Accepts(),
        {"random_state": 0},
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


def _methods(kind: str, rows: Any, is_in_paper: bool) -> dict[str, Method]:
    made = {}
    for name, label, class_name, module, measure, accepts, *rest in rows:
        home = module if "." in module else f"mauc.{kind}s.{module}"
        options = rest[0] if rest else {}
        made[name] = Method(
            kind, name, label, class_name, home, measure, accepts, options, is_in_paper
        )
    return made


#: selectors by short name, those of the paper first, in its order
SELECTORS = _methods("selector", _PAPER, True) | _methods("selector", _FURTHER, False)

#: classifiers by short name
CLASSIFIERS = _methods("classifier", _CLASSIFIERS, True)

#: classifiers of scikit-learn by short name
PEERS = _methods("classifier", _PEERS, False)

#: short names of the paper's selectors, in its order
PAPER_SELECTORS = tuple(name for name, entry in SELECTORS.items() if entry.is_in_paper)

#: names of the selector classes, and what the classes of all methods accept by default
SELECTOR_CLASSES = tuple(dict.fromkeys(entry.class_name for entry in SELECTORS.values()))
CLASS_ACCEPTS = {
    entry.class_name: entry.accepts for entry in (*SELECTORS.values(), *CLASSIFIERS.values())
}


@cache
def accepts_of(kind: Any) -> Accepts:
    """Return what a class, or its nearest ancestor in the library, accepts."""
    names = (ancestor.__name__ for ancestor in kind.__mro__)
    return next((CLASS_ACCEPTS[name] for name in names if name in CLASS_ACCEPTS), Accepts())


def score_label(selector: Any) -> str:
    """Return the name of the scores of a selector in tables."""
    recipe = getattr(selector, "recipe", None)
    if recipe is None:  # those without one have a score of their own
        return str(getattr(selector, "score_label", "score"))
    return RELEVANCES[recipe.relevance].label


def make_selector(method: str, n_features_to_select: Any = None, **options: Any) -> Any:
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
