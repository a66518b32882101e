"""`mauc methods`: what there is, in one table."""

import inspect
from functools import partial
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from mauc.classifiers import CLASSIFIERS
from mauc.cli.common import DebugOption, JsonOption, command, make_console, print_json
from mauc.selectors import SELECTORS


@command
def methods(as_json: JsonOption = False, debug: DebugOption = False) -> None:
    """List the selectors and classifiers with what they take.

    Example: mauc methods
    """
    listed = {
        "selectors": [_selector(name, made) for name, made in SELECTORS.items()],
        "classifiers": [_described(name, made) for name, made in CLASSIFIERS.items()],
    }
    if as_json:
        print_json(listed)
        return
    console = make_console()
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in ("selector", "class", "what it does", "takes", "options (--set)"):
        table.add_column(head, overflow="fold")
    for row in listed["selectors"]:
        table.add_row(
            row["name"], row["class"], Text(row["summary"]), ", ".join(row["takes"]) or "-",
            Text(", ".join(row["options"]) or "-"),
        )  # fmt: skip
    console.print(table)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in ("classifier", "class", "what it does", "options"):
        table.add_column(head, overflow="fold")
    for row in listed["classifiers"]:
        table.add_row(
            row["name"], row["class"], Text(row["summary"]), Text(", ".join(row["options"]))
        )
    console.print(table)


def _described(name: str, made: Any) -> dict[str, Any]:
    kind = made.func if isinstance(made, partial) else made
    fixed = made.keywords if isinstance(made, partial) else {}
    hidden = {"n_features_to_select", "n_jobs", "random_state", *fixed}
    shown = kind.__name__ + (f" ({', '.join(map(str, fixed.values()))})" if fixed else "")
    return {
        "name": name,
        "class": shown,
        "summary": (inspect.getdoc(kind) or "").splitlines()[0],
        "options": [key for key in kind().get_params() if key not in hidden],
    }


def _selector(name: str, made: Any) -> dict[str, Any]:
    row = _described(name, made)
    selector = made()
    accepts = selector._accepts()
    takes = [
        word for word, key in (("nominal", "accept_nominal"), ("sparse", "accept_sparse"))
        if accepts[key]
    ]  # fmt: skip
    if "sample_weight" in inspect.signature(selector.fit).parameters:
        takes.append("weights")
    return {**row, "takes": takes}
