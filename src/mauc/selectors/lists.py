"""Selectors that draw from ranking lists: a recipe in, a walk over the lists out."""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from mauc.auc.pair_auc import room_for_pair_auc
from mauc.checks import check_choice
from mauc.exceptions import MaucError, SmallWeightWarning, warn_user
from mauc.problem.decomposition import DECOMPOSITIONS, Decomposition
from mauc.problem.validate import check_generator
from mauc.registry import RELEVANCES, Accepts
from mauc.selectors.base import Ranked, RankingSelector
from mauc.selectors.rankings import TIES, rank_features
from mauc.selectors.relevance.auc import auc_relevance
from mauc.selectors.schedules import SCHEDULES, draw_features

_COUNTING = ("fsdd", "anova")  # relevances that depend on the number of samples
_AUCS = ("auc", "fast")  # relevances that are wins divided by the largest possible wins


class Recipe(NamedTuple):
    """What makes a selector: names of the decomposition, relevance, schedule and tie rule."""

    decomposition: str = "one-vs-one"
    relevance: str = "auc"
    schedule: str = "random"
    ties: str = "index"
    options: dict[str, Any] = {}  #: further arguments of the relevance


class ListSelector(RankingSelector):
    """Base of the selectors that draw features from one ranking list per sub-problem.

    A subclass has a `preset`, whose fields are overridden by parameters of the same name; the
    parameters named in `relevance_options` are passed on to the relevance. It has
    ``random_state`` if its schedule draws and ``categorical_features`` if its relevance takes
    nominal columns.
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
        own = super().accepts
        relevance = self.recipe.relevance
        if not isinstance(relevance, str) or relevance not in RELEVANCES:
            return own  # it is refused in fit
        accepts = RELEVANCES[relevance].accepts
        return accepts._replace(weights=accepts.weights and own.weights)

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        recipe = self.recipe
        check_choice("decomposition", recipe.decomposition, DECOMPOSITIONS)
        check_choice("relevance", recipe.relevance, RELEVANCES)
        check_choice("schedule", recipe.schedule, SCHEDULES)
        check_choice("ties", recipe.ties, TIES)
        check_generator(getattr(self, "random_state", None))
        is_flagged = getattr(self, "categorical_features", None) is not None
        if is_flagged and not self.accepts.nominal:
            raise MaucError(
                f"categorical_features must be None for relevance {recipe.relevance!r}, "
                f"which needs ordered values; encode those columns first."
            )
        return recipe

    def _fit(self, X, y, sample_weight=None, client=None):
        if sample_weight is not None and not self.accepts.weights:
            relevance = self.check_options().relevance
            weighted = [repr(entry.name) for entry in RELEVANCES.values() if entry.accepts.weights]
            raise MaucError(
                f"sample_weight must be None for relevance {relevance!r}; "
                f"only {', '.join(weighted)} take weights."
            )
        return super()._fit(X, y, sample_weight, client)

    def _rank(self, problem, n_wanted, recipe):
        decomposition = Decomposition(recipe.decomposition, problem.n_classes)
        entry, options = RELEVANCES[recipe.relevance], dict(recipe.options)
        if recipe.relevance in _COUNTING and problem.class_weights.sum() <= problem.n_classes:
            warn_user(
                f"sample_weight sums to {problem.class_weights.sum():.3g}, and "
                f"{entry.measure!r} takes weights as numbers of samples: too few to measure a "
                f"variance in {problem.n_classes} classes. Multiply the weights, for example so "
                f"that they sum to {problem.n_samples}.",
                SmallWeightWarning,
            )
        pair_auc = None
        if recipe.relevance == "auc":
            pair_auc = options["pair_auc"] = room_for_pair_auc(problem, n_wanted)
        lists, scores = rank_features(
            problem, decomposition, entry.score, n_wanted, recipe.ties, self.n_jobs,
            is_dense=recipe.relevance != "auc", reads_rows=entry.reads_rows,
            denominators=_auc_denominators(problem, decomposition, recipe.relevance), **options,
        )  # fmt: skip
        rng = check_generator(getattr(self, "random_state", None))
        schedule = SCHEDULES[recipe.schedule](decomposition, problem.class_weights, rng)

        def separation(feature):
            if pair_auc is not None and decomposition.name == "one-vs-one":
                return pair_auc[feature]
            if problem.cluster is not None:
                chosen = np.array([feature])
                found = problem.cluster.map_chosen(problem, score_part, chosen, decomposition)
                return next(scores for _, scores in found)[0]
            return auc_relevance(problem, decomposition, [feature])[0]

        walk = draw_features(lists, schedule, n_wanted, separation)
        return Ranked(
            decomposition, walk, scores, None if pair_auc is None else pair_auc[walk.features]
        )


def score_part(part, decomposition):
    """Return the AUCs of all columns of a part; called on a worker."""
    return auc_relevance(part, decomposition, slice(None))


def _auc_denominators(problem, decomposition, relevance):
    """Return twice the row pairs of every sub-problem where the scores are AUCs, else None."""
    if relevance not in _AUCS or decomposition.name == "whole":
        return None
    if decomposition.name == "one-vs-one":
        return problem.max_wins
    totals = problem.pair_weights[1]  # scaled weights are no whole numbers in any unit
    return 2 * totals * (totals.sum() - totals)
