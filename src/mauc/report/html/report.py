"""The report of a selection: a fitted selector and its data in, one plain dict and its page out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mauc.data.frames import leave_out_dates
from mauc.data.problem import Decomposition, Problem
from mauc.evaluation.folds import check_cv
from mauc.exceptions import MaucError
from mauc.files import write_atomic
from mauc.measure.pair_tests import significant_cells
from mauc.report.html.comparison import summarise_comparison
from mauc.report.html.conclude import STEPS, choose_step, conclude, hardest_first
from mauc.report.html.recipe import check_source, python_steps
from mauc.report.html.summarise import (
    check_names,
    data_part,
    explanations_part,
    features_part,
    findings_part,
    pairs_part,
    reproduce_part,
    selection_part,
    sizes_part,
)
from mauc.report.html.values import N_BINS, bin_features, draw_rows, number
from mauc.report.html.what_if import what_if_part
from mauc.results import plural
from mauc.selectors.base import RankingSelector
from mauc.selectors.explain import problem_of_fit
from mauc.stats import Comparison

# What a page holds at most, so that a browser opens it at once: 5,000 features x 325 pairs of
# 26 classes fit; of more, the features chosen first are kept.
MAX_CELLS = 2_500_000  # of the map
MAX_COUNTS = 3_200_000  # of the distributions
MAX_PAIRS = 20_000  # in the list of hard pairs
MAX_POINTS = 1_000_000  # values on scatter plots


@dataclass(frozen=True, repr=False)
class Report:
    """What was chosen from which data, why, and what remains hard; made by `selection_report`.

    A notebook shows it in a frame.

    Parameters
    ----------
    summary : dict
        All that the page shows, as plain values.
    """

    summary: dict[str, Any]

    def __repr__(self) -> str:
        return f"Report({self.summary['title']!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return the summary: plain values that survive JSON, None where there is no number."""
        return self.summary

    def to_json(self) -> str:
        """Return the summary as JSON."""
        return json.dumps(self.summary, allow_nan=False)

    def to_html(self) -> str:
        """Return the page: one HTML document that needs no network and nothing beside it."""
        from mauc.report.html.render import render_page

        return render_page(self.summary)

    def write(self, path: str | Path, force: bool = False) -> Path:
        """Write the page, or the summary if the path ends in .json; `force` replaces a file."""
        is_json = Path(path).suffix.lower() == ".json"
        return write_atomic(path, self.to_json() if is_json else self.to_html(), force=force)

    def _repr_html_(self) -> str:
        from mauc.report.html.render import render_frame

        return render_frame(self.to_html(), self.summary["title"])


def selection_report(
    selector: RankingSelector,
    X: Any,
    y: Any,
    *,
    title: str | None = None,
    data_name: str | None = None,
    feature_names: Sequence[Any] | None = None,
    sample_weight: Any = None,
    command: str | None = None,
    steps: Mapping[str, str] | None = None,
    run: Any = None,
    comparison: Comparison | None = None,
    notes: Sequence[str] = (),
    source: str | None = None,
    classifier: Any = None,
    groups: Any = None,
    cv: Any = 5,
    what_if_words: Mapping[str, str] | None = None,
) -> Report:
    """Report on a selection: what was chosen, for which class pairs, and which remain hard.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector of this library.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        What it was fitted on.
    y : array-like of shape (n_samples,)
        Class labels.
    title : str, optional
        Heading of the page; made of the other names by default.
    data_name : str, optional
        What the data are called.
    feature_names : sequence of str of length n_features, optional
        By default the column names that ``fit`` saw, or x0, x1, ...
    sample_weight : array-like of shape (n_samples,), optional
        Weights that the selector was fitted with.
    command : str, optional
        What was typed to get here; shown under "how to reproduce".
    steps : dict of str to str, optional
        What to type for each next step that the page may suggest: "greedy" (use GreedyMAUC),
        "auto" (let cross-validation choose the number of features), "more" (features), "compare"
        (with other methods) and "use" (the chosen features); leave "use" out if that is done
        already. By default the page suggests Python code.
    run : DataFrame or path, optional
        Rows of an experiment, as `mauc.experiments.load_run` gives, or the folder of a run: the
        page then compares its selectors.
    comparison : Comparison, optional
        Baseline selector, test and level of that comparison. By default the test of the paper,
        with the selector itself as the baseline where the run has it.
    notes : sequence of str
        Lines on how the columns of a file were taken; shown with the data.
    source : str, optional
        Python expression that reads the data as a `mauc.datasets.Dataset`, such as
        ``"load_dataset('penguins.csv', 'species', drop=['id'])"``. With it the code under "how to
        reproduce" runs as it is.
    classifier : classifier, optional
        What the features are for: it alone then judges them. By default the best of Naive Bayes, a
        linear discriminant, a nearest-neighbour rule and extra trees does.
    groups : array-like of shape (n_samples,), optional
        What rows belong to, such as a patient: those of a group are on one side of every split.
    cv : int, splitter or iterable of splits, default=5
        Folds: their number, stratified by class, and by group where there are groups; a splitter of
        scikit-learn, which gets the labels and groups, such as GroupKFold, LeaveOneGroupOut or
        TimeSeriesSplit; or pairs of training and test rows.
    what_if_words : dict of str to str, optional
        Parts of the command that the what-if section shows, as `mauc.cli.outputs` gives them. By
        default it shows Python code.

    Returns
    -------
    report : Report

    Notes
    -----
    The page opens with what a selection is worth on samples it has not seen: the selector is
    fitted again without each of five parts (`cv`), classifiers are trained on what it finds,
    and the held-out part is scored. So a report takes some five fits; with groups the intervals
    are those of whole groups; tables of more than 10,000
    rows or 10 million values are judged on a stratified part of their rows, and the page says so.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import MDFS
    >>> from mauc.report.html import selection_report
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> report = selection_report(MDFS(4, random_state=0).fit(X, y), X, y, data_name="wine")
    >>> report.to_dict()["title"]
    'wine: 4 features chosen by MDFS'
    >>> [feature["name"] for feature in report.to_dict()["features"][:2]]
    ['proline', 'flavanoids']
    """
    if comparison is not None and run is None:
        raise MaucError("comparison= needs run=, the rows to compare.")
    table, _ = leave_out_dates(X, warns=False)  # fit has warned
    problem = _check_problem(selector, table, y, sample_weight, groups)
    cv = check_cv(cv, problem.n_samples)
    if steps is not None and set(steps) | {"use"} != set(STEPS):
        raise MaucError(f"steps must name {', '.join(STEPS)}, got {', '.join(steps)}.")
    names = check_names(selector, problem, feature_names)
    source = check_source(source)
    name = None if data_name is None else str(data_name)
    decomposition = Decomposition("one-vs-one", problem.n_classes)
    n_selected = len(selector.ranking_)
    n_mapped = min(n_selected, MAX_CELLS // decomposition.n_subproblems)
    n_binned = min(n_selected, MAX_COUNTS // (N_BINS * problem.n_classes))
    pairs = pairs_part(selector, problem, decomposition, names)
    places = np.unique(pairs["best_feature"] + (pairs["second_feature"] or [])) - 1
    places, drawn = draw_rows(problem, places[places < n_binned], MAX_POINTS)
    conclusion = conclude(selector, X, problem, pairs["hardest"], classifier, cv)
    pairs["set_auc"] = conclusion.pop("set_auc")
    if pairs["set_auc"] is not None:  # one order of the pairs: that of the conclusion
        pairs["hardest"] = hardest_first(pairs["hardest"], pairs["set_auc"])
    pairs["hardest"] = pairs["hardest"][:MAX_PAIRS]
    n_fits = conclusion.pop("n_fits")
    significant = significant_cells(problem, selector.ranking_, selector.n_jobs)
    measure = problem.measure
    compared = None if run is None else summarise_comparison(run, selector, comparison, measure)
    conclusion["next"] = _next_step(selector, conclusion, problem, steps, compared)
    if title is None:
        title = f"{plural(n_selected, 'feature')} chosen by {type(selector).__name__}"
        title = title if name is None else f"{name}: {title}"
    return Report(
        {
            "title": str(title),
            "conclusion": conclusion,
            "data": data_part(problem, name, notes),
            "selection": selection_part(selector, problem, names, n_mapped, n_binned),
            "features": features_part(selector, names, n_fits),
            "sizes": sizes_part(selector, name),
            "explanations": explanations_part(selector, problem, names),
            **findings_part(selector, names),
            "pairs": pairs,
            "significant": None if significant is None else significant[:n_mapped].tolist(),
            "pair_auc": [[number(auc) for auc in row] for row in selector.pair_auc_[:n_mapped]],
            "distributions": bin_features(
                problem,
                table,
                selector.ranking_[:n_binned],
                selector.ranking_[places],
                np.concatenate(drawn),
            ),
            "drawn_rows": [rows.tolist() for rows in drawn],
            "comparison": compared,
            "what_if": what_if_part(
                selector,
                problem,
                names,
                what_if_words,
                sample_weight is not None,
                groups is not None,
            ),
            "reproduce": reproduce_part(
                selector, command, source, sample_weight is not None, groups is not None
            ),
        }
    )


def _next_step(
    selector: RankingSelector,
    conclusion: dict[str, Any],
    problem: Problem,
    steps: Mapping[str, str] | None,
    compared: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return the step that the conclusion suggests: its reason, and a command or Python code."""
    n_features, has_groups = problem.n_features, problem.groups is not None
    kind, why = choose_step(selector, conclusion, n_features, compared)
    if problem.wishes is not None and kind != "compare":
        kind, why = "use", "The choice keeps to what was wished. Continue with it:"
    if steps is None:
        code = python_steps(selector, n_features, has_groups)[kind]
        return {"kind": kind, "why": why, "command": None, "code": code}
    if kind not in steps:  # the chosen features were written already
        return {"kind": kind, "why": why.removesuffix(":") + ".", "command": None, "code": None}
    return {"kind": kind, "why": why, "command": str(steps[kind]), "code": None}


def _check_problem(selector: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> Problem:
    if not isinstance(selector, RankingSelector):
        got = type(selector).__name__
        raise MaucError(f"selector must be a fitted selector of mauc, such as MDFS, got {got}.")
    return problem_of_fit(selector, X, y, sample_weight, groups)
