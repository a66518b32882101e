"""What all selectors share: ``fit`` makes a Problem, ranks K features and learns from them."""

from abc import abstractmethod
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.metadata_routing import UNUSED

from mauc.checks import check_level, is_real
from mauc.data.arguments import Classifier, Client, MatrixLike, Splits, TableLike
from mauc.data.columns import is_frame
from mauc.data.door import (
    FitOptions,
    check_columns,
    check_fitted,
    check_source,
    frame_values,
    make_problem,
    name_features,
    open_input,
)
from mauc.data.frames import needs_types, take_columns
from mauc.data.problem import Decomposition, Problem, decompose
from mauc.data.source import ColumnSource, load_columns
from mauc.data.training_rows import TrainingRows
from mauc.data.wishes import Wishes
from mauc.estimator import Ranker, with_callbacks
from mauc.exceptions import MaucError, format_labels, option
from mauc.measure.pair_auc import chosen_pair_auc
from mauc.memory import check_memory
from mauc.parallel import count_threads
from mauc.progress import progress
from mauc.registry import Accepts, accepts_of
from mauc.search.selection import Ranked, Selection
from mauc.selectors.trace import Details, SelectionTrace

if TYPE_CHECKING:
    from mauc.evaluation.certificate import Certificate
    from mauc.evaluation.select_k import SizeCurve
    from mauc.selectors.explain import Explanation

_AUTO_COPIES = 3  # of the data, while folds are taken apart
#: attributes: what a selector knows of the rows of its fit
OF_ROWS = ("_training_rows", "_explained")


@dataclass(eq=False, repr=False)
class RankingSelector(SelectorMixin, Ranker):
    """Base of the selectors: ranks features by `_rank` and keeps the first K.

    A subclass is a dataclass of its further parameters, implements ``_rank(problem, n_wanted,
    options)`` and, if it has parameters of its own, checks them in ``check_options()``, whose
    result is passed on as `options`. What input it takes is written in the registry.
    """

    n_features_to_select: int | float | str | None = None
    _: KW_ONLY
    fdr_alpha: float = 0.05
    n_jobs: int | None = None
    verbose: bool = False

    _takes_wishes = False  # whether its search knows of features that may not be chosen
    _training_rows = cast("TrainingRows | None", None)  # None after a fit on a source
    _left_out = np.empty(0, np.int64)  # columns that are dates
    _needs_process = ""  # why the method runs in this process alone, if it does
    _rarely_learned: ClassVar[tuple[str, ...]] = ("size_curve_",)  # attributes of some fits only
    # A client is not metadata of the samples, so it is not routed.
    __metadata_request__fit = {"client": UNUSED}

    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        cv: Splits | None = None,
        client: Client = None,
    ) -> Self:
        """Rank the features and select the first of them.

        Parameters
        ----------
        X : array-like, sparse matrix or source of shape (n_samples, n_features)
            Training data; the columns of a source, see `mauc.open_columns`, are read in blocks.
            Dates, times and durations in a data frame are left out with a warning, as the command
            leaves them out; a source has the columns that it was opened with.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples; every class needs a positive total. Whole numbers count rows: 2
            is the row given twice. Other weights are relative, and their scale does not matter:
            they count for as many rows as their effective number, (sum w)^2 / sum w^2.
        groups : array-like of shape (n_samples,), optional
            What rows belong to, such as a patient: rows of a group stay on one side of each split,
            where samples are cross-validated ("auto") or halved (`ConsensusSelector`).
        cv : int, splitter or iterable of splits, optional
            Folds of ``n_features_to_select="auto"``, see `mauc.select_k`.
        client : distributed.Client or str, optional
            A Dask cluster, or the address of its scheduler, such as "tcp://host:8786", whose
            workers read the columns of X, a source (`mauc.open_columns`), and rank them. The
            result is the same to the bit. A Dask collection is fitted on the cluster of the active
            client, if there is one. Metadata routing leaves it alone.

        Returns
        -------
        self : object
        """
        shown = progress(type(self).__name__, verbose=True) if self.verbose else nullcontext()
        has_callbacks = hasattr(self, "_skl_callbacks")
        reported = self._reported(X, y, sample_weight) if has_callbacks else nullcontext()
        with reported, shown:
            # A wrong option is refused before the data are looked at.
            options = self._check_fit(client)
            wanted = self._wanted_size()
            if cv is not None and not (isinstance(wanted, str) and wanted == "auto"):
                raise MaucError(
                    f'cv must be None unless n_features_to_select is "auto", got {cv!r} for '
                    f"{wanted!r}."
                )
            is_fdr = isinstance(wanted, str) and wanted == "fdr"
            if is_fdr and not (sample_weight is None and groups is None):
                raise MaucError(
                    f"sample_weight and groups must be None for "
                    f"{option('n_features_to_select', 'fdr')}, whose tests take rows as "
                    f"independent; choose a number of features."
                )
            for name in (*self._rarely_learned, *OF_ROWS):
                self.__dict__.pop(name, None)  # of an earlier fit
            X, y, sample_weight, joined = open_input(
                X, y, sample_weight, client, uses_workers=not self._needs_process
            )
            with joined as executor:
                problem = make_problem(
                    X, y, self.fit_options, sample_weight, groups, executor=executor
                )
                name_features(self, problem)
                given = {"sample_weight": sample_weight, "groups": groups, "cv": cv}
                n_wanted = self._n_wanted(
                    problem,
                    X,
                    y,
                    **{name: value for name, value in given.items() if value is not None},
                )
                self._training_rows = TrainingRows.of(problem, self.n_jobs)
                if problem.sample_weight is not None:
                    problem = problem.drop_zero_weight()
                ranked = self._rank_open(problem, n_wanted, options, is_fdr=is_fdr)
                pair_auc = ranked.pair_auc
                if pair_auc is None:
                    pair_auc = chosen_pair_auc(problem, ranked.selection.features, self.n_jobs)
            self._left_out = problem.dated
            return self._learn(problem, ranked._replace(pair_auc=pair_auc))

    def rank_problem(self, problem: Problem, n_wanted: int | None = None) -> Ranked:
        """Rank the features of a problem, such as a part of the rows, as `fit` would.

        `n_wanted` is how many, in place of ``n_features_to_select``. Nothing is learned.
        """
        if problem.is_nominal.any() and not self.accepts.nominal:
            raise MaucError(
                f"X must be numeric for {type(self).__name__}, got nominal columns "
                f"({format_labels(problem.names_of(problem.is_nominal))}); encode or drop them."
            )
        ranker, is_fdr = clone(self), False
        if n_wanted is not None:
            ranker.set_params(n_features_to_select=n_wanted)
        if n_wanted is None or problem.wishes is not None:
            n_wanted, is_fdr = ranker._n_wanted(problem, None, None), ranker._wanted_size() == "fdr"
        if problem.sample_weight is not None:
            problem = problem.drop_zero_weight()
        return ranker._rank_open(problem, n_wanted, ranker.check_options(), is_fdr=is_fdr)

    @property
    def fit_options(self) -> FitOptions:
        """What the parameters say of the data of a fit."""
        return FitOptions.of(self, self.accepts)

    def explain(
        self, feature: str | int, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "Explanation":
        """Explain why a feature was chosen, or why not.

        Parameters
        ----------
        feature : str or int
            The name of a feature, or its column.
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            What the selector was fitted on, which it does not keep. Other data are refused.
        y : array-like of shape (n_samples,)
            Class labels of the fit.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the fit.

        Returns
        -------
        explanation : Explanation
            It prints as sentences and has the facts as attributes. Of a chosen feature: its step,
            for which pair of classes it was chosen, what it added to the predicted MAUC and what
            could replace it, where the selector knows that. Of another one: its best pair and rank
            there, the chosen feature that covers it, what it would add to the MAUC that the model
            of `GreedyMAUC` predicts, and its place in the full ranking.

        Notes
        -----
        The first call measures all features, in about the time of a fit of all features; further
        calls check the data and look facts up. A selector keeps a hash of each row of its fit (of
        more than a million rows, of a million of them), by which it recognises the data. After a
        fit on a source or a sketch it has none: then the AUCs of one feature are compared.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from mauc import GreedyMAUC
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> GreedyMAUC(3).fit(X, y).explain("proline", X, y).chosen_for
        '0 vs 1'
        """
        from mauc.selectors.explain import Explainer, problem_of_fit

        explainer = Explainer(self, problem_of_fit(self, X, y, sample_weight))
        return explainer.explain(explainer.column_of(feature))

    def certificate(
        self,
        X: TableLike,
        y: ArrayLike,
        estimator: Classifier | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        cv: Splits = 5,
        level: float = 0.95,
    ) -> "Certificate":
        """Bound what leaving out the other features costs, on rows that had no say in the choice.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows that the selector was not fitted on, with all features. Where more of them are rows
            of the fit than rows repeat by chance, they are refused. After a fit on a source or a
            sketch the selector does not know its rows and cannot tell.
        y : array-like of shape (n_samples,)
            Their class labels.
        estimator : classifier, optional
            Trained in each fold on all features, and on the selected ones. By default that of the
            four kinds of `select_k` that does best with all features.
        sample_weight, groups : array-like of shape (n_samples,), optional
            As in ``fit``; rows of a group stay together, and count as one observation.
        cv : int, splitter or iterable of splits, default=5
            Folds of X, as in `select_k`.
        level : float, default=0.95
            Confidence level of the bound, which is one-sided.

        Returns
        -------
        certificate : Certificate
            It prints the bound as a sentence; ``bound`` and ``loss`` are numbers.

        Notes
        -----
        The loss is the MAUC of all features less that of the selected ones, of the same classifier
        on the same rows; the bound is that of ``compare_mauc(alternative="noninferior")`` within
        the folds. Classifiers are trained on `X`, so the loss is that for so many rows. Coverage,
        by benchmarks/coverage_certificate.py, is in docs/answers/certificate.md.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from sklearn.linear_model import LogisticRegression
        >>> from mauc import GreedyMAUC
        >>> X, y = load_digits(return_X_y=True)
        >>> selector = GreedyMAUC(40).fit(X[::2], y[::2])
        >>> model = LogisticRegression(max_iter=1000)
        >>> print(selector.certificate(X[1::2] / 16, y[1::2], model))
        Leaving out 24 of 64 features costs at most 0.005 MAUC (95 %, by LogisticRegression).
        """
        from mauc.evaluation.certificate import certify

        check_fitted(self)
        return certify(self, X, y, estimator, sample_weight, groups, cv, level)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_explained", None)  # it can be found again
        return state

    def _check_fit(self, client: Client) -> Any:
        """Return the checked options of a fit."""
        if self.n_jobs is not None:
            count_threads(self.n_jobs)
        wanted = self._wanted_size()
        if not isinstance(wanted, Integral):
            check_n_features(wanted, 1, self._size_choices)
        if type(self.fdr_alpha) is not float or not 0.0 < self.fdr_alpha < 1.0:
            check_level("fdr_alpha", self.fdr_alpha)
        if client is not None and self._needs_process:
            raise MaucError(
                f"client must be None for {type(self).__name__}, which runs in this process alone: "
                f"{self._needs_process}. Fit it in this process, on a source within its memory."
            )
        return self.check_options()

    def _learn(self, problem: Problem, ranked: Ranked) -> Self:
        """Set the learned attributes; the AUCs of the selected are known."""
        names = ranked.decomposition.names(problem.classes)
        self.classes_: np.ndarray = problem.classes
        self.decomposition_: Decomposition = ranked.decomposition
        self.subproblem_names_: list[str] = names
        self.scores_: np.ndarray = ranked.scores
        self.ranking_: np.ndarray = ranked.selection.features
        self.support_: np.ndarray = np.zeros(problem.n_features, bool)
        self.support_[self.ranking_] = True
        assert ranked.pair_auc is not None
        self.pair_auc_: np.ndarray = ranked.pair_auc
        details, wishes = ranked.details, problem.wishes
        if wishes is not None and wishes.costs is not None:
            details = {**details, "spent": wishes.spent(self.ranking_)}
        self.trace_: SelectionTrace = SelectionTrace(
            *ranked.selection,
            feature_names=problem.names_of(self.ranking_),
            subproblem_names=np.array(names)[ranked.selection.subproblems],
            details=Details(details) if details else {},
            n_classes=problem.n_classes,
        )
        return self

    @property
    def accepts(self) -> Accepts:
        """What input the selector takes, with its present options."""
        kind: type = type(self)
        return accepts_of(kind)

    @property
    def _size_choices(self) -> str:
        """What n_features_to_select may be besides numbers."""
        return '"all", "auto" or "fdr"'

    @property
    def score_label(self) -> str:
        """What tables call the scores."""
        return "score"

    def check_options(self) -> Any:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        return None

    @abstractmethod
    def _rank(self, problem: Problem, n_wanted: int, options: Any) -> Ranked:
        """Rank the features of a problem; further learned attributes may be set."""

    def _rank_open(
        self, problem: Problem, n_wanted: int, options: Any, *, is_fdr: bool = False
    ) -> Ranked:
        """Rank the features that may be chosen: no dates, and with `is_fdr` significant ones."""
        if is_fdr:
            return self._rank_among(problem, n_wanted, options, self._significant(problem))
        if len(problem.dated) == 0:
            return self._rank(problem, n_wanted, options)
        is_open = np.ones(problem.n_features, bool)
        is_open[problem.dated] = False
        return self._rank_among(problem, min(n_wanted, int(is_open.sum())), options, is_open)

    def _significant(self, problem: Problem) -> np.ndarray:
        """Return the mask of significant features, those kept, and those that belong to them."""
        from mauc.measure.pair_tests import significant_features

        wishes = problem.wishes or Wishes(np.arange(problem.n_features))
        is_wanted = significant_features(problem, self.fdr_alpha, self.n_jobs)
        return np.isin(wishes.unit_of, [*wishes.unit_of[is_wanted], *wishes.keep])

    def _rank_among(
        self, problem: Problem, n_wanted: int, options: Any, is_wanted: np.ndarray
    ) -> Ranked:
        """Rank those of the features that are wanted, fewer than `n_wanted` if they are."""
        if is_wanted.all():
            return self._rank(problem, n_wanted, options)
        wishes = problem.wishes or Wishes(np.arange(problem.n_features))
        if self._takes_wishes:  # its search knows of features that may not be chosen
            wishes = replace(wishes, unit_of=np.where(is_wanted, wishes.unit_of, -1))
            wishes.check_affordable(problem.names_of())
            n_wanted = min(n_wanted, wishes.n_available)
            return self._rank(replace(problem, wishes=wishes), n_wanted, options)
        ranked = self._rank(problem, n_wanted, options)
        n_others = int((~is_wanted[ranked.selection.features]).sum())
        if n_others > 0 and n_wanted < problem.n_features:
            n_further = min(n_wanted + int((~is_wanted).sum()), problem.n_features)
            ranked = self._rank(problem, n_further, options)
        kept = is_wanted[ranked.selection.features]
        kept &= np.cumsum(kept) <= n_wanted
        if not kept.any():  # a search that ends by itself chose others
            best = np.argmax(np.where(is_wanted, ranked.scores, -np.inf), keepdims=True)
            return single_ranking(problem, best, ranked.scores[best], ranked.scores)
        return ranked._replace(
            selection=Selection(*(part[kept] for part in ranked.selection)),
            pair_auc=None if ranked.pair_auc is None else ranked.pair_auc[kept],
            details={name: np.asarray(part)[kept] for name, part in ranked.details.items()},
        )

    def _wanted_size(self) -> int | float | str | None:
        """Return the number of features that the user wants."""
        return self.n_features_to_select

    def _n_wanted(self, problem: Problem, X: MatrixLike | None, y: Any, **given: Any) -> int:
        """Return how many features to rank; `given` are arguments of `select_k`."""
        wanted = self._wanted_size()
        if isinstance(wanted, str) and wanted == "auto":
            from mauc.evaluation.select_k import cross_validate_sizes, select_k

            self.size_curve_: SizeCurve
            if isinstance(X, ColumnSource):
                X = _load_all(X, self._size_choices)
                self.size_curve_ = select_k(self, X, y, n_jobs=self.n_jobs, **given)
            else:
                cv = given.get("cv", 5)
                self.size_curve_ = cross_validate_sizes(self, problem, cv=cv, n_jobs=self.n_jobs)
            return self.size_curve_.size
        return self._check_size(problem.n_features, problem.wishes, self._size_choices)

    def _check_size(self, n_features: int, wishes: Wishes | None, choices: str) -> int:
        """Return how many of the features that may be chosen to rank."""
        wanted = self._wanted_size()
        if wishes is None:
            return check_n_features(wanted, n_features, choices)
        if wanted is None and wishes.budget < np.inf:
            wanted = "all"
        n_wanted = check_n_features(wanted, wishes.n_available, choices)
        if n_wanted < wishes.n_kept:
            raise MaucError(
                f"{option('n_features_to_select')} must be at least {wishes.n_kept} (the features "
                f"of {option('keep')}), got {wanted}."
            )
        return n_wanted

    def transform(self, X: MatrixLike) -> Any:
        """Reduce X to the selected features, in the order of the columns.

        Parameters
        ----------
        X : array-like, sparse matrix or source of shape (n_samples, n_features)
            Of a source only the selected columns are read. Where even they are too many for the
            memory, ``source.take(selector.get_support(indices=True)).write("reduced.parquet")``
            writes them to a file.

        Returns
        -------
        X_selected : array-like of shape (n_samples, n_selected)
            A data frame if ``set_output`` asks for one. By default an array, but where selected
            columns of a data frame are nominal (a categorical dtype or strings) or dates, a frame
            of the same kind. The columns of a frame keep their types.
        """
        X, *_ = open_input(X)
        wanted = _get_output_config("transform", estimator=self)["dense"]
        if isinstance(X, ColumnSource):
            chosen = self.get_support(indices=True)
            check_source(X, self)
            return load_columns(X.take(chosen), wanted)
        # scikit-learn would ask for one type of all columns, of polars frames in any case.
        if is_frame(X):
            chosen = self.get_support(indices=True)
            check_columns(X, self)
            part = take_columns(X, chosen, wanted)
            # What the other columns hold does not matter.
            return part if wanted != "default" or needs_types(part) else frame_values(part)
        return super().transform(X)

    def _repr_html_inner(self) -> str:
        shown: str = super()._repr_html_inner()
        if hasattr(self, "trace_"):
            counts = f"{len(self.trace_):,} of {len(self.support_):,} features"
            shown += f"<p>{type(self).__name__} selected {counts}:</p>{self.trace_._repr_html_()}"
        return shown

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:  # unless scikit-learn's option display is "text"
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def _get_support_mask(self) -> np.ndarray:
        check_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        accepts = self.accepts
        tags.input_tags.sparse = accepts.sparse
        tags.input_tags.allow_nan = accepts.missing
        tags.input_tags.categorical = accepts.nominal
        return tags


def single_ranking(
    problem: Any, ranking: np.ndarray, list_scores: np.ndarray, scores: np.ndarray, **further: Any
) -> Ranked:
    """Return what one ranking of the whole problem found; `list_scores` are those when selected."""
    n_selected = len(ranking)
    selection = Selection(
        ranking, np.zeros(n_selected, np.int64), np.arange(1, n_selected + 1), list_scores
    )
    return Ranked(decompose("whole", problem.n_classes), selection, scores, **further)


def check_n_features(
    n_features_to_select: object, n_features: int, choices: str = '"all", "auto" or "fdr"'
) -> int:
    """Return how many features to select, in [1, n_features]; an error names the `choices`."""
    wanted = 0.5 if n_features_to_select is None else n_features_to_select
    if isinstance(wanted, str) and f'"{wanted}"' in choices:
        return n_features
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool):
        if not 1 <= wanted <= n_features:
            raise MaucError(
                f"{option('n_features_to_select')} must be in [1, {n_features}] (the number of "
                f"features), got {wanted}."
            )
        return int(wanted)
    if is_real(wanted):
        if not 0.0 < wanted <= 1.0:
            raise MaucError(
                f"n_features_to_select as a fraction of the features must be in (0, 1], "
                f"got {wanted}."
            )
        return max(1, round(wanted * n_features))
    raise MaucError(f"n_features_to_select must be an int, a fraction, {choices}, got {wanted!r}.")


def _load_all(source: ColumnSource, choices: str) -> Any:
    """Return all columns of a source for the search of a size, which needs rows in memory."""
    further = '"predicted", ' if "predicted" in choices else ""
    check_memory(
        _AUTO_COPIES * source.n_bytes,
        f'n_features_to_select="auto" cross-validates on rows in memory: {source.shape[0]:,} rows '
        f"of {source.shape[1]:,} columns",
        f"name a number of features, {further}or find the size on fewer rows "
        f"(source.take_rows(mask))",
    )
    return load_columns(source)
