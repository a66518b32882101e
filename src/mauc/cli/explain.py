"""`mauc explain`: why a feature was chosen, or why not."""

from dataclasses import fields
from typing import Any

import click

from mauc.cli import common, show
from mauc.cli.fitting import Fitting, fitted
from mauc.cli.reading import Reading, reads_data, target_option
from mauc.cli.select import size_option
from mauc.cli.wishes import Wishes
from mauc.exceptions import MaucError


@common.command()
@click.argument("data")
@click.argument("feature")
@target_option
@size_option("How many features: a number (predicted for greedy, otherwise 10 by default), all")
@common.option_group(Fitting, "fitting")
@common.option_group(Wishes, "wishes")
@reads_data
def explain(
    data: str, feature: str, k: str | None, fitting: Fitting, wishes: Wishes, reading: Reading,
    as_json: bool,
) -> None:  # fmt: skip
    """Explain why a feature was chosen, or why not.

    DATA is a file, - for standard input, or the name of a data set (see mauc datasets list);
    FEATURE is the name of a column. The options are those of mauc select: the same ones explain
    the same selection.

    Example: mauc explain data.csv proline --target label -k 20
    """
    with fitted(fitting, reading, data, k, wishes) as found:
        selector, dataset = found.selector, found.dataset
    from mauc.selectors.explain import Explainer

    if not hasattr(selector, "_problem"):
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
    explainer = Explainer(selector, selector._problem, dataset.feature_names)
    explanation = show.watched(explainer.explain, "explanation")(explainer.column_of(feature))
    if as_json:
        facts: dict[str, Any] = {one.name: getattr(explanation, one.name)
                                 for one in fields(explanation)}  # fmt: skip
        facts = {"data": dataset.name, "columns": list(dataset.notes), "method": fitting.name,
                 **facts, "sentences": explanation.sentences}  # fmt: skip
        show.print_json(facts, "explain-1")
        return
    for sentence in explanation.sentences:
        show.print_sentence(sentence)
