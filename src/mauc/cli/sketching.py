"""Rows sketched instead of columns read: when commands do so, and what they say."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mauc.cli.common import complain
from mauc.cli.streaming import Plan
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.datasets import Dataset

SketchOption = Annotated[
    bool,
    typer.Option(
        "--sketch",
        help="Read the rows once and sketch the AUCs (methods mdfs and maucd), whose largest "
        "error is told; by default only where columns would take too much memory or time.",
    ),
]


def choose_rows(plan: Plan, selector: Any, dataset: "Dataset") -> bool:
    """Choose whether the rows are sketched or the columns read, and say so.

    Parameters
    ----------
    plan : Plan
    selector : RankingSelector
        One without a ``fit_sketch`` reads columns.
    dataset : Dataset
        As it was opened.
    """
    if not plan.is_streamed or not hasattr(selector, "fit_sketch"):
        return False
    from mauc.data.columns import factorize
    from mauc.sketch import choose_strategy

    source = dataset.X
    if plan.is_sketched:
        complain(f"{dataset.name}: sketched by rows, as --sketch says")
        _say_divided_parts(dataset)
        return True
    n_rows, n_columns = source.shape
    choose = partial(
        choose_strategy, n_rows, n_columns, source.n_bytes / (n_rows * n_columns), source.memory,
        n_parts=len(source.row_parts()), waits=source.waits,
    )  # fmt: skip
    is_by_rows, why = choose(n_classes=1)
    if is_by_rows:  # classes only make a sketch larger: for columns they are not counted
        is_by_rows, why = choose(n_classes=len(factorize(dataset.y)[0]))
    complain(f"{dataset.name}: {why}")
    if is_by_rows:
        _say_divided_parts(dataset)
    return is_by_rows


def _say_divided_parts(dataset: "Dataset") -> None:
    """Say if rows that are stored together take so much memory that they are read in parts."""
    from mauc.sketch.rows import parts_of_rows

    stored, read = len(dataset.X.row_parts()), len(parts_of_rows(dataset.X))
    if read > stored:
        complain(
            f"{dataset.name}: to stay within --memory, {stored:,} row group{'s' * (stored > 1)} "
            f"must be read in {read:,} parts, which takes longer; smaller ones are read at once"
        )


def check_sketch(sketch: bool, selector: Any, engine: str) -> None:
    """Refuse ``--sketch`` where there is none, before anything is read."""
    if not sketch:
        return
    if not hasattr(selector, "fit_sketch"):
        raise MaucError(
            f"--sketch goes with the methods mdfs and maucd, which rank by the AUCs of features, "
            f"not with {type(selector).__name__}."
        )
    if engine == "dask":
        raise MaucError("--sketch goes with --engine local: it reads the rows here, in parts.")
