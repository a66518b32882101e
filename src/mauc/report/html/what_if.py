"""What the script of a page needs to search again: effects, correlations, and words to repeat it.

`templates/greedy.js` is the search of `GreedyMAUC` on these numbers, `predict.js` its prediction.
Where there is room for the normal scores of the samples, correlations are left to the page.
"""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from mauc.data.problem import Problem
from mauc.report.html.recipe import call_of, import_line
from mauc.selectors.base import RankingSelector
from mauc.selectors.greedy_mauc import GreedyMAUC
from mauc.selectors.greedy_mauc.dispersion import FOLDED, MAX_FOLDED, spread_effects
from mauc.selectors.greedy_mauc.interactions import MAX_PAIRS, add_folded, search_derived
from mauc.selectors.greedy_mauc.prediction import Prediction, other_sizes
from mauc.selectors.greedy_mauc.search import MAX_HELD, SearchState, measure_state
from mauc.selectors.greedy_mauc.units import max_choices

MAX_CANDIDATES = 300
MAX_BYTES = 1_000_000  # of base64 text
MAX_NAMES = 10_000  # features that a list of prices names
_EFFECT_UNIT, _CORRELATION_UNIT = 2.0**-28, 2.0**-31  # effects are below 8, correlations below 1

Array = np.ndarray[Any, Any]


def what_if_part(
    selector: RankingSelector, problem: Problem, names: list[str], words: Mapping[str, str] | None,
    is_weighted: bool, has_groups: bool,
) -> dict[str, Any]:  # fmt: skip
    """Return the model of the candidates and the wishes of the fit, or why there is none."""
    if reason := _reason(selector, problem):
        return {"reason": reason}
    wishes, k = problem.constraints, len(selector.ranking_)
    state = measure_state(selector, problem, MAX_CANDIDATES, n_room=MAX_CANDIDATES)
    effects, scores = state.effects, state.scores
    state.prior = np.ones(problem.n_features) if selector.prior_ is None else selector.prior_
    kept = [] if wishes is None else [int(at) for u in wishes.keep for at in wishes.members(u)]
    n_pairs = effects.shape[1]
    options = {
        "shrinkage": state.shrinkage, "alpha": 8.0 * state.rate, "prior": state.prior,
        "pair_shares": problem.pair_shares,
    }  # fmt: skip
    n_searched = problem.n_features
    if n_searched > MAX_CANDIDATES:  # the others are what may take their place
        n_searched = max(k, MAX_CANDIDATES // 2)
    searched, found, *_ = search_derived(
        effects.copy(), scores, n_searched, np.array(names), selector.noise_correction,
        interactions=False, **options,
    )  # fmt: skip
    alone = np.argsort(-state.prior * found.relevance, kind="stable")
    wanted = np.concatenate([np.array(kept, int), selector.ranking_, found.ranking, alone])
    room = list(dict.fromkeys(wanted.tolist()))[:MAX_CANDIDATES]
    folded, of_spread = _spreads(effects, scores, selector.noise_correction, room)
    n_kept = scores.scores.shape[1]
    # Samples or correlations, and bytes per number: the first that the page has room for.
    ways = [
        (n, width) for n in ([n_kept] * bool(scores.class_counts.all()) + [0]) for width in (8, 4)
    ]
    while not (fits := [
        way for way in ways
        if _n_bytes(len(room), int(np.isin(room, folded).sum()), n_pairs, *way) <= MAX_BYTES
    ]):  # fmt: skip
        room.pop()
    has_samples, is_exact = fits[0][0] > 0, fits[0][1] == 8
    if len(room) < max(k, len(kept)):
        return {"reason": f"the page has room for {len(room)} candidates, fewer than were chosen"}
    columns = np.sort(np.array(room))
    n_sure = int(np.isin(found.ranking, columns).cumprod().sum())
    is_candidate = np.isin(folded, columns)
    folded, of_spread = folded[is_candidate], of_spread[is_candidate]
    derived = add_folded(effects, scores, folded, of_spread)
    every = np.concatenate([columns, problem.n_features + np.arange(len(folded))])
    wide = SearchState(
        derived.effects, derived.scores, 1, n_products=len(folded),
        shrinkage=state.shrinkage, alpha=options["alpha"],
    )  # fmt: skip
    predicted = np.asarray(selector.predicted_mauc_)
    if wishes is None and not has_samples:
        further = Prediction(searched.leave(), found.n_steps).mauc
        predicted = np.append(predicted, further[k:n_sure])
    lower = np.tril_indices(len(every), -1)
    prices = _prices(problem)
    correlations = samples = None
    if has_samples:
        samples = _samples(wide, columns, every)
    else:
        correlations = _packed(_correlations(wide, every)[lower], _CORRELATION_UNIT, is_exact)
    return {
        "reason": None,
        "is_exact": is_exact,
        "columns": columns.tolist(),
        "names": [names[at] for at in columns],
        "all_names": names if problem.n_features <= MAX_NAMES else None,
        "n_features": problem.n_features,
        "n_sure": n_sure,  # sizes up to it need no other features, without wishes
        "folded": np.searchsorted(columns, folded).tolist(),
        "effects": _packed(derived.effects[every], _EFFECT_UNIT, is_exact),
        "correlations": correlations,
        "samples": samples,
        "used_folded": np.flatnonzero(np.isin(folded, selector.folded_features_)).tolist(),
        "prior": state.prior[columns].tolist(),
        "varies": scores.varies[columns].tolist(),
        "repeats": _repeats(state, columns),
        "rate": state.rate,
        "predicted": predicted.tolist(),
        "shares": None if problem.pair_shares is None else problem.pair_shares.tolist(),
        "ranking": np.searchsorted(columns, selector.ranking_).tolist(),
        "keep": np.searchsorted(columns, kept).tolist(),
        "exclude": [] if wishes is None else [
            at for at, column in enumerate(columns) if wishes.unit_of[column] < 0
        ],
        "excluded_others": [] if wishes is None else [
            int(column) for column in np.flatnonzero(wishes.unit_of < 0) if column not in columns
        ],
        "prices": prices,
        "budget": _budget(selector),
        "words": dict(words) if words else _python_words(selector, is_weighted, has_groups),
    }  # fmt: skip


def _reason(selector: RankingSelector, problem: Problem) -> str | None:
    """Return why there is no model to search again, or None."""
    if type(selector) is not GreedyMAUC:
        return f"the page searches again as GreedyMAUC does, not as {type(selector).__name__}"
    if selector.interactions:
        return "the page does not search again with products of features (interactions)"
    wishes = problem.constraints
    if wishes is not None and (wishes.sizes > 1).any():
        return "the page does not search again with groups of features"
    if problem.n_features * len(problem.max_wins) * 8 > MAX_HELD or problem.columns.is_streamed:
        return "the table is too large to be measured again for it"
    return None


def _spreads(
    effects: Array, scores: Any, noise_correction: float, columns: list[int]
) -> tuple[Array, Array]:
    """Return those of some columns that have effects by spread, ascending, and these effects."""
    found = [(np.zeros(0, np.int64), np.zeros((0, effects.shape[1])))]
    for block, spread in spread_effects(effects, scores, noise_correction):
        used = np.isin(block, columns) & spread.any(axis=1)
        found.append((block[used], spread[used]))
    return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])


def _n_bytes(n_columns: int, n_folded: int, n_pairs: int, n_samples: int, width: int) -> int:
    n = n_columns + n_folded
    rest = n_columns * n_samples if n_samples > 0 else n * (n - 1) // 2 * width
    return (n * n_pairs * width + rest) * 4 // 3


def _samples(state: SearchState, columns: Array, every: Array) -> dict[str, Any]:
    """Return what a prediction needs: normal scores, and those of all features in short."""
    scores, left = state.scores, state.leave()
    counts, n_kept = scores.class_counts, scores.scores.shape[1]
    squares = scores.nominal_squares
    return {
        "scores": base64.b64encode(scores.scores[columns].tobytes()).decode("ascii"),
        "fold": FOLDED.tolist(),
        "class_counts": counts.tolist(),
        "weights": None if scores.weights is None else left.weights.tolist(),
        "scales": scores.within_scales()[1][every].tolist(),
        "shrinkage": state.shrinkage,
        "sizes": other_sizes(left, np.arange(len(counts)), scores.class_weights).tolist(),
        "confirmed": [[at, squares[f]] for at, f in enumerate(columns.tolist()) if f in squares],
        "max_choices": max_choices((state.n_features + MAX_FOLDED + MAX_PAIRS) * n_kept),
    }


def _packed(values: Array, unit: float, is_exact: bool) -> str:
    """Return numbers in base64, as doubles or as whole multiples of a unit in 32 bits."""
    codes = values.astype("<f8") if is_exact else np.rint(values / unit).clip(1 - 2**31, 2**31 - 1)
    return base64.b64encode(codes.astype("<f8" if is_exact else "<i4").tobytes()).decode("ascii")


def _correlations(state: SearchState, columns: Array) -> Array:
    """Return the shrunk within-class correlations of columns; those of equal columns agree."""
    values = state.scores.values(columns, slice(None)).astype(np.float64)
    found = values @ values.T  # whole numbers without weights: exact
    for center in state.centers[:, columns]:
        found -= np.outer(center, center)
    scales = state.scales[columns]
    return (1.0 - state.shrinkage) * (found * np.outer(scales, scales))


def _repeats(state: SearchState, columns: Array) -> list[list[float]]:
    """Return (f, s, factor) of nominal features f whose effects shrink when s is chosen."""
    nominal = np.flatnonzero([int(column) in state.scores.nominal_squares for column in columns])
    found = []
    for s in nominal:
        kept = state.kept_by(columns[nominal], columns[s])
        found += [[int(f), int(s), float(one)] for f, one in zip(nominal, kept, strict=True)
                  if one < 1.0 and f != s]  # fmt: skip
    return found


def _prices(problem: Problem) -> list[float] | None:
    """Return the price of every feature; None if the fit had none."""
    wishes = problem.constraints
    if wishes is None or wishes.costs is None or problem.n_features > MAX_NAMES:
        return None
    return [float(wishes.costs[unit]) if unit >= 0 else 0.0 for unit in wishes.unit_of]


def _budget(selector: RankingSelector) -> float | None:
    return None if selector.budget is None else float(selector.budget)


def _python_words(selector: RankingSelector, is_weighted: bool, has_groups: bool) -> dict[str, Any]:
    """Return the parts of the Python code that fits again; `{}` is what the page fills in."""
    is_named = hasattr(selector, "feature_names_in_")
    plain = call_of(
        selector, n_features_to_select=None, keep=None, exclude=None, feature_costs=None,
        budget=None, pair_weight=None,
    ).removesuffix(")")  # fmt: skip
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
