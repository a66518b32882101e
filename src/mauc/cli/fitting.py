"""Load the data of a command and fit its selector: on columns, on a cluster, or on a sketch."""

from typing import TYPE_CHECKING, Any

from mauc.cli.common import DEFAULT_METHOD
from mauc.cli.data import check_size, chosen_method, say_columns, suited
from mauc.cli.reading import as_options
from mauc.cli.show import print_text, watched
from mauc.cli.sketching import choose_rows
from mauc.cli.streaming import Plan
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.datasets import Dataset
    from mauc.selectors.base import RankingSelector


def fit_on(
    selector: "RankingSelector", dataset: "Dataset", client: Any = None, what: str | None = None
) -> None:
    """Fit a selector on data that suit it; errors name the options of the command line."""
    options = {} if client is None else {"client": client}
    try:
        watched(selector.fit, what or type(selector).__name__)(dataset.X, dataset.y, **options)
    except MaucError as error:
        raise type(error)(as_options(str(error))) from error


def fit_rows(selector: Any, dataset: "Dataset") -> None:
    """Fit a selector on a sketch of the rows."""
    from mauc.sketch import sketch_rows

    try:
        sketch = watched(sketch_rows, f"sketch for {type(selector).__name__}")(
            dataset.X, dataset.y, n_jobs=selector.n_jobs
        )
        selector.fit_sketch(sketch)
    except MaucError as error:
        raise type(error)(as_options(str(error))) from error


def error_bound(selector: Any) -> float | None:
    """Return the largest possible error of the AUCs shown; None if they are exact."""
    bound = getattr(selector, "error_bound_", None)
    return None if bound is None else float(bound.max())


def error_dict(selector: Any) -> dict[str, Any]:
    """Return the largest possible error as plain values; nothing where AUCs are exact."""
    bound = error_bound(selector)
    return {} if bound is None else {"error_bound": bound}


def say_error(selector: Any) -> None:
    """Print how far AUCs of a sketch may be off, below their table."""
    bound = error_bound(selector)
    if bound is not None:
        print_text(f"AUCs by a sketch of the rows: off by at most {bound:.2g}")


def load_and_fit(
    selector: "RankingSelector", plan: Plan, method: str | None, k: str | None, client: Any = None
) -> "tuple[Dataset, Dataset]":
    """Load the data of a command and fit its selector on them, and say how they were taken.

    Parameters
    ----------
    selector : RankingSelector
    plan : Plan
    method : str, optional
        What ``--method`` says.
    k : str, optional
        What ``-k`` says.
    client : optional
        As `fit` takes it.

    Returns
    -------
    loaded : Dataset
    dataset : Dataset
        As the selector took it: nominal columns are numbers, if it has to be.
    """
    loaded = plan.load()
    is_sketched = client is None and choose_rows(plan, selector, loaded)
    dataset = suited(selector, loaded, method or DEFAULT_METHOD, is_sketched=is_sketched)
    say_columns(dataset, plan.data)
    size = check_size(k, dataset.n_features, selector)
    chosen_method(method)
    selector.set_params(n_features_to_select=size)
    if is_sketched:
        fit_rows(selector, dataset)
    else:
        fit_on(selector, dataset, client)
    return loaded, dataset
