"""`mauc methods`: the selectors and classifiers, with what they accept."""

from typing import Any

from mauc.cli.common import DebugOption, JsonOption, command
from mauc.cli.data import NOT_SET
from mauc.cli.show import add_row, make_table, print_json, print_table


@command
def methods(as_json: JsonOption = False, debug: DebugOption = False) -> None:
    """List the selectors and classifiers with what they accept and their options.

    Example: mauc methods
    """
    from mauc.registry import CLASSIFIERS, SELECTORS

    listed = {
        "selectors": [_describe(entry) for entry in SELECTORS.values()],
        "classifiers": [_describe(entry) for entry in CLASSIFIERS.values()],
    }
    if as_json:
        print_json(listed)
        return
    for kind, how in (("selector", " (--set)"), ("classifier", "")):
        table = make_table(kind, "in tables", "measure", "accepts")
        options = make_table(kind, f"options{how}")
        for row in listed[f"{kind}s"]:
            accepted = ", ".join(row["accepts"]) or "-"
            add_row(table, row["name"], row["label"], row["measure"], accepted)
            if row["options"]:
                given = [f"{name}={value}" for name, value in row["options"].items()]
                add_row(options, row["name"], ", ".join(given))
        print_table(table)
        print_table(options)


def _describe(entry: Any) -> dict[str, Any]:
    hidden = set(NOT_SET) | set(entry.options)
    options = {name: value for name, value in entry().get_params().items() if name not in hidden}
    return {
        "name": entry.name,
        "label": entry.label,
        "class": entry.class_name,
        "measure": entry.measure,
        "accepts": entry.accepts.names(),
        "options": options,
        "is_in_paper": entry.is_in_paper,
    }
