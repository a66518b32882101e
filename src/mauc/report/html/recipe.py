"""How a selection is made again: a fitted selector in, Python code that runs when pasted out."""

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from mauc.exceptions import MaucError
from mauc.registry import SELECTORS
from mauc.selectors.base import RankingSelector

UNKNOWN_DATA = "X, y = ...  # the table and its labels"


def selection_code(selector: RankingSelector, source: str | None, is_weighted: bool) -> str:
    """Return code that reads the data, fits the selector and prints what it chose.

    Parameters
    ----------
    selector : RankingSelector
    source : str or None
        Expression that reads the data as a `mauc.datasets.Dataset`; None if it is not known.
    is_weighted : bool
        Whether the selector was fitted with weights.

    Examples
    --------
    >>> from mauc import MDFS
    >>> from mauc.report.html.recipe import selection_code
    >>> print(selection_code(MDFS(5, random_state=0), "load_dataset('wine')", False))
    from mauc import MDFS
    from mauc.datasets import load_dataset
    <BLANKLINE>
    dataset = load_dataset('wine')
    X, y = dataset.X, dataset.y
    selector = MDFS(n_features_to_select=5, random_state=0).fit(X, y)
    print([dataset.feature_names[column] for column in selector.ranking_])
    """
    lines = [import_line(selector), *_reading(source), ""]
    if source is None:
        lines.append(UNKNOWN_DATA)
        chosen = "selector.get_feature_names_out()"
    else:
        lines += [f"dataset = {source}", "X, y = dataset.X, dataset.y"]
        chosen = "[dataset.feature_names[column] for column in selector.ranking_]"
    if is_weighted:
        lines.append("sample_weight = ...  # one weight per row")
    weights = ", sample_weight" if is_weighted else ""
    lines += [f"selector = {call_of(selector)}.fit(X, y{weights})", f"print({chosen})"]
    return "\n".join(lines)


def import_line(selector: RankingSelector) -> str:
    """Return the lines that import the class of a selector, and of one that it holds."""
    import mauc  # here, because mauc may offer the report by its own name

    name = type(selector).__name__
    home = "mauc" if getattr(mauc, name, None) is type(selector) else type(selector).__module__
    lines = [f"from {home} import {name}"]
    for value in selector.get_params(deep=False).values():
        if isinstance(value, RankingSelector):
            lines.append(import_line(value))
    return "\n".join(lines)


def call_of(selector: RankingSelector, **changes: Any) -> str:
    """Return the call that makes a selector, whole: scikit-learn abbreviates long ones.

    Parameters
    ----------
    selector : RankingSelector
    **changes
        Parameters with another value.
    """
    usual = clone(selector).__class__().get_params(deep=False)
    given = selector.get_params(deep=False) | changes
    words = [
        f"{name}={_literal(value)}"
        for name, value in given.items()
        if _literal(value) != _literal(usual[name])
    ]
    return f"{type(selector).__name__}({', '.join(words)})"


def short_name(selector: RankingSelector, among: Iterable[str] = SELECTORS) -> str | None:
    """Return the name of a selector on the command line; None if it has none of these."""
    parameters = selector.get_params(deep=False)
    for name in among:
        entry = SELECTORS.get(name)
        # SCHI and SSU are one class that differs in an option.
        is_same = entry and entry.estimator_class is type(selector)
        if entry and is_same and entry.options.items() <= parameters.items():
            return name
    return None


def check_source(source: str | None) -> str | None:
    """Return the expression that reads the data, or raise if it is none; "" is not known."""
    if not source:
        return None
    try:
        ast.parse(source, mode="eval")
    except SyntaxError:
        raise MaucError(
            "source must be a Python expression that reads the data, such as "
            f"\"load_dataset('data.csv', 'label')\", got {source!r}."
        ) from None
    return source


def _reading(source: str | None) -> list[str]:
    """Return the line that imports what the expression calls from mauc.datasets."""
    from mauc import datasets

    if source is None:
        return []
    called = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    known = sorted(called & set(datasets.__all__))
    return [f"from mauc.datasets import {', '.join(known)}"] if known else []


def _literal(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        return repr(value.tolist())
    if isinstance(value, RankingSelector):
        return call_of(value)
    return repr(value)
