"""The conclusion of a page: how good the choice is, what remains hard, what to do next."""

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from mauc.checks import is_int
from mauc.data.problem import Decomposition, Problem
from mauc.evaluation.certificate import bound_loss
from mauc.evaluation.fold import Judged
from mauc.exceptions import MaucError, MaucWarning
from mauc.metrics import mauc_interval
from mauc.report.html.held_out import HeldOut, hold_out, take_part
from mauc.report.html.values import number
from mauc.results import plural
from mauc.selectors.base import RankingSelector
from mauc.stats import stability

N_HARD = 3
SAME = 0.005  # a difference of MAUC that is negligible here
# Of Nogueira, Sechidis and Brown, after Fleiss: above 0.75 excellent, below 0.4 poor.
STABLE, UNSTABLE = 0.75, 0.4
_MAX_CLASSES = 200  # with an interval: it takes all pairs of classes at once
_POOR = 0.6  # MAUC of features with next to no information

SEPARATED = 0.99  # AUC from which a pair is not called hard
MIN_SAMPLES = 10  # of a class; an AUC on fewer is hardly reliable
MIN_GAP = 0.05  # of AUC, by which a feature is better than the best of the chosen
MIN_GAIN = 0.005  # of cross-validated AUC, by which more features must raise it
MIN_RISE = 0.25  # part of the distance to AUC 1 that they must gain
WEAK = 0.8  # AUC below which two classes are not separated

#: next steps that a conclusion may suggest, see `choose_step`
STEPS = ("greedy", "auto", "more", "compare", "use")
TITLES = {
    "separated": "Well separated",
    "few": "Too few samples",
    "left_out": "A better feature is left out",
    "more": "More features would help",
    "none": "Nothing here separates them",
    "limit": "All features do no better",
    "unknown": "Not cross-validated",
}

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class PairFacts:
    """What is known about a pair of classes; AUCs of classifiers are cross-validated."""

    names: tuple[str, str]
    counts: tuple[int, int]  #: samples of the two classes
    n_features: int  #: of the data
    chosen_auc: float  #: largest of a single chosen feature, on all samples
    best_auc: float  #: largest of any single feature, on all samples
    best_feature: str  #: the feature that has it
    judge: str = ""  #: the best classifier with the chosen features, over all pairs
    set_auc: float | None = None  #: its AUC here
    added_auc: float | None = None  #: its AUC with the chosen features and `best_feature`
    lower: float | None = None  #: bound of `set_auc`
    reached: tuple[float, str] | None = None  #: best AUC with the chosen, and its classifier
    every: tuple[float, str] | None = None  #: the same with all features


def conclude(
    selector: RankingSelector,
    X: Any,
    problem: Problem,
    pairs: list[dict[str, Any]],
    classifier: Any = None,
    cv: Any = 5,
) -> dict[str, Any]:
    """Judge a selection on held-out samples; `pairs` has the best AUCs, the hardest pair first.

    A copy of the selector is fitted without each of the parts that `cv` tests, and the judges of
    `mauc.evaluation.judges`, or the classifier, on what it finds. MAUC is the mean over the parts
    of the best judge, as that of `mauc.select_k`. Without cross-validation ``reason`` says why.
    """
    if problem.sample_weight is not None:
        problem, cv = take_part(problem, cv, np.flatnonzero(problem.sample_weight))
    try:
        held = hold_out(selector, problem, classifier, cv)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MaucWarning)  # classes of one sample are named below
            return _judge(selector, problem, held, pairs) | {"parts": _parts(held, cv)}
    except MaucError as error:
        hard = [_hard_pair(row["pair"], _facts(row, problem)) for row in pairs[:N_HARD]]
        return {
            "reason": str(error),
            "hard": hard,
            "hard_title": _hard_title(hard, problem),
            "chosen": None,
            "every": None,
            "stability": None,
            "set_auc": None,
            "n_fits": None,
        }


def _judge(
    selector: RankingSelector, problem: Problem, held: HeldOut, pairs: list[dict[str, Any]]
) -> dict[str, Any]:
    chosen, n_features = held.ask(), problem.n_features
    every = None if len(selector.ranking_) == n_features else held.ask(np.arange(n_features))
    measured, bounds = _measure(held, chosen)
    curve = getattr(selector, "size_curve_", None)
    measured["honest"] = None if curve is None else number(curve.honest_mauc)
    set_auc = chosen.auc[chosen.best]
    hard = []
    measured_pairs = [row for row in pairs if not np.isnan(set_auc[row["pair"]])]
    for row in hardest_first(measured_pairs, set_auc)[:N_HARD]:
        pair, added_auc = row["pair"], None
        if row["all_auc"] - row["auc"] >= MIN_GAP:
            more = held.ask(added=row["all_column"], judges=[chosen.best])
            added_auc = float(more.auc[chosen.best][pair])
        limits = None if bounds is None else (float(bounds[0][pair]), float(bounds[1][pair]))
        facts = replace(
            _facts(row, problem),
            judge=chosen.judges[chosen.best],
            set_auc=float(set_auc[pair]),
            added_auc=added_auc,
            lower=None if limits is None else limits[0],
            reached=chosen.best_on(pair),
            every=(every or chosen).best_on(pair),
        )
        hard.append(_hard_pair(pair, facts, limits))
    is_single = problem.class_counts < 2
    of_all, losses, certificate = None, np.zeros(len(held.folds)), None
    if every is not None:
        of_all, _ = _measure(held, every)
        losses = every.fold_mauc[every.best] - chosen.fold_mauc[chosen.best]
        if of_all["lower"] is not None:
            certificate = bound_loss(held.problem, chosen, every, len(selector.ranking_))
    verdict, is_clear = _verdict(measured, of_all, losses, n_features)
    # One judge may gain clearly where the best of each set of features may differ by chance.
    if certificate is not None and not is_clear and certificate.bound < 0.0:
        certificate = None
    return {
        "reason": None,
        "verdict": verdict,
        "is_clear": is_clear,
        "certificate": None if certificate is None else certificate.sentence,
        "hard_title": _hard_title(hard, problem),
        "n_folds": len(held.folds),
        "n_rows": held.problem.n_samples,
        "n_samples": problem.n_samples,
        "is_part": held.problem.n_samples < problem.n_samples,
        "is_weighted": problem.sample_weight is not None,
        "absent": [str(label) for label in problem.classes[is_single]],
        "chosen": measured,
        "every": of_all,
        "hard": hard,
        "stability": _stability(selector, held, problem),
        "set_auc": [number(auc) for auc in set_auc],
        "n_fits": _times_chosen(selector.ranking_, held).tolist(),
    }


def _parts(held: HeldOut, cv: Any) -> str:
    """Return what the parts are that were left out, in words."""
    groups = held.problem.groups
    if not is_int(cv):
        by = "given parts" if isinstance(cv, list) else f"parts by {type(cv).__name__}"
        return by if groups is None else f"{by}, with {len(np.unique(groups)):,} groups,"
    if groups is None:
        return "stratified parts"
    return f"stratified parts, each of whole groups ({len(np.unique(groups)):,} in all),"


def _measure(held: HeldOut, judged: Judged) -> tuple[dict[str, Any], tuple[Array, Array] | None]:
    """Return MAUC of the best judge with its interval, and the bounds of every pair."""
    problem, best = held.problem, judged.best
    mauc = judged.mauc[best]
    found: dict[str, Any] = {
        "judge": judged.judges[best],
        "judges": {judged.judges[name]: number(value) for name, value in judged.mauc.items()},
        "mauc": number(mauc),
        "lower": None,
        "upper": None,
        "level": None,
    }
    if problem.n_classes > _MAX_CLASSES:
        return found, None
    scores = np.concatenate(judged.scores[best])
    interval = mauc_interval(y_score=scores, **judged.pooled(problem))
    # With classes that some folds lack, the mean over the pairs is not that over the folds.
    found["lower"], found["upper"] = (
        number(min(interval.lower, mauc)),
        number(max(interval.upper, mauc)),
    )
    return found | {"level": interval.level}, (interval.pair_lower, interval.pair_upper)


def _verdict(
    chosen: dict[str, Any], every: dict[str, Any] | None, losses: Array, n_features: int
) -> tuple[str, bool]:
    """Return what all features do better or worse, by fold, and whether that is clear."""
    if every is None:
        return "All features are chosen.", True
    loss, n_folds = every["mauc"] - chosen["mauc"], len(losses)
    whole, within = f"all {n_features:,} features", max(abs(loss), 0.001)
    if abs(loss) <= SAME:
        return f"The choice does as well as {whole}, within {within:.3f}.", True
    word = "less" if loss > 0 else "more"
    if every["lower"] is None or every["lower"] <= chosen["mauc"] <= every["upper"]:
        # Training parts overlap: the variance of Nadeau and Bengio.
        spread = np.std(losses, ddof=1) * math.sqrt(1 / n_folds + 1 / (n_folds - 1))
        if not abs(loss) > spread * stats.t.isf(0.025, n_folds - 1):
            unclear = f"The choice reaches {within:.3f} {word} than {whole}; that may be chance."
            return unclear, False
    return (
        f"The choice reaches {within:.3f} {word}, by {chosen['judge']}, than {whole} by "
        f"{every['judge']}."
    ), True


def _hard_title(hard: list[dict[str, Any]], problem: Problem) -> str:
    n_pairs = Decomposition("one-vs-one", problem.n_classes).n_subproblems
    if n_pairs == 1:
        return "The two classes"
    if len(hard) == n_pairs:
        return f"All {n_pairs} pairs of classes, hardest first"
    return f"The {len(hard)} hardest of {n_pairs:,} pairs of classes"


def hardest_first(pairs: list[dict[str, Any]], set_auc: Any) -> list[dict[str, Any]]:
    """Return the rows of pairs by their AUC in cross-validation, those without one last."""
    known = np.array(set_auc, dtype=np.float64)  # None becomes NaN
    return sorted(pairs, key=lambda row: np.nan_to_num(known[row["pair"]], nan=2.0))


def _facts(row: dict[str, Any], problem: Problem) -> PairFacts:
    """Return what is known about a pair without cross-validation."""
    members = Decomposition("one-vs-one", problem.n_classes).members[row["pair"]]
    first, second = (str(problem.classes[code]) for code in members)
    n_first, n_second = (int(problem.class_counts[code]) for code in members)
    return PairFacts(
        (first, second),
        (n_first, n_second),
        problem.n_features,
        row["auc"],
        row["all_auc"],
        row["all_feature"],
    )


def _hard_pair(
    pair: int, facts: PairFacts, limits: tuple[float, float] | None = None
) -> dict[str, Any]:
    kind, sentence = diagnose(facts)
    lower, upper = (None, None) if limits is None else map(number, limits)
    return {
        "pair": pair,
        "name": " vs ".join(facts.names),
        "counts": list(facts.counts),
        "auc": facts.chosen_auc if facts.set_auc is None else number(facts.set_auc),
        "lower": lower,
        "upper": upper,
        "kind": kind,
        "title": TITLES[kind],
        "advice": sentence,
    }


def _times_chosen(ranking: Array, held: HeldOut) -> Array:
    """Return in how many folds each chosen feature was chosen again."""
    counts = np.bincount(np.concatenate(held.selections), minlength=held.problem.n_features)
    return np.asarray(counts[ranking])


def _stability(selector: RankingSelector, held: HeldOut, problem: Problem) -> dict[str, Any] | None:
    value = stability(held.selections, problem.n_features).value
    if np.isnan(value):  # all features: there was nothing to choose
        return None
    times = _times_chosen(selector.ranking_, held)
    sizes = [len(chosen) for chosen in held.selections]
    n_fits, n_chosen = len(sizes), len(times)
    n_always, n_never = int((times == n_fits).sum()), int((times == 0).sum())
    sentence = (
        f"{n_always:,} of {n_chosen:,} features were chosen in all {n_fits} fits, each without "
        f"one of {n_fits} parts of the samples"
    )
    if n_never:
        sentence += f"; {n_never:,} in none of them"
    if set(sizes) != {n_chosen}:
        sentence += f"; the fits chose {min(sizes):,} to {max(sizes):,} features"
    return {
        "value": number(value),
        "sentence": f"{sentence}.",
        "word": stable_word(value),
        "limits": [STABLE, UNSTABLE],
        "n_fits": n_fits,
        "n_always": n_always,
        "n_never": n_never,
        "sizes": sizes,
    }


def stable_word(value: float) -> str:
    """Return the word for a stability as it is shown, with three digits."""
    if round(value, 3) >= STABLE:
        return "stable"
    return "unstable" if round(value, 3) < UNSTABLE else "fairly stable"


def choose_step(
    selector: RankingSelector,
    conclusion: dict[str, Any],
    n_features: int,
    compared: dict[str, Any] | None = None,
) -> tuple[str, str]:
    """Return which of `STEPS` a conclusion suggests, and the reason in words."""
    kinds = {pair["kind"] for pair in conclusion["hard"]}
    is_greedy = type(selector).__name__ == "GreedyMAUC"
    curve = getattr(selector, "size_curve_", None)
    can_grow = len(selector.ranking_) < n_features
    chosen, every = conclusion["chosen"], conclusion["every"]
    is_binary = len(selector.classes_) == 2
    hard = "the two classes" if is_binary else "the pairs above"
    if better := [test for test in (compared or {}).get("tests", []) if test["mark"] == "better"]:
        most = max(better, key=lambda test: test["difference"])
        return "use", (
            f"The comparison below has {most['selector']} significantly ahead with "
            f"{plural(most['size'], 'feature')} ({most['classifier']}: {most['mean']:.3f} against "
            f"{most['reference_mean']:.3f}): look at it before you continue with this choice:"
        )
    if "left_out" in kinds and not is_greedy:
        return "greedy", (
            f"The choice leaves better features out. GreedyMAUC looks at "
            f"{'' if is_binary else 'all class pairs at once and at '}"
            f"what the chosen features already separate:"
        )
    is_clear = chosen and every and conclusion["is_clear"]
    loss = every["mauc"] - chosen["mauc"] if is_clear else 0.0
    if curve is None and can_grow and (loss > SAME or "left_out" in kinds):
        return "auto", (
            "More features would do better. Let cross-validation choose how many are enough:"
        )
    if curve is not None and loss > SAME:
        return "more", "All features together do better than the sizes that were tried. Try more:"
    measured = conclusion["stability"]
    is_unstable = measured and stable_word(measured["value"]) == "unstable"
    if is_unstable and curve is None:
        return "auto", (
            "Other samples would lead to another choice. Let cross-validation choose how many "
            "features are enough:"
        )
    if is_unstable:
        return "compare", (
            "Other samples would lead to another choice. See whether another method does better:"
        )
    if not can_grow:
        return "use", "All features are in use: no other choice is possible. Continue with them:"
    if chosen is None and kinds & {"none", "few"}:
        return "compare", (
            f"Too little is known about {hard}: more samples, or other measurements, are "
            "needed before a choice can be trusted. See whether another method does better:"
        )
    if chosen is None:
        return "use", "Continue with the choice; more samples would show how good it is:"
    if chosen["mauc"] < _POOR and (every is None or every["mauc"] < _POOR):
        return "compare", (
            "No classifier separates the classes, with the chosen features or with all: more "
            "samples or other measurements are needed. See whether another method does better:"
        )
    if kinds <= {"few"}:
        return "use", (
            f"{hard.capitalize()} have too few samples to be judged; more would show how good the "
            "choice is. Continue with it:"
        )
    if kinds <= {"none", "few"}:
        return "compare", (
            f"Nothing here separates {hard}: more samples or other measurements are "
            "needed. See whether another method does better:"
        )
    if "more" in kinds and is_binary:
        return "use", (
            "That all features do better may be chance. Continue with the choice, or choose more "
            "features:"
        )
    if "more" in kinds:
        return "use", (
            "Over all pairs the choice does as well as all features. Continue with it, or choose "
            "more features if the pairs above matter:"
        )
    return "use", "Nothing in this comparison speaks against the choice. Continue with it:"


def diagnose(pair: PairFacts) -> tuple[str, str]:
    """Return what would help a pair of classes: a key of `TITLES`, and a sentence with numbers.

    A statement about the features is one about the best classifier of the panel.
    """
    small = min(pair.counts)
    is_wide = pair.lower is not None and pair.lower < WEAK
    if pair.set_auc is not None and pair.set_auc >= SEPARATED and not is_wide:
        return "separated", "The chosen features separate them; nothing needs to be done."
    if small < MIN_SAMPLES:
        who = " and ".join(
            f"{name} has {count}"
            for name, count in zip(pair.names, pair.counts, strict=True)
            if count < MIN_SAMPLES
        )
        return "few", f"{who}: more samples are needed before any feature can be judged."
    chance = chance_auc(pair.counts, pair.n_features)
    if pair.best_auc < chance and chance > WEAK:
        return "few", (
            f"The best of {pair.n_features:,} features has an AUC of {pair.best_auc:.3f}, and "
            f"with {pair.counts[0]:,} and {pair.counts[1]:,} samples chance alone may give "
            f"{chance:.3f}: more samples are needed to find which feature helps."
        )
    if _is_left_out(pair):
        gain = ""
        if pair.added_auc is not None and pair.set_auc is not None:
            gain = f"; with it {pair.judge} gets from {pair.set_auc:.3f} to {pair.added_auc:.3f}"
        return "left_out", (
            f"{pair.best_feature} alone has an AUC of {pair.best_auc:.3f} here, the best chosen "
            f"feature {pair.chosen_auc:.3f}{gain}."
        )
    if pair.reached is None or pair.every is None:
        return "unknown", (
            f"Alone the best of all features has an AUC of {pair.best_auc:.3f} here; how well "
            "several separate them together was not measured."
        )
    (reached, judge), (every, judge_of_all) = pair.reached, pair.every
    if _is_gain(reached, every):
        return "more", (
            f"With all {pair.n_features:,} features {judge_of_all} reaches {every:.3f} here, with "
            f"the chosen no classifier more than {reached:.3f} ({judge}): several features "
            "together separate them better."
        )
    if max(reached, every, pair.best_auc) < _POOR:
        return "none", (
            f"No single feature and no classifier, with all {pair.n_features:,} features or with "
            f"the chosen, has an AUC above {max(reached, every, pair.best_auc):.3f} here: other "
            "measurements are needed, not another choice."
        )
    return "limit", (
        f"With the chosen features {judge} reaches {reached:.3f} here, and with all "
        f"{pair.n_features:,} no classifier more than {every:.3f} ({judge_of_all})."
    )


def _is_left_out(pair: PairFacts) -> bool:
    is_better = pair.best_auc - pair.chosen_auc >= MIN_GAP
    if pair.added_auc is None or pair.set_auc is None:
        return is_better
    return is_better and _is_gain(pair.set_auc, pair.added_auc)


def _is_gain(auc: float, larger: float) -> bool:
    """Whether an AUC gains enough to speak of, of what is left to gain."""
    return larger - auc > max(MIN_GAIN, MIN_RISE * (1 - auc))


def chance_auc(counts: tuple[int, int], n_features: int, alpha: float = 0.05) -> float:
    """Return the AUC that the best of many features without information exceeds rarely.

    By the normal approximation of Mann and Whitney's statistic, with Bonferroni's correction.
    """
    first, second = counts
    deviation = math.sqrt((first + second + 1) / (12 * first * second))
    z: Any = stats.norm.isf(alpha / (2 * n_features))
    return min(1.0, 0.5 + float(z) * deviation)
