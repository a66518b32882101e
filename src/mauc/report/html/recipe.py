"""The Python code of a page: how a selection is made again, and what to run next."""

import ast
from collections.abc import Iterable
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import clone

from mauc.exceptions import MaucError
from mauc.registry import SELECTORS
from mauc.selectors.base import RankingSelector

UNKNOWN_DATA = "X, y = ...  # the table and its labels"
_GROUPS = ", groups=groups"
_RIVALS = {"greedy": "GreedyMAUC()", "mdfs": "MDFS(random_state=0)", "mrmr": "MRMR()"}


def selection_code(
    selector: RankingSelector, source: str | None, is_weighted: bool, has_groups: bool = False
) -> str:
    """Return code that reads the data by `source`, fits the selector and prints what it chose."""
    lines = [import_line(selector), *_reading(source), ""]
    if source is None:
        lines.append(UNKNOWN_DATA)
        chosen = "selector.get_feature_names_out()"
    else:
        lines += [f"dataset = {source}", "X, y = dataset.X, dataset.y"]
        chosen = "[dataset.feature_names[column] for column in selector.ranking_]"
    if is_weighted:
        lines.append("sample_weight = ...  # one weight per row")
    if has_groups:
        is_read = source is not None and "groups=" in source
        known = "dataset.groups" if is_read else "...  # what each row belongs to"
        lines.append(f"groups = {known}")
    more = ", sample_weight" * is_weighted + _GROUPS * has_groups
    lines += [f"selector = {call_of(selector)}.fit(X, y{more})", f"print({chosen})"]
    return "\n".join(lines)


def import_line(selector: RankingSelector) -> str:
    """Return the lines that import the class of a selector, and what it holds."""
    import mauc  # here, because mauc may offer the report by its own name

    name = type(selector).__name__
    home = "mauc" if getattr(mauc, name, None) is type(selector) else type(selector).__module__
    lines = [f"from {home} import {name}"]
    for value in selector.get_params(deep=False).values():
        if isinstance(value, RankingSelector):
            lines.append(import_line(value))
        elif isinstance(value, FunctionType):
            lines.append(f"from {value.__module__} import {value.__name__}")
    return "\n".join(lines)


def call_of(selector: RankingSelector, **changes: Any) -> str:
    """Return the whole call that makes a selector (scikit-learn abbreviates), with some changes."""
    default = clone(selector).__class__().get_params(deep=False)
    given = selector.get_params(deep=False) | changes
    words = [
        f"{name}={_literal(value)}"
        for name, value in given.items()
        if _literal(value) != _literal(default[name])
    ]
    return f"{type(selector).__name__}({', '.join(words)})"


def short_name(selector: RankingSelector, among: Iterable[str] = SELECTORS) -> str | None:
    """Return the short name of a selector in the registry; None if it has none of these."""
    parameters = selector.get_params(deep=False)
    for name in among:
        entry = SELECTORS.get(name)
        # SCHI and SSU are one class that differs in an option.
        is_same = entry and entry.estimator_class is type(selector)
        if entry and is_same and entry.options.items() <= parameters.items():
            return name
    return None


def rivals_of(selector: RankingSelector) -> list[str]:
    """Return the short names of three methods to compare, the selector first if it has one."""
    name = short_name(selector)
    return list(dict.fromkeys([name, *_RIVALS] if name else _RIVALS))[:3]


def python_steps(
    selector: RankingSelector, n_features: int, has_groups: bool = False
) -> dict[str, str]:
    """Return the code of every step that a conclusion may suggest; see `choose_step`."""
    size, name, more = len(selector.ranking_), short_name(selector), _GROUPS * has_groups
    calls = [
        call_of(selector) if rival == name else _RIVALS[rival] for rival in rivals_of(selector)
    ]
    classes = ", ".join(sorted({call.partition("(")[0] for call in calls}))
    return {
        "greedy": f"from mauc import GreedyMAUC\n\nselector = GreedyMAUC({size}).fit(X, y{more})",
        "auto": _fit_again(selector, more, n_features_to_select="auto"),
        "more": _fit_again(selector, more, n_features_to_select=min(2 * size, n_features)),
        "compare": (
            f"from mauc import {classes}, select_k\n\nfor rival in ({', '.join(calls)}):\n"
            f"    print(rival, select_k(rival, X, y{more}, sizes=[{size}]))"
        ),
        "use": "X_chosen = selector.transform(X)",
    }


def _fit_again(selector: RankingSelector, more: str, **changes: Any) -> str:
    return f"{import_line(selector)}\n\nselector = {call_of(selector, **changes)}.fit(X, y{more})"


def check_source(source: str | None) -> str | None:
    """Return the expression that reads the data, None for ""; raise if it is not an expression."""
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
    if isinstance(value, FunctionType):
        return value.__name__
    return repr(value)
