"""Base of the selectors that draw features from one ranking list per sub-problem."""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from mauc.checks import check_choice
from mauc.data.door import check_generator
from mauc.data.problem import DECOMPOSITIONS, MISSING, Decomposition, Problem, decompose
from mauc.exceptions import MaucError, NoEvidenceWarning, format_labels, warn_user
from mauc.measure.pair_auc import allocate_pair_auc, auc_relevance
from mauc.memory import check_memory
from mauc.registry import RELEVANCES, Accepts, accepts_of
from mauc.search.lists import SCHEDULES, TIES, draw_features, draw_units, rank_features
from mauc.search.selection import Ranked
from mauc.selectors.base import RankingSelector

_BYTES_PER_ENTRY = 64  # of a list of all features, and its copies while units are ranked
_BINNED = ("chi2", "su", "ig")  # relevances of MDL bins
_CHOICES = {
    "decomposition": DECOMPOSITIONS,
    "relevance": RELEVANCES,
    "schedule": SCHEDULES,
    "ties": TIES,
}


class Recipe(NamedTuple):
    """What makes a selector: names of the decomposition, relevance, schedule and tie rule."""

    decomposition: str = "one-vs-one"
    relevance: str = "auc"
    schedule: str = "random"
    ties: str = "index"
    options: dict[str, Any] = {}  #: further arguments of the relevance


class ListSelector(RankingSelector):
    """Base of the selectors that draw features from one ranking list per sub-problem.

    A subclass has a `preset`, whose fields are overridden by parameters of the same name; those
    named in `relevance_options` are passed on to the relevance.
    """

    preset: ClassVar[Recipe] = Recipe()
    relevance_options: ClassVar[tuple[str, ...]] = ()

    @property
    def recipe(self) -> Recipe:
        """What makes the selector, with its present parameters."""
        given = {name: getattr(self, name) for name in Recipe._fields[:-1] if hasattr(self, name)}
        options = {name: getattr(self, name) for name in self.relevance_options}
        return self.preset._replace(**given, options=options)

    @property
    def accepts(self) -> Accepts:
        """What input the selector takes, with its present options."""
        kind: Any = type(self)
        relevance = getattr(self, "relevance", self.preset.relevance)
        if not isinstance(relevance, str) or relevance not in RELEVANCES:
            return accepts_of(kind)  # it is refused in fit
        return RELEVANCES[relevance].accepts

    def check_options(self) -> Recipe:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        recipe = self.recipe
        for name, choices in _CHOICES.items():
            if getattr(recipe, name) not in choices:
                check_choice(name, getattr(recipe, name), choices)
        check_choice("missing", getattr(self, "missing", "tie"), MISSING)
        check_generator(getattr(self, "random_state", None))
        is_flagged = getattr(self, "categorical_features", None) is not None
        if is_flagged and not self.accepts.nominal:
            raise MaucError(
                f"categorical_features must be None for relevance {recipe.relevance!r}, "
                f"which needs ordered values; encode those columns first."
            )
        return recipe

    def _rank(self, problem, n_wanted, recipe):
        decomposition = decompose(recipe.decomposition, problem.n_classes)
        entry = RELEVANCES[recipe.relevance]
        pair_auc = allocate_pair_auc(problem, n_wanted) if recipe.relevance == "auc" else None
        wishes, n_listed = problem.constraints, n_wanted
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
            is_dense=recipe.relevance != "auc",
            denominators=_auc_denominators(problem, decomposition, recipe.relevance),
            pair_auc=pair_auc,
            **recipe.options,
        )
        rng = check_generator(getattr(self, "random_state", None))
        shares = problem.pair_shares if decomposition.name == "one-vs-one" else None
        schedule = SCHEDULES[recipe.schedule](decomposition, problem.class_weights, rng, shares)

        def separation(feature):
            if pair_auc is not None and decomposition.name == "one-vs-one":
                return pair_auc[feature]
            [(_, scores)] = problem.map(_aucs, decomposition, columns=np.array([feature]))
            return scores[0]

        if wishes is None:
            selection = draw_features(lists, schedule, n_wanted, separation)
        else:
            selection = draw_units(lists, schedule, n_wanted, separation, wishes)
        is_choice = n_wanted < problem.n_features and decomposition.n_subproblems > 1
        if is_choice and recipe.relevance in _BINNED:
            _warn_of_uncut(decomposition.names(problem.classes), lists, selection)
        chosen_auc = None if pair_auc is None else pair_auc[selection.features]
        return Ranked(decomposition, selection, scores, chosen_auc)


def _aucs(problem: Problem, columns: Any, decomposition: Decomposition) -> np.ndarray:
    """Return the AUCs of some columns on every sub-problem."""
    return auc_relevance(problem, decomposition, columns)


def _warn_of_uncut(names, lists, selection):
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


def _auc_denominators(problem, decomposition, relevance):
    """Return twice the row pairs of every sub-problem where the scores are AUCs, else None."""
    if relevance != "auc" or decomposition.name == "whole":
        return None
    if decomposition.name == "one-vs-one":
        return problem.max_wins
    totals = problem.pair_weights[1]  # scaled weights are not whole numbers in any unit
    return 2 * totals * (totals.sum() - totals)
