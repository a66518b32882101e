"""`mauc select`, `mauc rank` and `mauc explain`: the features that a method chooses, and why."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mauc.cli import common, show
from mauc.cli.fitting import Fitted, Fitting, fitted
from mauc.cli.outputs import Written, check_outputs, write_frame, write_page
from mauc.cli.reading import Reading, reads_data, target_option
from mauc.cli.wishes import Wishes
from mauc.exceptions import MaucError
from mauc.results import measure_name, number, plural

if TYPE_CHECKING:
    from rich.table import Table

    from mauc.selectors.base import RankingSelector

_MAX_LINES = 10  # of features that could be replaced, and of interacting pairs; --json has all

#: what `missing_report` finds, by heads of the table
_LACKING = {"missing": "missing", "known_auc": "known AUC", "missing_auc": "missing AUC"}


def size_option(help: str) -> Any:
    """Return the option -k of commands that select features."""
    choices = (
        "auto (as few as cross-validation finds enough), predicted (as few as greedy's model "
        "finds enough) or fdr (those that separate classes significantly, at a false discovery "
        "rate of 5 %, or of --set fdr_alpha=0.1)."
    )
    return click.option("-k", metavar="SIZE", help=f"{help}, {choices}")


@common.command()
@common.data_argument
@target_option
@size_option("How many features: a number (predicted for greedy, otherwise 10 by default), all")
@common.path_option(
    "-o", "--output", help="Write labels and chosen features, in the format of the extension."
)
@common.path_option("--report", help="Write an HTML page about the selection.")
@common.option_group(Fitting, "fitting")
@common.option_group(Wishes, "wishes")
@reads_data
@common.force_option
def select(
    data: str,
    k: str | None,
    output: Path | None,
    report: Path | None,
    fitting: Fitting,
    wishes: Wishes,
    reading: Reading,
    force: bool,
    as_json: bool,
) -> None:
    """Choose features and show which class pairs each one serves.

    DATA is a file; a folder, pattern ('folder/*.parquet') or address (s3://bucket/folder) of
    Parquet or Feather files; - for standard input; or the name of a data set (see mauc datasets
    list), siren by default.

    Example: mauc select data.csv --target label -k 20 --output reduced.csv

    With wishes: mauc select data.csv -t label --keep age --feature-costs prices.csv --budget 100

    Larger than memory: mauc select 'folder/*.parquet' --target label -k 50 --memory 1GB
    """
    check_outputs(output=output, report=report, force=force)
    _check_table(output)
    with fitted(fitting, reading, data, k, wishes, report) as found:
        selector, dataset = found.selector, found.dataset
    written = Written()
    if output is not None:
        from mauc.datasets import write_table

        write = show.watched(write_table, f"writing {output}")
        written.add(lambda: write(dataset.take(selector.ranking_), output, force=force))
    if report is not None:
        written.add(
            lambda: write_page(
                report,
                selector,
                dataset,
                [*reading.words(data), *fitting.seed_words],
                force=force,
                options=fitting.options,
                wishes=wishes.words,
                is_table_written=output is not None,
                classifier=found.classifier,
            )
        )
    facts = _facts(found, fitting)
    if as_json:
        show.print_json({**facts, "files": written.files}, "select-1")
    else:
        show.print_text(
            f"{dataset.name}: {plural(dataset.n_samples, 'sample')}, "
            f"{plural(dataset.n_features, 'feature')}, {plural(len(selector.classes_), 'class')}; "
            f"{fitting.name} chose {len(selector.ranking_)}"
        )
        _print_selection(found, feature_table(selector, dataset.feature_names))
        if sentence := selector.trace_.fall_sentence(dataset.feature_names):
            show.print_sentence(sentence)
        _print_stability(selector, dataset.feature_names)
        _print_spread(selector, dataset.feature_names)
    written.finish()


@common.command()
@common.data_argument
@target_option
@size_option("How many features to show: a number, all (by default)")
@common.path_option(
    "--pairs", help="Write the AUC of every feature on every class pair (csv, parquet, xlsx)."
)
@common.option_group(Fitting, "fitting")
@common.option_group(Wishes, "wishes")
@reads_data
@common.force_option
def rank(
    data: str,
    k: str | None,
    pairs: Path | None,
    fitting: Fitting,
    wishes: Wishes,
    reading: Reading,
    force: bool,
    as_json: bool,
) -> None:
    """Rank all features by a method and show their scores.

    DATA is what mauc select takes. Of numbers with missing values, the share missing, the AUC where
    they are known and the AUC of being missing are shown, too, as means over the class pairs.

    Example: mauc rank data.csv --target label --method su --pairs auc.csv

    Larger than memory: mauc rank big.parquet --target label --method mdfs --memory 1GB
    """
    from mauc.measure.pair_auc import missing_report

    check_outputs(pairs=pairs, force=force)
    written = Written()
    with fitted(fitting, reading, data, k or "all", wishes) as found:
        if pairs is not None:
            written.add(lambda: write_pairs(found, pairs, fitting.jobs, force=force))
    selector, dataset = found.selector, found.dataset
    lacking = missing_report(dataset.X, dataset.y)
    ranked = [
        {
            "rank": place + 1,
            "feature": dataset.feature_names[column],
            "column": column,
            "score": selector.scores_[column],
            **lacking.get(int(column), {}),
        }
        for place, column in enumerate(selector.ranking_)
    ]
    if as_json:
        facts = _facts(found, fitting)
        names = ("data", "columns", "method", "size_curve", "error_bound")
        shown = {name: facts[name] for name in names if name in facts}
        show.print_json({**shown, "features": ranked, "files": written.files}, "rank-1")
    else:
        head = score_head(selector)
        further = _LACKING if lacking else {}
        right = ("#", head, *further.values())
        table = show.make_table("#", "feature", *right[1:], right=right)
        for row in ranked:
            cells = (number(row[key], ".3f") if key in row else "" for key in further)
            name = show.short(row["feature"])
            show.add_row(table, row["rank"], name, number(row["score"], ".4g"), *cells)
        _print_selection(found, table)
        _print_spread(selector, dataset.feature_names)
    written.finish()


@common.command()
@click.argument("data")
@click.argument("feature")
@target_option
@size_option("How many features: a number (predicted for greedy, otherwise 10 by default), all")
@common.option_group(Fitting, "fitting")
@common.option_group(Wishes, "wishes")
@reads_data
def explain(
    data: str,
    feature: str,
    k: str | None,
    fitting: Fitting,
    wishes: Wishes,
    reading: Reading,
    as_json: bool,
) -> None:
    """Explain why a feature was chosen, or why not.

    DATA is a file, - for standard input, or the name of a data set (see mauc datasets list);
    FEATURE is the name of a column. The options are those of mauc select: the same ones explain
    the same selection.

    Example: mauc explain data.csv proline --target label -k 20
    """
    with fitted(fitting, reading, data, k, wishes) as found:
        selector, dataset = found.selector, found.dataset
    from mauc.data.source import ColumnSource
    from mauc.selectors.explain import Explainer, problem_of_fit

    if isinstance(dataset.X, ColumnSource):
        raise MaucError(
            "mauc explain needs the data in memory: leave out --memory and --sketch, or explain a "
            "selection from fewer rows or columns."
        )
    for note in dataset.notes:
        if repr(feature) in note.partition("; left out: ")[2]:
            raise MaucError(
                f"{feature!r} was no candidate: it was left out when the data were read (mauc "
                f"columns says why, --keep-ids keeps it)."
            )
    problem = problem_of_fit(selector, dataset.X, dataset.y)
    explainer = Explainer(selector, problem, dataset.feature_names)
    explanation = show.watched(explainer.explain, "explanation")(explainer.column_of(feature))
    if as_json:
        facts: dict[str, Any] = {
            one.name: getattr(explanation, one.name) for one in fields(explanation)
        }
        facts = {
            "data": dataset.name,
            "columns": list(dataset.notes),
            "method": fitting.name,
            **facts,
            "sentences": explanation.sentences,
        }
        show.print_json(facts, "explain-1")
        return
    for sentence in explanation.sentences:
        show.print_sentence(sentence)


def _check_table(path: Path | None) -> None:
    """Refuse a file of a format that is not written."""
    if path is None:
        return
    from mauc.io.formats import find_format
    from mauc.io.write import check_writable

    try:
        found = find_format(path)
    except MaucError as error:
        raise MaucError(str(error).partition("; or name")[0] + ".") from error
    check_writable(path, found)


def write_pairs(found: Fitted, path: Path, jobs: int, *, force: bool) -> Path:
    """Write the folded AUC of every feature (row) on every class pair (column), or its sketch."""
    import pandas as pd

    from mauc.data.problem import Decomposition
    from mauc.measure.pair_auc import feature_pair_auc

    sketch, dataset = getattr(found.selector, "sketch_", None), found.dataset
    if sketch is None:
        dataset = found.loaded
        auc = show.watched(feature_pair_auc, "AUCs of all features")(
            dataset.X, dataset.y, n_jobs=jobs, client=found.client
        )
    else:
        auc = sketch.pair_auc()
    classes = found.selector.classes_
    frame = pd.DataFrame(auc, columns=Decomposition("one-vs-one", len(classes)).names(classes))
    frame.insert(0, "feature", dataset.feature_names)
    return write_frame(frame, path, force=force)


def _facts(found: Fitted, fitting: Fitting) -> dict[str, Any]:
    """Return a selection as plain values; what is not known is not there."""
    from mauc.selectors.explain import served_pairs
    from mauc.selectors.greedy_mauc import chosen_by_spread

    selector, dataset = found.selector, found.dataset
    names = dataset.feature_names
    served = served_pairs(selector)
    is_paired = selector.decomposition_.name != "whole"
    facts: dict[str, Any] = {
        "data": dataset.name,
        "columns": list(dataset.notes),
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "classes": [str(label) for label in selector.classes_],
        "method": fitting.name,
        "parameters": selector.get_params(),
    }
    curve = getattr(selector, "size_curve_", None)
    if curve is not None:
        facts["size_curve"] = {
            "chosen": curve.size,
            "judge": curve.judge,
            "honest_mauc": curve.honest_mauc,
            "best": curve.best_size,
            "best_judge": curve.leader.judge,
            "sizes": curve.sizes,
            "mauc": curve.mean,
            "standard_error": curve.standard_error,
            "note": curve.edge_note,
        }
    if hasattr(selector, "error_bound_"):
        facts["error_bound"] = float(selector.error_bound_.max())
    if by_spread := chosen_by_spread(selector, names):
        facts["by_spread"] = by_spread
    details = selector.trace_.detail_columns()
    facts["features"] = [
        {
            "step": step.step,
            "feature": names[step.feature],
            "column": step.feature,
            "chosen_for": step.subproblem_name if is_paired else None,
            "rank": step.rank,
            "score": step.score,
            "score_alone": selector.scores_[step.feature],
            **{name: values[step.step - 1] for name, values in details.items()},
            "serves_best": served[step.step - 1],
        }
        for step in selector.trace_
    ]
    stability = getattr(selector, "stability_", None)
    if stability is not None:
        from mauc.selectors.consensus import SHOWN_THRESHOLD

        facts["stability"] = {
            **{key: getattr(stability, key) for key in ("value", "lower", "upper")},
            "n_resamples": len(selector.rankings_),
        }
        facts["wrong_features"] = selector.error_control_.at(SHOWN_THRESHOLD)._asdict()
    if getattr(selector, "alternatives_", None) is not None:
        facts["alternatives"] = [
            {"feature": names[one.feature], "alternative": names[one.alternative], "loss": one.loss}
            for exchanges in selector.alternatives_.with_names(names).values()
            for one in exchanges
        ]
    return facts


def _print_selection(found: Fitted, table: "Table") -> None:
    """Print the curve of sizes, the table, and how far AUCs of a sketch may be off."""
    selector = found.selector
    if hasattr(selector, "size_curve_"):
        show.print_text(str(selector.size_curve_))
    show.print_table(table)
    if hasattr(selector, "error_bound_"):
        bound = float(selector.error_bound_.max())
        show.print_text(f"AUCs by a sketch of the rows: off by at most {bound:.2g}")


def _print_stability(selector: Any, names: Sequence[str]) -> None:
    """Print how stable a selection is, if that was measured, and which features could change."""
    if hasattr(selector, "stability_"):
        from mauc.selectors.consensus import stability_sentence

        if sentence := stability_sentence(selector):
            show.print_sentence(sentence)
    if getattr(selector, "alternatives_", None) is not None:
        _print_lines(selector.alternatives_.with_names(names).lines())


def _print_spread(selector: Any, names: Sequence[str]) -> None:
    """Print the features that count by their spread, if there are any."""
    from mauc.selectors.greedy_mauc import spread_sentence

    if sentence := spread_sentence(selector, names):
        show.print_sentence(sentence)


def _print_lines(lines: list[str]) -> None:
    for line in lines[:_MAX_LINES]:
        show.print_sentence(line)
    if len(lines) > _MAX_LINES:
        show.print_sentence(f"... and {len(lines) - _MAX_LINES} more (--json has all)")


def is_greedy(selector: "RankingSelector") -> bool:
    """Whether a fitted selector judged features given those chosen before."""
    if selector.decomposition_.name != "whole":
        return not hasattr(selector, "recipe")
    alone = [float(selector.scores_[step.feature]) for step in selector.trace_]
    return alone != [step.score for step in selector.trace_]


def score_head(selector: "RankingSelector") -> str:
    """Return what tables call the scores of a fitted selector, those of features by themselves."""
    measure, is_paired = selector.score_label, _is_paired(selector)
    if hasattr(selector, "frequencies_"):
        return "mean frequency"  # of a consensus
    if is_greedy(selector):
        return "alone" if is_paired else f"{measure} alone"
    # The AUC of a feature on the whole problem is its mean over the class pairs.
    is_mean = is_paired or (measure == "AUC" and len(selector.classes_) > 2)
    return f"mean {measure}" if is_mean else measure


def _is_paired(selector: "RankingSelector") -> bool:
    """Whether features were chosen for sub-problems that differ: two classes have but one."""
    return selector.decomposition_.name != "whole" and len(selector.classes_) > 2


def feature_table(selector: "RankingSelector", feature_names: Sequence[str]) -> "Table":
    """Return the table of a fitted selector, one row per chosen feature."""
    from mauc.selectors.explain import served_pairs

    measure = selector.score_label
    served, is_paired = served_pairs(selector), _is_paired(selector)
    n_classes = len(selector.classes_)
    asking = ("chosen for", "rank") if is_paired else ()
    serving = ("serves best",) if n_classes > 2 else ()
    details = selector.trace_.detail_columns()
    if "predicted_mauc" in details:
        values = {
            f"predicted {measure_name(n_classes)}": details["predicted_mauc"],
            "added": details["added"],
            "mean AUC alone" if n_classes > 2 else "AUC alone": selector.pair_auc_.mean(axis=1),
        }
    else:
        values = {score_head(selector): selector.scores_[selector.ranking_]}
        if is_paired or is_greedy(selector):
            there = f"{measure} there" if is_paired else f"{measure} when chosen"
            values = {there: selector.trace_.scores, **values}
    if "spent" in details:
        values["cost so far"] = details["spent"]
    table = show.make_table(
        "#", "feature", *asking, *values, *serving, right=("#", "rank", *values)
    )
    for at, step in enumerate(selector.trace_):
        pairs = [show.short(pair) for pair in served[at]]
        show.add_row(
            table,
            step.step,
            show.short(feature_names[step.feature]),
            *([show.short(step.subproblem_name), step.rank] if is_paired else []),
            *(number(column[at], ".3f") for column in values.values()),
            *serving and [", ".join(pairs[:3]) + f" and {len(pairs) - 3} more" * (len(pairs) > 3)],
        )
    return table
