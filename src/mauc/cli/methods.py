"""`mauc methods`: what there is, in two tables."""

import inspect
from functools import partial
from typing import Any

from mauc.cli.common import DebugOption, JsonOption, command
from mauc.cli.show import add_row, make_table, print_json, print_table


@command
def methods(as_json: JsonOption = False, debug: DebugOption = False) -> None:
    """List the selectors and classifiers with what they take.

    Example: mauc methods
    """
    from mauc.classifiers import CLASSIFIERS
    from mauc.selectors import SELECTORS

    listed = {
        "selectors": [_selector(name, made) for name, made in SELECTORS.items()],
        "classifiers": [_described(name, made) for name, made in CLASSIFIERS.items()],
    }
    if as_json:
        print_json(listed)
        return
    table = make_table("selector", "what it does", "takes", "options (--set)")
    for row in listed["selectors"]:
        options = [f"{name}={value}" for name, value in row["options"].items()]
        add_row(
            table, row["name"], row["summary"], ", ".join(row["takes"]) or "-",
            ", ".join(options) or "-",
        )  # fmt: skip
    print_table(table)
    table = make_table("classifier", "what it does")
    for row in listed["classifiers"]:
        add_row(table, row["name"], row["summary"])
    print_table(table)


def _described(name: str, made: Any) -> dict[str, Any]:
    kind = made.func if isinstance(made, partial) else made
    fixed = made.keywords if isinstance(made, partial) else {}
    hidden = {"n_features_to_select", "n_jobs", "random_state", *fixed}
    shown = kind.__name__ + (f" ({', '.join(map(str, fixed.values()))})" if fixed else "")
    options = {key: value for key, value in made().get_params().items() if key not in hidden}
    summary = (inspect.getdoc(kind) or "").splitlines()[0]
    return {"name": name, "class": shown, "summary": summary, "options": options}


def _selector(name: str, made: Any) -> dict[str, Any]:
    row = _described(name, made)
    selector = made()
    accepts = selector._accepts()
    words = {"nominal": "accept_nominal", "sparse": "accept_sparse"}
    takes = [word for word, key in words.items() if accepts[key]]
    if "sample_weight" in inspect.signature(selector.fit).parameters:
        takes.append("weights")
    return {**row, "takes": takes}
