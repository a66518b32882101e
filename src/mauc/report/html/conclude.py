"""The conclusion of a page: how good the choice is, what stays hard, how stable it is."""

import warnings
from typing import Any

import numpy as np

from mauc.data.decomposition import Decomposition
from mauc.data.problem import Problem
from mauc.exceptions import MaucError, MaucWarning
from mauc.metrics import mauc_interval, mauc_score, pair_auc_scores
from mauc.report.html.diagnose import TITLES, PairFacts, diagnose
from mauc.report.html.held_out import HeldOut, drop_absent, hold_out
from mauc.report.html.values import number, text
from mauc.selectors.base import RankingSelector
from mauc.stats import stability

N_HARD = 3
SAME = 0.005  # a difference of MAUC that is negligible here
# Of Nogueira, Sechidis and Brown, after Fleiss: above 0.75 excellent, below 0.4 poor.
STABLE, UNSTABLE = 0.75, 0.4
_MAX_CLASSES = 200  # with an interval: it takes all pairs of classes at once

Array = np.ndarray[Any, Any]


def conclude(
    selector: RankingSelector,
    X: Any,
    problem: Problem,
    pairs: list[dict[str, Any]],
) -> dict[str, Any]:
    """Judge a selection on held-out samples.

    Parameters
    ----------
    selector : RankingSelector
        Fitted on the problem.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    problem : Problem
        Made of X and the labels.
    pairs : list of dict
        Best AUCs of single features on each pair, hardest first.

    Returns
    -------
    conclusion : dict
        ``reason`` (why there is no cross-validation, or None), ``chosen`` and ``every`` (MAUC
        with its interval, of the chosen and of all features), ``hard`` (at most three pairs, with
        what would help), ``stability``, ``set_auc`` (of all pairs) and ``n_fits`` (in how many
        of the folds each chosen feature was chosen again).

    Notes
    -----
    The selector is fitted anew without each of five stratified parts, on the features that it then
    finds Naive Bayes is trained, and both see the held-out part for the first time when it is
    scored. MAUC and its interval are those of all held-out scores together. Weights of samples
    count in all of that, and rows of weight 0 are absent.
    """
    X, problem = drop_absent(selector, X, problem)
    try:
        held = hold_out(selector, X, problem)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MaucWarning)  # classes of one sample are named below
            found = _judge(selector, problem, held, pairs)
    except MaucError as error:
        hard = [_hard_pair(row, _facts(row, problem)) for row in _hardest(pairs, None)]
        return {
            "reason": text(error), "hard": hard, "hard_title": _hard_title(hard, problem),
            "chosen": None, "every": None, "stability": None,
            "set_auc": None, "n_fits": None,
        }  # fmt: skip
    return found


def _judge(
    selector: RankingSelector,
    problem: Problem,
    held: HeldOut,
    pairs: list[dict[str, Any]],
) -> dict[str, Any]:
    scores = held.scores()
    set_auc = _pair_auc(held, scores)
    chosen, bounds = _measure(selector, held, scores)
    every, every_auc = None, None
    if len(selector.ranking_) < problem.n_features:
        all_scores = held.scores(np.arange(problem.n_features))
        every_auc = _pair_auc(held, all_scores)
        every, _ = _measure(selector, held, all_scores)
    hard = []
    for row in _hardest(pairs, set_auc):
        pair, added_auc = row["pair"], None
        column = row["all_column"]
        if not selector.support_[column]:
            added_auc = _pair_auc(held, held.scores(added=column))[pair]
        facts = _facts(row, problem, set_auc, every_auc, added_auc)
        limits = None if bounds is None else (bounds[0][pair], bounds[1][pair])
        hard.append(_hard_pair(row, facts, limits))
    is_single = problem.class_counts < 2
    return {
        "reason": None,
        "verdict": _verdict(chosen, every, problem.n_features),
        "hard_title": _hard_title(hard, problem),
        "n_folds": len(held.folds),
        "n_rows": held.problem.n_samples,
        "n_samples": problem.n_samples,
        "is_part": held.problem.n_samples < problem.n_samples,
        "is_weighted": problem.sample_weight is not None,
        "absent": [text(label) for label in problem.classes[is_single]],
        "chosen": chosen,
        "every": every,
        "hard": hard,
        "stability": _stability(selector, held, problem),
        "set_auc": [number(auc) for auc in set_auc],
        "n_fits": _times_chosen(selector.ranking_, held).tolist(),
    }


def _pair_auc(held: HeldOut, scores: Array) -> Array:
    """Return the AUC of held-out scores on every pair."""
    found = pair_auc_scores(
        held.labels, scores, labels=held.problem.classes, sample_weight=held.weights
    )
    auc: Array = found.auc
    return auc


def _measure(
    selector: RankingSelector, held: HeldOut, scores: Array
) -> tuple[dict[str, Any], tuple[Array, Array] | None]:
    """Return MAUC with its interval, and the bounds of every pair."""
    labels, classes, weights = held.labels, held.problem.classes, held.weights
    if len(classes) > _MAX_CLASSES:
        mauc = mauc_score(labels, scores, labels=classes, sample_weight=weights)
        return {"mauc": number(mauc), "lower": None, "upper": None, "level": None}, None
    interval = mauc_interval(
        labels, scores, labels=classes, sample_weight=weights, n_jobs=selector.n_jobs
    )
    found = {key: number(getattr(interval, key)) for key in ("mauc", "lower", "upper", "level")}
    return found, (interval.pair_lower, interval.pair_upper)


def _verdict(chosen: dict[str, Any], every: dict[str, Any] | None, n_features: int) -> str:
    if every is None:
        return "All features are chosen."
    loss = every["mauc"] - chosen["mauc"]
    if loss > SAME:
        return f"The choice gives away {loss:.3f} of what all {n_features:,} features reach."
    if loss < -SAME:
        return (
            f"The choice does better than all {n_features:,} features by {-loss:.3f}: what was "
            "left out disturbs more than it tells."
        )
    within = max(abs(loss), 0.001)
    return f"The choice does as well as all {n_features:,} features, within {within:.3f}."


def _hard_title(hard: list[dict[str, Any]], problem: Problem) -> str:
    n_pairs = Decomposition("one-vs-one", problem.n_classes).n_subproblems
    if n_pairs == 1:
        return "The pair of classes"
    if len(hard) == n_pairs:
        return f"All {n_pairs} pairs of classes, hardest first"
    return f"The {len(hard)} hardest of {n_pairs:,} pairs of classes"


def _hardest(pairs: list[dict[str, Any]], set_auc: Array | None) -> list[dict[str, Any]]:
    """Return the rows of the hardest pairs, by cross-validation where there is one."""
    if set_auc is None:
        return pairs[:N_HARD]
    measured = [row for row in pairs if not np.isnan(set_auc[row["pair"]])]
    return sorted(measured, key=lambda row: float(set_auc[row["pair"]]))[:N_HARD]


def _facts(
    row: dict[str, Any],
    problem: Problem,
    set_auc: Array | None = None,
    every_auc: Array | None = None,
    added_auc: float | None = None,
) -> PairFacts:
    pair = row["pair"]
    members = Decomposition("one-vs-one", problem.n_classes).members[pair]
    first, second = (text(problem.classes[code]) for code in members)
    n_first, n_second = (int(problem.class_counts[code]) for code in members)
    return PairFacts(
        names=(first, second),
        counts=(n_first, n_second),
        n_features=problem.n_features,
        chosen_auc=row["auc"],
        best_auc=row["all_auc"],
        best_feature=row["all_feature"],
        set_auc=None if set_auc is None else float(set_auc[pair]),
        every_auc=None if every_auc is None else float(every_auc[pair]),
        added_auc=None if added_auc is None else float(added_auc),
    )


def _hard_pair(
    row: dict[str, Any], facts: PairFacts, limits: tuple[float, float] | None = None
) -> dict[str, Any]:
    kind, sentence = diagnose(facts)
    lower, upper = (None, None) if limits is None else map(number, limits)
    return {
        "pair": row["pair"],
        "name": " vs ".join(facts.names),
        "counts": list(facts.counts),
        "auc": row["auc"] if facts.set_auc is None else number(facts.set_auc),
        "lower": lower,
        "upper": upper,
        "kind": kind,
        "title": TITLES[kind],
        "advice": sentence,
    }


def _times_chosen(ranking: Array, held: HeldOut) -> Array:
    """Return in how many folds each chosen feature was chosen again."""
    counts: Array = np.bincount(np.concatenate(held.selections), minlength=held.problem.n_features)
    return counts[ranking]


def _stability(selector: RankingSelector, held: HeldOut, problem: Problem) -> dict[str, Any] | None:
    if len(held.selections) < 2:
        return None
    value = stability(held.selections, problem.n_features).value
    if np.isnan(value):  # all features: there was nothing to choose
        return None
    times = _times_chosen(selector.ranking_, held)
    n_always = int((times == len(held.selections)).sum())
    return {
        "value": number(value),
        "sentence": _stable_sentence(n_always, times, held.selections),
        "word": "stable"
        if value >= STABLE
        else "unstable"
        if value < UNSTABLE
        else "fairly stable",
        "n_fits": len(held.selections),
        "n_always": n_always,
        "n_never": int((times == 0).sum()),
        "sizes": [len(chosen) for chosen in held.selections],
    }


def _stable_sentence(n_always: int, times: Array, selections: list[Array]) -> str:
    n_fits, n_chosen = len(selections), len(times)
    sentence = (
        f"{n_always:,} of {n_chosen:,} features were chosen in all {n_fits} fits, each without "
        f"one of {n_fits} parts of the samples"
    )
    n_never = int((times == 0).sum())
    if n_never:
        sentence += f"; {n_never:,} in none of them"
    sizes = sorted({len(chosen) for chosen in selections})
    if sizes != [n_chosen]:
        sentence += f"; the fits chose {sizes[0]:,} to {sizes[-1]:,} features"
    return sentence + "."
