"""What the rows of a cell were made of: definitions in, a stamp for the shard out."""

import json
from hashlib import blake2b
from typing import Any

from mauc.experiments.plan import is_tuned

Stamp = dict[str, str]


def origin_of(plan: dict[str, Any], fingerprint: str) -> Stamp:
    """Return the digest of every definition that a cell of a data set may depend on.

    Two runs whose stamps agree on a selector, a classifier and the split have the same rows of
    them, so a shard may come from another folder, but not from another experiment.

    Parameters
    ----------
    plan : dict
        What `plan_to_dict` gave.
    fingerprint : str
        Of the data set.

    Returns
    -------
    stamp : dict of str to str
        Under "split" the data, seed, folds and sizes; under "selector NAME" and
        "classifier NAME" their methods and options, with the tuning where there is one.
    """
    stamp = {"split": _digest(fingerprint, plan["seed"], plan["folds"], plan["sizes"])}
    for spec in plan["selectors"]:
        stamp[f"selector {spec['name']}"] = _digest(spec["method"], spec["options"])
    tuning = [plan["tuning"]]
    if plan["tuning"]["scope"].startswith("dataset"):
        tuning.append(plan["selectors"][0])  # the one on whose features the SVM is tuned
    for spec in plan["classifiers"]:
        extra = tuning if is_tuned(spec["method"], spec["options"]) else []
        stamp[f"classifier {spec['name']}"] = _digest(spec["method"], spec["options"], *extra)
    return stamp


def keys_of(selectors: set[str], classifiers: set[str]) -> set[str]:
    """Return the keys of a stamp that rows of some selectors and classifiers need."""
    names = {f"selector {name}" for name in selectors}
    return {"split"} | names | {f"classifier {name}" for name in classifiers}


def _digest(*values: Any) -> str:
    text = json.dumps(values, sort_keys=True)
    return blake2b(text.encode(), digest_size=8).hexdigest()
