"""Base of the selectors that draw features from one ranking list per sub-problem."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mauc.checks import check_choice
from mauc.data.arguments import CategoricalFeatures, Seed
from mauc.data.columns import ColumnBlock
from mauc.data.door import check_generator
from mauc.data.problem import DECOMPOSITIONS, Decomposition, DecompositionName, Problem, decompose
from mauc.exceptions import (
    MaucError,
    MaucWarning,
    NoEvidenceWarning,
    format_labels,
    warn_user,
)
from mauc.measure.pair_auc import allocate_pair_auc, auc_relevance
from mauc.measure.score_function import takes_weights
from mauc.memory import check_memory
from mauc.registry import (
    RELEVANCES,
    Accepts,
    Relevance,
    RelevanceName,
    ScoreFunction,
    relevance_of,
)
from mauc.search.lists import (
    SCHEDULES,
    TIES,
    ScheduleName,
    TieRule,
    TopK,
    draw_features,
    draw_units,
    rank_features,
)
from mauc.search.selection import Ranked, Selection
from mauc.selectors.base import RankingSelector

_BYTES_PER_ENTRY = 64  # of a list of all features, and its copies while units are ranked
_CHOICES = {"decomposition": DECOMPOSITIONS, "schedule": SCHEDULES, "ties": TIES}


class Recipe(NamedTuple):
    """What makes a selector: its decomposition, relevance, schedule and tie rule."""

    decomposition: DecompositionName
    relevance: RelevanceName | ScoreFunction
    schedule: ScheduleName
    ties: TieRule = "index"
    options: Mapping[str, Any] = MappingProxyType({})  #: further arguments of the relevance
    random_state: Seed = None  #: of the schedule


class ListSelector(RankingSelector):
    """Base of the selectors that draw features from one ranking list per sub-problem.

    A subclass has a `preset`, and names the parameters that replace fields of it (`changes`) or are
    further arguments of its relevance (`relevance_options`).
    """

    preset: ClassVar[Recipe]
    changes: ClassVar[tuple[str, ...]] = ()
    relevance_options: ClassVar[tuple[str, ...]] = ()

    @property
    def recipe(self) -> Recipe:
        """What makes the selector, with its present parameters."""
        given = vars(self)
        recipe = self.preset._replace(**{name: given[name] for name in self.changes})
        if self.relevance_options:
            options = {name: given[name] for name in self.relevance_options}
            recipe = recipe._replace(options=options)
        return recipe

    @property
    def measured(self) -> Relevance:
        """The relevance, with what it accepts."""
        relevance = self.recipe.relevance
        entry = RELEVANCES.get(relevance) if isinstance(relevance, str) else None
        return entry or relevance_of(relevance)

    @property
    def accepts(self) -> Accepts:
        """What input the selector takes, with its present options."""
        return self.measured.accepts

    @property
    def score_label(self) -> str:
        """What tables call the scores."""
        return self.measured.label

    def check_options(self) -> Recipe:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        recipe = self.recipe
        for name, choices in _CHOICES.items():
            value = getattr(recipe, name)
            if not (isinstance(value, str) and value in choices):
                check_choice(name, value, choices)
        if recipe.random_state is not None:
            check_generator(recipe.random_state)
        return recipe

    def _rank(self, problem: Problem, n_wanted: int, recipe: Recipe) -> Ranked:
        rng = check_generator(recipe.random_state)
        decomposition = decompose(recipe.decomposition, problem.n_classes)
        entry = self.measured
        if entry.function is not None:
            _check_weights(problem, entry.name, entry.function)
        pair_auc = allocate_pair_auc(problem, n_wanted) if entry.is_auc else None
        wishes, n_listed = problem.wishes, n_wanted
        if wishes is not None:
            n_listed = problem.n_features  # a group needs the scores of all its features
            n_lists = decomposition.n_subproblems
            what = f"{n_lists:,} lists of all {n_listed:,} features"
            check_memory(_BYTES_PER_ENTRY * n_listed * n_lists, what, "leave out features before")
        lists, scores = rank_features(
            problem,
            decomposition,
            entry.score,
            n_listed,
            recipe.ties,
            self.n_jobs,
            is_dense=not entry.is_auc,
            denominators=_auc_denominators(problem, decomposition) if entry.is_auc else None,
            pair_auc=pair_auc,
            **recipe.options,
        )
        if entry.function is not None:
            _warn_of_unscored(problem, entry.name, scores)
        shares = problem.pair_shares if decomposition.name == "one-vs-one" else None
        schedule = SCHEDULES[recipe.schedule](decomposition, problem.class_weights, rng, shares)

        def separation(feature: int) -> np.ndarray:
            """Return the AUCs of a feature on every sub-problem."""
            if pair_auc is not None and decomposition.name == "one-vs-one":
                return pair_auc[feature]
            [(_, scores)] = problem.map(_aucs, decomposition, columns=np.array([feature]))
            return scores[0]

        if wishes is None:
            selection = draw_features(lists, schedule, n_wanted, separation)
        else:
            selection = draw_units(lists, schedule, n_wanted, separation, wishes)
        is_choice = n_wanted < problem.n_features and decomposition.n_subproblems > 1
        if is_choice and entry.is_binned:
            _warn_of_uncut(decomposition.names(problem.classes), lists, selection)
        chosen_auc = None if pair_auc is None else pair_auc[selection.features]
        return Ranked(decomposition, selection, scores, chosen_auc)


def _aucs(problem: Problem, columns: ColumnBlock, decomposition: Decomposition) -> np.ndarray:
    """Return the AUCs of some columns on every sub-problem."""
    return auc_relevance(problem, decomposition, columns)


def _warn_of_uncut(names: Sequence[str], lists: TopK, selection: Selection) -> None:
    """Warn of sub-problems for which no feature has a cut and some were chosen all the same."""
    is_uncut = (lists.scores[:, 0] <= 0.0)[selection.subproblems]
    if is_uncut.any():
        asked = np.unique(selection.subproblems[is_uncut])
        warn_user(
            f"no feature has an MDL cut for {format_labels([names[at] for at in asked])}: "
            f"{int(is_uncut.sum())} of the {len(is_uncut)} selected were chosen there, with score "
            f"0, by their column.",
            NoEvidenceWarning,
        )


def check_flagged(
    relevance: RelevanceName | ScoreFunction, categorical_features: CategoricalFeatures
) -> None:
    """Raise where columns are flagged as nominal for a relevance that needs ordered values."""
    entry = relevance_of(relevance)
    if categorical_features is not None and not entry.accepts.nominal:
        name = repr(relevance) if entry.function is None else entry.name
        raise MaucError(
            f"categorical_features must be None for relevance {name}, which needs ordered values; "
            f"encode those columns first."
        )


def _check_weights(problem: Problem, name: str, function: ScoreFunction) -> None:
    """Raise where rows have weights that the function of a relevance does not take."""
    if problem.sample_weight is not None and not takes_weights(function):
        raise MaucError(
            f"sample_weight must be None for relevance={name}, a function without a parameter "
            f"sample_weight, got weights; give it one, or name a relevance of this library."
        )


def _warn_of_unscored(problem: Problem, name: str, scores: np.ndarray) -> None:
    """Warn of features for which a function gave NaN on some sub-problem, and -inf was taken."""
    unscored = np.flatnonzero(np.isneginf(scores))
    if len(unscored):
        named = format_labels([problem.labels[feature] for feature in unscored])
        warn_user(
            f"{name} gave no score (NaN) to {len(unscored)} of {len(scores)} features ({named}) on "
            f"some sub-problem, where they rank last.",
            MaucWarning,
        )


def _auc_denominators(problem: Problem, decomposition: Decomposition) -> np.ndarray | None:
    """Return twice the row pairs of every sub-problem; None for the whole problem."""
    if decomposition.name == "whole":
        return None
    if decomposition.name == "one-vs-one":
        return problem.max_wins
    totals = problem.auc_weights[1]  # scaled weights are not whole numbers in any unit
    return 2 * totals * (totals.sum() - totals)
