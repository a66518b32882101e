"""What changed between the plan of a run folder and the plan given now."""

import json
from typing import Any

from mauc.experiments.plan import Plan
from mauc.experiments.plan_file import plan_from_dict, plan_to_dict


def plan_changes(old: dict[str, Any], new: Plan) -> list[str]:
    """Tell which definitions of an old plan the new one changes or lacks.

    What is only added (data sets, repeats, selectors, classifiers) is no change: the results so
    far stay what they are. Sources of data sets may move; their content is compared elsewhere.

    Parameters
    ----------
    old : dict
        What `plan_to_dict` gave.
    new : Plan

    Returns
    -------
    changes : list of str
        One line each, "what: old -> new".
    """
    values = plan_to_dict(new)
    old_plan = plan_from_dict(old)
    old = plan_to_dict(old_plan)
    changes = [
        f"{key}: {old[key]} -> {values[key]}"
        for key in ("seed", "folds", "sizes")
        if old[key] != values[key]
    ]
    if values["repeats"] < old["repeats"]:
        changes.append(f"repeats: {old['repeats']} -> {values['repeats']}")
    for part in ("datasets", "selectors", "classifiers"):
        changes += _changed_specs(part, old[part], values[part])
    if any(old_plan.is_tuned(spec) for spec in old_plan.classifiers):
        changes += [
            f"tuning {key}: {old['tuning'][key]} -> {value}"
            for key, value in values["tuning"].items()
            if old["tuning"][key] != value
        ]
        first, first_now = old["selectors"][0]["name"], values["selectors"][0]["name"]
        if first != first_now and new.tuning.scope.startswith("dataset"):
            changes.append(f"first selector, on whose features the SVM is tuned: "
                           f"{first} -> {first_now}")  # fmt: skip
    return changes


def _changed_specs(part: str, old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[str]:
    by_name = {spec["name"]: spec for spec in new}
    changes = []
    for spec in old:
        name = spec["name"]
        if name not in by_name:
            changes.append(f"{part}: {name} -> (gone)")
            continue
        for key, value in spec.items():
            if key != "source" and _dump(by_name[name][key]) != _dump(value):
                changes.append(f"{part}, {name}, {key}: {value} -> {by_name[name][key]}")
    return changes


def _dump(value: Any) -> str:
    # As text, NaN is equal to itself, and 1 is neither 1.0 nor true.
    return json.dumps(value, sort_keys=True)
