"""The parts of a page as plain dicts: data, features, class pairs, how to reproduce."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from mauc.data.columns import default_names
from mauc.data.problem import Decomposition, Problem
from mauc.exceptions import MaucError, format_labels
from mauc.experiments.rows import versions
from mauc.measure.pair_auc import chosen_pair_auc
from mauc.parallel import run_blocks
from mauc.report.html.recipe import selection_code
from mauc.report.html.values import number
from mauc.results import measure_name, plural, short_name
from mauc.selectors.base import RankingSelector

_DRAWING = ("random", "rand_robin")  # schedules that need a seed
_MAX_EXPLAINED = 2**26  # effects and factors of all features, 512 MB
_MAX_REPR = 200  # characters of a parameter

Array = np.ndarray[Any, Any]


def check_names(
    selector: RankingSelector, problem: Problem, feature_names: Sequence[Any] | None
) -> list[str]:
    """Return a name for every feature: those given, those of the data frame, or x0, x1, ..."""
    if feature_names is None:
        known = getattr(selector, "feature_names_in_", None)
        if known is None:
            return default_names(range(problem.n_features))
        return [str(name) for name in known]
    if len(feature_names) != problem.n_features:
        raise MaucError(
            f"feature_names must hold {problem.n_features} names (the number of features), "
            f"got {len(feature_names)}."
        )
    return [str(name) for name in feature_names]


def data_part(problem: Problem, name: str | None, notes: Sequence[str]) -> dict[str, Any]:
    """Return the facts about the data, with notes on how its columns were taken."""
    n_missing, n_with_missing = _count_missing(problem)
    classes = zip(problem.classes, problem.class_counts, strict=True)
    return {
        "name": name,
        "n_samples": problem.n_samples,
        "n_features": problem.n_features,
        "n_nominal": int(problem.is_nominal.sum()),
        "n_missing": n_missing,
        "n_features_with_missing": n_with_missing,
        "is_sparse": problem.columns.is_sparse,
        "is_weighted": problem.sample_weight is not None,
        "classes": [{"name": str(label), "count": int(count)} for label, count in classes],
        "notes": [str(note) for note in notes],
    }


def _count_missing(problem: Problem) -> tuple[int, int]:
    if problem.columns.dtype.kind not in "fmM":
        return 0, 0
    n_missing = n_features = 0
    for block in problem.blocks():
        counts = problem.columns.count_missing(block)
        n_missing += int(counts.sum())
        n_features += int((counts > 0).sum())
    return n_missing, n_features


def wishes_part(selector: RankingSelector, problem: Problem, names: list[str]) -> list[str]:
    """Return in sentences what was wished of the selection, and what it costs."""
    found, wishes = [], problem.wishes
    if problem.pair_shares is not None:
        found.append("MAUC is a mean over the pairs of classes weighted by what they count.")
    if wishes is None:
        return found
    for words, columns in (
        ("Kept beforehand", [at for unit in wishes.keep for at in wishes.members(unit)]),
        ("Excluded", np.flatnonzero(wishes.unit_of < 0)),
    ):
        if len(columns):
            found.append(f"{words}: {format_labels([names[at] for at in columns])}.")
    if n_groups := int((wishes.sizes > 1).sum()):
        found.append(f"Chosen as a whole or not at all: {plural(n_groups, 'group')} of features.")
    if wishes.costs is not None:
        spent = f"{selector.trace_.details['spent'][-1]:g}"
        limit = f" of a budget of {wishes.budget:g}" if wishes.budget < np.inf else ""
        found.append(f"The chosen features cost {spent}{limit}.")
    return found


def selection_part(
    selector: RankingSelector, problem: Problem, names: list[str], n_mapped: int, n_binned: int
) -> dict[str, Any]:
    """Return how features were selected, and of how many the page shows map and values."""
    recipe = getattr(selector, "recipe", None)
    return {
        "method": type(selector).__name__,
        "decomposition": selector.decomposition_.name,
        "measure": selector.score_label,
        "schedule": getattr(recipe, "schedule", None),
        "n_selected": len(selector.ranking_),
        "n_mapped": n_mapped,
        "n_binned": n_binned,
        "subproblems": [str(name) for name in selector.subproblem_names_],
        "wishes": wishes_part(selector, problem, names),
    }


def features_part(
    selector: RankingSelector, names: list[str], n_fits: list[int] | None
) -> list[dict[str, Any]]:
    """Return the chosen features in the order of choice."""
    means = selector.pair_auc_.mean(axis=1)
    trace = selector.trace_
    details = trace.detail_columns()
    predicted, added = (details.get(name) for name in ("predicted_mauc", "added"))
    return [
        {
            "step": step + 1,
            "column": int(trace.features[step]),
            "name": names[trace.features[step]],
            "asked_by": int(trace.subproblems[step]),
            "rank": int(trace.ranks[step]),
            "score": number(trace.scores[step]),
            "predicted_mauc": None if predicted is None else number(predicted[step]),
            "added": None if added is None else number(added[step]),
            "mean_auc": number(means[step]),
            "n_fits": None if n_fits is None else n_fits[step],
        }
        for step in range(len(trace))
    ]


def explanations_part(
    selector: RankingSelector, problem: Problem, names: list[str]
) -> list[dict[str, Any]]:
    """Return why features were chosen or not, in sentences; none of a very large table."""
    from mauc.selectors.explain import Explainer

    n_pairs = Decomposition("one-vs-one", problem.n_classes).n_subproblems
    if problem.n_features * (n_pairs + len(selector.ranking_)) > _MAX_EXPLAINED:
        return []
    explainer = Explainer(selector, problem, names)
    return [
        {"name": one.feature, "column": one.column, "sentences": one.sentences}
        for one in explainer.explain_many()
    ]


def sizes_part(selector: RankingSelector, name: str | None) -> dict[str, Any] | None:
    """Return MAUC by the number of features as a panel: cross-validated, or as predicted."""
    curve = getattr(selector, "size_curve_", None)
    predicted = selector.trace_.detail_columns().get("predicted_mauc")
    if curve is not None:
        sizes, mean, errors = curve.sizes, curve.mean, curve.standard_error
        by = f"{curve.judge}, cross-validated; bars: standard errors"
    elif predicted is not None:
        sizes, mean, errors = np.arange(1, len(predicted) + 1), predicted, None
        by = "as predicted"
    else:
        return None
    ends = [mean * np.nan] * 2 if errors is None else [mean - errors, mean + errors]
    columns = zip(("mean", "lower", "upper"), (mean, *ends), strict=True)
    return (
        None
        if len(sizes) < 2
        else {
            "dataset": name or measure_name(len(selector.classes_)),
            "classifier": by,
            "chosen": len(selector.ranking_),
            "series": [
                {
                    "selector": "sizes",
                    "sizes": sizes.tolist(),
                    **{key: [number(value) for value in values] for key, values in columns},
                }
            ],
        }
    )


def findings_part(selector: RankingSelector, names: list[str]) -> dict[str, Any]:
    """Return what some selectors know of spread, replacements and stability, in words."""
    from mauc.selectors.greedy_mauc import spread_sentence

    others = getattr(selector, "alternatives_", None)
    halves = ""
    if hasattr(selector, "stability_"):  # of a consensus
        from mauc.selectors.consensus import stability_sentence

        halves = str(stability_sentence(selector))
    return {
        "alternatives": [] if others is None else list(others.with_names(names).lines()),
        "halves": halves,
        "spread": spread_sentence(selector, names),
        "falls": selector.trace_.fall_sentence(names),
    }


def pairs_part(
    selector: RankingSelector,
    problem: Problem,
    pairs: Decomposition,
    names: list[str],
) -> dict[str, Any]:
    """Return the best chosen feature of every pair, and all pairs with the hardest first."""
    chosen_auc, chosen = best_of(selector.pair_auc_)
    all_auc, all_best = _best_of_all(selector, problem, pairs)
    hardest = np.argsort(chosen_auc, kind="stable")
    rows = []
    for pair in hardest:
        row = {
            "pair": int(pair),
            "auc": number(chosen_auc[pair]),
            "feature": int(chosen[pair]) + 1,
            "all_auc": number(all_auc[pair]),
            "all_column": int(all_best[pair]),
            "all_feature": names[all_best[pair]],
        }
        rows.append(row)
    others = selector.pair_auc_.copy()
    others[chosen, np.arange(len(chosen))] = -1.0
    return {
        "best_feature": (chosen + 1).tolist(),
        "second_feature": (best_of(others)[1] + 1).tolist() if len(others) > 1 else None,
        "best_auc": [number(auc) for auc in chosen_auc],
        "hardest": rows,
    }


def best_of(pair_auc: Array) -> tuple[Array, Array]:
    """Return the largest of the AUCs (n_features, n_pairs) of every pair, and its first row."""
    return pair_auc.max(axis=0), pair_auc.argmax(axis=0)


def _best_of_all(
    selector: RankingSelector, problem: Problem, pairs: Decomposition
) -> tuple[Array, Array]:
    """Return the largest AUC of every pair over all features, and the first column that has it."""
    # The chosen features were measured in ``fit``: only the others are measured here.
    by_column = np.argsort(selector.ranking_)
    auc, at = best_of(selector.pair_auc_[by_column])
    column = selector.ranking_[by_column][at]
    is_open = ~selector.support_
    blocks = (
        block.start + np.flatnonzero(is_open[block])
        for block in problem.blocks(pairs.n_subproblems)
    )

    def measure(block: Array) -> tuple[Array, Array]:
        return best_of(chosen_pair_auc(problem, block))

    found = run_blocks(measure, (block for block in blocks if len(block)), selector.n_jobs)
    for block, (other_auc, at) in found:
        other = block[at]
        is_first = (other_auc == auc) & (other < column)
        is_better = (other_auc > auc) | is_first
        auc[is_better], column[is_better] = other_auc[is_better], other[is_better]
    return auc, column


def reproduce_part(
    selector: RankingSelector,
    command: str | None,
    source: str | None,
    is_weighted: bool,
    has_groups: bool = False,
) -> dict[str, Any]:
    """Return command, code, parameters and versions of a selection."""
    parameters = selector.get_params(deep=False)
    seed = parameters.get("random_state")
    recipe = getattr(selector, "recipe", None)
    draws = "random_state" in parameters and (recipe is None or recipe.schedule in _DRAWING)
    return {
        "command": None if command is None else str(command),
        "code": selection_code(selector, source, is_weighted, has_groups),
        "is_complete": source is not None and not is_weighted,
        "parameters": [
            {"name": name, "value": short_name(repr(value), _MAX_REPR)}
            for name, value in parameters.items()
        ],
        "is_repeatable": not draws or isinstance(seed, int | np.integer),
        "versions": versions(),
        "date": datetime.now().astimezone().isoformat(sep=" ", timespec="minutes"),
    }
