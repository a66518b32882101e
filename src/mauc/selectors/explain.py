"""Why a feature was chosen, or why not: facts about all features at once, told in sentences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.base import clone

from mauc.checks import is_int, unknown_choice
from mauc.data.arguments import TableLike
from mauc.data.columns import default_names
from mauc.data.door import check_fitted, make_problem, open_input
from mauc.data.problem import Decomposition, Problem
from mauc.data.training_rows import TrainingRows
from mauc.data.weights import pair_mean
from mauc.exceptions import MaucError
from mauc.measure.pair_auc import chosen_pair_auc
from mauc.memory import check_memory
from mauc.results import Result, measure_name, plural, short_name
from mauc.search.alternatives import effect_scale, model_shares, residual_effects
from mauc.search.greedy import SearchState, condition_on
from mauc.search.prediction import Prediction
from mauc.selectors.base import RankingSelector
from mauc.selectors.greedy_mauc import GreedyMAUC, measure_state

MAX_EXPLAINED = 2000  # features of a page
_MAX_PLACES = 2000  # of the full ranking in which a feature is looked up
_MAX_WORK = 2**25  # features times places: a greedy search compares all features at each
MIN_COVERED = 0.3  # correlation below which a feature is not called covered
_MIN_ADDED = 0.00005  # of MAUC: it is printed as 0.0000
_MAX_NAMED = 3  # pairs that a sentence names
_BLOCK = 1024  # features at a time


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """Why a feature was chosen, or why not; made by the method ``explain`` of a fitted selector.

    It prints as sentences. What is not known, or does not apply, is None or empty.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import GreedyMAUC
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = GreedyMAUC(3).fit(X, y)
    >>> found = selector.explain("proline", X, y)
    >>> found.step, found.chosen_for
    (3, '0 vs 1')
    >>> selector.explain("total_phenols", X, y).covered_by
    'flavanoids'
    """

    feature: str  #: its name
    column: int  #: its number
    status: str  #: "chosen", "not chosen", "excluded", "constant" or "left out" (dates)
    n_features: int  #: of the data
    n_selected: int  #: of the selection
    n_classes: int
    best_pair: str  #: the pair of classes that it separates best by itself
    best_auc: float  #: its AUC there, folded around 1/2
    best_rank: int  #: among all features there, 1 for the largest AUC
    step: int | None = None  #: at which it was chosen
    chosen_for: str | None = None  #: pair of classes, or class, that asked for it
    added: float | None = None  #: to the predicted MAUC, when it was chosen
    predicted_mauc: float | None = None  #: of the features up to it, or of all chosen ones
    #: pairs on which no other chosen feature has a larger AUC, those of ties among them
    serves: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()  #: features that could replace it
    replacement: str = ""  #: the same as a sentence, with the predicted loss
    covered_by: str | None = None  #: the chosen feature that it resembles most
    correlation: float | None = None  #: of both, within the classes, of normal scores
    would_add: float | None = None  #: to the predicted MAUC of the chosen features
    place: int | None = None  #: in the full ranking: the size at which it would come
    n_ranked: int | None = None  #: places of that ranking that were looked at; None if unknown

    @property
    def sentences(self) -> list[str]:
        """The explanation in sentences."""
        name, measure, parts = short_name(self.feature), measure_name(self.n_classes), []
        if self.status == "excluded":
            parts.append(f"{name} was excluded beforehand.")
        elif self.status == "left out":
            parts.append(f"{name} was left out: it holds dates or durations.")
        elif self.status == "constant":
            parts.append(f"{name} was not chosen: it is constant, and tells no classes apart.")
        elif self.step is None:
            parts.append(f"{name} was not chosen.")
        else:
            asked = "" if self.chosen_for is None else f" for {short_name(self.chosen_for)}"
            parts.append(f"{name} was chosen at step {self.step} of {self.n_selected}{asked}.")
        if self.added is not None and self.predicted_mauc is not None:
            verb = "added" if self.added >= 0 else "took"
            word = "to" if self.added >= 0 else "from"
            parts.append(
                f"It {verb} {abs(self.added):.4f} {word} the predicted {measure}, which is then "
                f"{self.predicted_mauc:.4f}."
            )
        if self.status not in ("constant", "left out"):
            where = "Its" if self.n_classes == 2 else f"Its best pair is {self.best_pair}:"
            auc = min(self.best_auc, 0.999) if self.best_auc < 1 else 1.0  # not rounded up to 1
            parts.append(
                f"{where} AUC {'is ' * (self.n_classes == 2)}{auc:.3f}, rank "
                f"{self.best_rank:,} of {self.n_features:,} features."
            )
        if self.serves and self.n_classes > 2:
            more = len(self.serves) - _MAX_NAMED
            pairs = ", ".join(map(short_name, self.serves[:_MAX_NAMED]))
            more_pairs = f" and {more:,} more" if more > 0 else ""
            parts.append(f"Of the chosen features it serves best {pairs}{more_pairs}.")
        if self.replacement:
            parts.append(f"{self.replacement}.")
        return parts + self._why_not()

    def _why_not(self) -> list[str]:
        """Return what holds of a feature that was not chosen."""
        parts = []
        if self.covered_by is not None and self.correlation is not None:
            by = f"{short_name(self.covered_by)} (correlation {self.correlation:z.2f})"
            if abs(self.correlation) >= MIN_COVERED:
                parts.append(f"It is covered by {by}.")
            else:
                parts.append(f"No chosen feature covers it; the nearest is {by}.")
        if self.would_add is not None:
            little = self.would_add < _MIN_ADDED
            what = "less than 0.0001" if little else f"about {self.would_add:.4f}"
            # The prediction of the larger set also takes chance off, and may be lower.
            parts.append(
                f"Before chance is taken off, it would add {what} to the predicted "
                f"{measure_name(self.n_classes)} of {self.predicted_mauc:.4f}."
            )
        if self.place is not None:
            parts.append(f"In the full ranking it comes at size {self.place:,}.")
        elif self.n_ranked is not None:
            parts.append(f"It is not among the first {self.n_ranked:,} features of the ranking.")
        return parts

    def frame_columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`: one row with all fields."""
        return {one.name: [getattr(self, one.name)] for one in fields(self)}

    def printed_parts(self) -> list[Any]:
        """Return the sentences."""
        return list(self.sentences)


class Explainer:
    """Facts about all features of the problem that a selector was fitted on.

    What takes long is measured once and kept with the selector, if it knows its rows again.
    """

    def __init__(
        self, selector: RankingSelector, problem: Problem, names: Sequence[str] | None = None
    ):
        self.selector: RankingSelector = selector
        self.problem: Problem = problem.drop_zero_weight()
        if names is None:
            names = getattr(selector, "feature_names_in_", None)
        if names is None:
            names = default_names(range(problem.n_features))
        self.names: list[str] = [str(name) for name in names]
        self._pairs = Decomposition("one-vs-one", problem.n_classes).names(problem.classes)
        self._steps = {int(f): at for at, f in enumerate(selector.ranking_)}
        self._known: dict[str, Any] = {}
        if selector._training_rows is not None:
            self._known = selector.__dict__.setdefault("_explained", {})

    def _once(self, measure: Callable[[], Any]) -> Any:
        """Return what a method finds, measured when it is first asked for."""
        if measure.__name__ not in self._known:
            self._known[measure.__name__] = measure()
        return self._known[measure.__name__]

    def column_of(self, feature: str | int) -> int:
        """Return the column of a feature by name or number; the error names the nearest."""
        if is_int(feature):
            if not 0 <= feature < len(self.names):
                raise MaucError(
                    f"feature must be in [0, {len(self.names) - 1}] (a column), got {feature}."
                )
            return int(feature)
        if feature not in self.names:
            raise unknown_choice("feature", feature, self.names)
        return self.names.index(feature)

    def _alone(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the best pair of every feature, its AUC and its rank there."""
        problem = self.problem
        n_bytes = 8 * problem.n_features * len(self._pairs)
        check_memory(
            n_bytes,
            f"the AUCs of {problem.n_features:,} features on {len(self._pairs):,} pairs",
            "explain a selection from fewer features",
        )
        auc = chosen_pair_auc(problem, np.arange(problem.n_features), self.selector.n_jobs)
        pairs = auc.argmax(axis=1)
        best = auc[np.arange(len(auc)), pairs]
        ranks = np.empty(len(auc), np.int64)
        for pair in np.unique(pairs):
            mine, ordered = pairs == pair, np.sort(auc[:, pair])
            ranks[mine] = 1 + len(auc) - np.searchsorted(ordered, best[mine], "right")
        return pairs, best, ranks

    def _given(self) -> dict[str, Any]:
        """Return what features are given the chosen ones, by the model of `GreedyMAUC`."""
        selector, problem, ranking = self.selector, self.problem, self.selector.ranking_
        model = selector if isinstance(selector, GreedyMAUC) else GreedyMAUC()
        state = measure_state(model, problem, len(ranking), selector.n_jobs)
        varies = state.varies.copy()
        nearest, correlation = _nearest_chosen(state, ranking)
        chosen = ranking[varies[ranking]]
        condition_on(state, ranking)
        n_steps = np.minimum(np.arange(1, len(ranking) + 1), len(chosen))
        predicted = getattr(selector, "predicted_mauc_", None)
        if predicted is None:
            predicted = Prediction(state.leave(), n_steps).mauc
        gains = np.zeros(problem.n_features)
        others = np.flatnonzero(varies & ~selector.support_)
        if len(chosen):
            shares = model_shares(state)
            scale = effect_scale(state.slopes[: len(chosen)], float(predicted[-1]), shares)
            whole = scale**2 * (state.slopes[: len(chosen)] ** 2).sum(axis=0)
            before = pair_mean(ndtr(np.sqrt(whole / 2.0)), shares)
            for start in range(0, len(others), _BLOCK):
                block = others[start : start + _BLOCK]
                effects, variances = residual_effects(state, len(chosen), block)
                after = whole + (scale * effects) ** 2 / variances[:, np.newaxis]
                gains[block] = pair_mean(ndtr(np.sqrt(after / 2.0)), shares) - before
        return {
            "varies": varies,
            "nearest": nearest,
            "correlation": correlation,
            "gains": gains,
            "predicted": float(predicted[-1]),
        }

    def _places(self) -> dict[int, int]:
        """Return places in the full ranking, by column, if it begins with the chosen features."""
        selector, wishes = self.selector, self.problem.wishes
        if hasattr(selector, "n_resamples"):  # a consensus is many fits
            return {}
        n_most = self.problem.n_features if wishes is None else wishes.n_available
        n_places = min(_MAX_PLACES, max(_MAX_WORK // self.problem.n_features, 1))
        n_wanted = max(min(n_most, n_places), len(selector.ranking_))
        again = clone(selector).set_params(n_features_to_select=n_wanted)
        if hasattr(again, "budget"):
            again.set_params(budget=None)
        full = again._rank(self.problem, n_wanted, again.check_options()).selection.features
        if not np.array_equal(full[: len(self._steps)], selector.ranking_):
            return {}  # it is drawn at random, or depends on the size
        return {int(f): place for place, f in enumerate(full, 1)}

    def _served(self) -> list[list[str]]:
        return served_pairs(self.selector)

    def explain(self, column: int) -> Explanation:
        """Return the explanation of a column."""
        problem, (pairs, auc, ranks) = self.problem, self._once(self._alone)
        facts: dict[str, Any] = {
            "feature": self.names[column],
            "column": column,
            "status": "not chosen",
            "n_features": problem.n_features,
            "n_selected": len(self._steps),
            "n_classes": problem.n_classes,
            "best_pair": self._pairs[pairs[column]],
            "best_auc": float(auc[column]),
            "best_rank": int(ranks[column]),
        }
        if column in self._steps:
            return Explanation(**facts | self._why(column))
        if column in self.selector._left_out:
            return Explanation(**facts | {"status": "left out"})
        given, wishes = self._once(self._given), problem.wishes
        if wishes is not None and wishes.unit_of[column] < 0:
            facts["status"] = "excluded"
        elif not given["varies"][column]:
            return Explanation(**facts | {"status": "constant"})
        places = {} if facts["status"] == "excluded" else self._once(self._places)
        return Explanation(
            **facts,
            covered_by=self.names[given["nearest"][column]],
            correlation=float(given["correlation"][column]),
            predicted_mauc=given["predicted"],
            would_add=float(max(given["gains"][column], 0.0)),
            place=places.get(column),
            n_ranked=len(places) or None,
        )

    def explain_many(self) -> list[Explanation]:
        """Return the explanations of a page: the chosen features, then the best others."""
        others = np.flatnonzero(~self.selector.support_)
        auc = self._once(self._alone)[1]
        best = others[np.argsort(-auc[others], kind="stable")][:MAX_EXPLAINED]
        return [self.explain(int(column)) for column in (*self.selector.ranking_, *best)]

    def _why(self, column: int) -> dict[str, Any]:
        """Return the facts about a chosen feature."""
        selector, at = self.selector, self._steps[column]
        step, details = selector.trace_[at], selector.trace_.detail_columns()
        is_paired = selector.decomposition_.name != "whole" and self.problem.n_classes > 2
        found: dict[str, Any] = {
            "status": "chosen",
            "step": at + 1,
            "chosen_for": step.subproblem_name if is_paired else None,
            "serves": tuple(self._once(self._served)[at]),
        }
        if "predicted_mauc" in details:
            found["added"] = float(details["added"][at])
            found["predicted_mauc"] = float(details["predicted_mauc"][at])
        others = getattr(selector, "alternatives_", None)
        if others is not None:
            others = others.with_names(self.names)
            found |= {
                "alternatives": tuple(others.names(column)),
                "replacement": others.line(column),
            }
        return found


def served_pairs(selector: RankingSelector) -> list[list[str]]:
    """Return for each chosen feature the pairs on which no other chosen one has a larger AUC."""
    names = Decomposition("one-vs-one", len(selector.classes_)).names(selector.classes_)
    is_best = selector.pair_auc_ == selector.pair_auc_.max(axis=0)
    return [[names[pair] for pair in np.flatnonzero(row)] for row in is_best]


def _nearest_chosen(state: SearchState, ranking: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the chosen feature nearest to each feature, and their within-class correlation."""
    scores, n_features = state.scores, state.n_features
    own = (scores.padded[ranking] * scores.row_weights).astype(np.float64)
    centers, scales = state.centers, state.scales
    nearest, found = np.empty(n_features, np.int64), np.empty(n_features)
    for start in range(0, n_features, _BLOCK):
        block = slice(start, min(start + _BLOCK, n_features))
        products = scores.padded[block].astype(np.float64) @ own.T
        products -= centers[:, block].T @ centers[:, ranking]
        products *= np.outer(scales[block], scales[ranking])
        at = np.abs(products).round(9).argmax(axis=1)
        nearest[block] = ranking[at]
        found[block] = np.clip(products[np.arange(len(at)), at], -1.0, 1.0)
    return nearest, found


def problem_of_fit(
    selector: RankingSelector,
    X: TableLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Problem:
    """Return the problem of a fit, made again of its data; raise for other data."""
    check_fitted(selector)
    X, y, sample_weight, _ = open_input(X, y, sample_weight)
    options = selector.fit_options
    problem = make_problem(X, y, options, sample_weight, groups, warns=False)  # fit has warned
    if problem.n_features != selector.n_features_in_:
        raise MaucError(
            f"X must have {plural(selector.n_features_in_, 'feature')} (as in fit), got "
            f"{problem.n_features}."
        )
    if not np.array_equal(problem.classes, selector.classes_):
        raise MaucError(
            f"y must hold the {len(selector.classes_)} classes of fit, got {problem.n_classes} "
            "others."
        )
    _check_same_rows(selector, problem)
    return problem


def _check_same_rows(selector: RankingSelector, problem: Problem) -> None:
    """Raise unless the rows of a problem are those of the fit, as far as they are known."""
    fitted = selector._training_rows
    given = None if fitted is None else TrainingRows.of(problem, selector.n_jobs)
    what = "X, y and sample_weight must be what the selector was fitted on"
    if fitted is not None and given is not None:
        if given.digest != fitted.digest:
            n_same = fitted.recognise(given).n_found
            raise MaucError(
                f"{what}, but {n_same:,} of the {given.n_rows:,} rows are among the "
                f"{fitted.n_rows:,} rows of fit"
                + (", with other weights" if n_same == given.n_rows == fitted.n_rows else "")
                + "."
            )
        return
    # One chosen feature is measured again: other data would make statements contradict.
    again = chosen_pair_auc(problem.drop_zero_weight(), selector.ranking_[:1])[0]
    if not np.allclose(again, selector.pair_auc_[0], rtol=0, atol=1e-9):
        raise MaucError(
            f"{what}, but the AUCs of feature {int(selector.ranking_[0])} differ from those of fit."
        )
