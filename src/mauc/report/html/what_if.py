"""What the script of a page needs to search again: effects, scores, and words to repeat it.

`templates/greedy.js` is the search of `GreedyMAUC` on these numbers, `predict.js` its prediction.
Correlations are those of the normal scores of the samples, which a prediction needs as well.
"""

import base64
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from mauc.data.problem import Problem
from mauc.data.wishes import Wishes, WishOptions
from mauc.exceptions import MaucError
from mauc.measure.effects import FOLDED, MAX_FOLDED, add_folded, spread_effects, with_folded
from mauc.measure.normal_scores import NormalScores, row_scales
from mauc.report.html.recipe import call_of, import_line
from mauc.search.greedy import MAX_HELD, SearchState, pair_stakes, search_candidates
from mauc.search.prediction import other_sizes
from mauc.search.units import max_choices
from mauc.selectors.base import RankingSelector
from mauc.selectors.greedy_mauc import GreedyMAUC, measure_state

MAX_CANDIDATES = 300
MAX_BYTES = 1_000_000  # of base64 text
MAX_NAMES = 10_000  # features that a list of prices names
_UNIT = 2.0**-28  # of effects, which are below 8

Array = np.ndarray[Any, Any]


def what_if_part(
    selector: RankingSelector,
    problem: Problem,
    names: list[str],
    words: Mapping[str, str] | None,
    is_weighted: bool,
    has_groups: bool,
) -> dict[str, Any]:
    """Return the model of the candidates and the wishes of the fit, or why there is none."""
    if reason := _reason(selector, problem):
        return {"reason": reason}
    wishes, k = problem.wishes, len(selector.ranking_)
    state = measure_state(selector, problem, MAX_CANDIDATES, n_room=MAX_CANDIDATES)
    effects, scores = state.effects, state.scores
    state.prior = np.ones(problem.n_features) if selector.prior_ is None else selector.prior_
    kept = [] if wishes is None else [int(at) for u in wishes.keep for at in wishes.members(u)]
    options = state.options._replace(prior=state.prior)
    shares = problem.pair_shares
    n_searched = problem.n_features
    if n_searched > MAX_CANDIDATES:  # the others are what may take their place
        n_searched = max(k, MAX_CANDIDATES // 2)
    # With weights of pairs, the search starts from the choice without them, too.
    found = [
        search_candidates(
            with_folded(effects.copy(), scores, counted),
            n_searched,
            options._replace(pair_shares=counted),
        )[1]
        for counted in ([None] if shares is None else [shares, None])
    ]
    alone = np.argsort(-state.prior * found[0].relevance, kind="stable")
    chosen = np.column_stack([one.ranking for one in found]).ravel()
    wanted = np.concatenate([np.array(kept, int), selector.ranking_, chosen, alone])
    room = list(dict.fromkeys(wanted.tolist()))[:MAX_CANDIDATES]
    folded, of_spread = _spreads(effects, scores, room)
    n_kept, n_pairs = scores.scores.shape[1], effects.shape[1]
    while _n_bytes(room, folded, n_pairs, n_kept, 4) > MAX_BYTES:
        room.pop()
    if not scores.class_counts.all():
        return {"reason": "there is a class without a sample among the max_samples"}
    if len(room) < max(k, len(kept)):
        return {"reason": f"the page has room for {len(room)} candidates, fewer than were chosen"}
    columns = np.sort(np.array(room))
    n_sure = min(int(np.isin(one.ranking, columns).cumprod().sum()) for one in found)
    is_candidate = np.isin(folded, columns)
    folded, of_spread = folded[is_candidate], of_spread[is_candidate]
    derived = add_folded(effects, scores, folded, of_spread)
    every = np.concatenate([columns, problem.n_features + np.arange(len(folded))])
    is_exact = _n_bytes(room, folded, n_pairs, n_kept, 8) <= MAX_BYTES
    return {
        "reason": None,
        "is_exact": is_exact,
        "columns": columns.tolist(),
        "names": [names[at] for at in columns],
        "all_names": names if problem.n_features <= MAX_NAMES else None,
        "n_features": problem.n_features,
        "n_sure": n_sure,  # sizes up to it need no other features, without wishes
        "folded": np.searchsorted(columns, folded).tolist(),
        "effects": _packed(derived.effects[every], is_exact),
        "used_folded": np.flatnonzero(np.isin(folded, selector.folded_features_)).tolist(),
        "prior": state.prior[columns].tolist(),
        "stakes": pair_stakes(scores.class_sizes, None).tolist(),
        "varies": scores.varies[columns].tolist(),
        "repeats": _repeats(state, columns),
        "samples": _samples(state, derived.scores, columns, every),
        "shares": None if shares is None else shares.tolist(),
        "ranking": np.searchsorted(columns, selector.ranking_).tolist(),
        "keep": np.searchsorted(columns, kept).tolist(),
        "exclude": []
        if wishes is None
        else [at for at, column in enumerate(columns) if wishes.unit_of[column] < 0],
        "excluded_others": []
        if wishes is None
        else [
            int(column) for column in np.flatnonzero(wishes.unit_of < 0) if column not in columns
        ],
        "prices": _prices(selector, problem),
        "budget": None if selector.budget is None else float(selector.budget),
        "words": dict(words) if words else _python_words(selector, is_weighted, has_groups),
    }


def _reason(selector: RankingSelector, problem: Problem) -> str | None:
    """Return why there is no model to search again, or None."""
    if type(selector) is not GreedyMAUC:
        return f"the page searches again as GreedyMAUC does, not as {type(selector).__name__}"
    wishes = problem.wishes
    if wishes is not None and (wishes.sizes > 1).any():
        return "the page does not search again with groups of features"
    if problem.n_features * len(problem.max_wins) * 8 > MAX_HELD or problem.columns.is_streamed:
        return "the table is too large to be measured again for it"
    return None


def _spreads(effects: Array, scores: Any, columns: list[int]) -> tuple[Array, Array]:
    """Return those of some columns that have effects by spread, ascending, and these effects."""
    found = [(np.zeros(0, np.int64), np.zeros((0, effects.shape[1])))]
    for block, spread in spread_effects(effects, scores):
        used = np.isin(block, columns) & spread.any(axis=1)
        found.append((block[used], spread[used]))
    return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])


def _n_bytes(room: list[int], folded: Array, n_pairs: int, n_samples: int, width: int) -> int:
    n = len(room) + int(np.isin(room, folded).sum())
    return (n * n_pairs * width + len(room) * n_samples) * 4 // 3


def _samples(
    state: SearchState, scores: NormalScores, columns: Array, every: Array
) -> dict[str, Any]:
    """Return what a prediction needs: normal scores, and those of all features in short."""
    left, counts, nominal = state.leave(), scores.class_counts, scores.nominal
    axes: list[list[Any]] = []  # a nominal candidate, its scores, and those of each further axis
    further_scales: list[float] = []
    for at, column in enumerate(columns.tolist()):
        if column in nominal and scores.varies[column]:
            row = scores.scores[column]
            further = nominal[column].axes(row, counts, left.weights)
            values, first = np.unique(row, return_index=True)
            if len(further) > 0:
                axes.append([at, values.tolist(), *further[:, first].tolist()])
                scales = row_scales(further, counts, left.class_weights, left.weights)[2]
                further_scales += scales.tolist()
    return {
        "scores": base64.b64encode(scores.scores[columns].tobytes()).decode("ascii"),
        "fold": FOLDED.tolist(),
        "class_counts": counts.tolist(),
        "weights": None if scores.weights is None else left.weights.tolist(),
        "scales": [*scores.within_scales()[1][every].tolist(), *further_scales],
        "shrinkage": state.options.shrinkage,
        "doubt": state.options.doubt,
        "sizes": other_sizes(left, np.arange(len(counts)), scores.class_weights).tolist(),
        "axes": axes,
        "confirmed": [
            [at, nominal[f].share] for at, f in enumerate(columns.tolist()) if f in nominal
        ],
        "max_choices": max_choices((state.n_features + MAX_FOLDED) * counts.sum()),
    }


def _packed(effects: Array, is_exact: bool) -> str:
    """Return effects in base64, as doubles or as whole multiples of a unit in 32 bits."""
    codes = effects.astype("<f8") if is_exact else np.rint(effects / _UNIT).astype("<i4")
    return base64.b64encode(codes.tobytes()).decode("ascii")


def _repeats(state: SearchState, columns: Array) -> list[list[float]]:
    """Return (f, s, factor) of nominal features f whose effects shrink when s is chosen."""
    nominal = np.flatnonzero([int(column) in state.scores.nominal for column in columns])
    found = []
    for s in nominal:
        kept = state.kept_by(columns[nominal], columns[s])
        found += [
            [int(f), int(s), float(one)]
            for f, one in zip(nominal, kept, strict=True)
            if one < 1.0 and f != s
        ]
    return found


def _prices(selector: RankingSelector, problem: Problem) -> list[float] | None:
    """Return the price of every feature; None if the fit had none."""
    wishes = problem.wishes
    asked = selector.fit_options.wishes
    if asked is None or wishes is None or wishes.costs is None or problem.n_features > MAX_NAMES:
        return None
    with suppress(MaucError):  # features that are excluded may have no price: it counts as 0
        given = WishOptions(feature_costs=asked.feature_costs)
        wishes = Wishes.of(given, problem.labels)
    costs = np.append(np.asarray(wishes.costs), 0.0)  # -1 is the unit of what is excluded
    return [float(cost) for cost in costs[wishes.unit_of]]


def _python_words(selector: RankingSelector, is_weighted: bool, has_groups: bool) -> dict[str, Any]:
    """Return the parts of the Python code that fits again; `{}` is what the page fills in."""
    is_named = hasattr(selector, "feature_names_in_")
    plain = call_of(
        selector,
        n_features_to_select="predicted",
        keep=None,
        exclude=None,
        feature_costs=None,
        budget=None,
        pair_weight=None,
    ).removesuffix(")")
    every = "X.columns" if is_named else f"range({selector.n_features_in_})"
    more = ", sample_weight" * is_weighted + ", groups=groups" * has_groups
    return {
        "language": "python",
        "is_named": is_named,
        "start": f"{import_line(selector)}\n\nselector = {plain}" + ", " * (plain[-1] != "("),
        "between": ", ",
        "end": f").fit(X, y{more})",
        "size": "n_features_to_select={}",
        "keep": "keep=[{}]",
        "exclude": "exclude=[{}]",
        "feature_costs": f"feature_costs=dict.fromkeys({every}, 1) | {{}}",
        "budget": "budget={}",
        "pair_weight": "pair_weight={}",
    }
