"""Plans in TOML: a file in, a Plan out; back, for plans made in Python; and their JSON Schema."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from mauc.checks import unknown_choice
from mauc.exceptions import MaucError
from mauc.experiments.plan import (
    MINIMA,
    DatasetSpec,
    MethodSpec,
    Plan,
    TuningSpec,
    dataset_options,
)
from mauc.registry import CLASSIFIERS, SELECTORS

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
# The lists of a plan: the class of their entries, and what errors call one.
_PARTS: dict[str, tuple[type[Any], str]] = {
    "datasets": (DatasetSpec, "a data set"),
    "selectors": (MethodSpec, "a selector"),
    "classifiers": (MethodSpec, "a classifier"),
}


def read_plan(path: str | Path) -> Plan:
    """Read a plan from a TOML file.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    plan : Plan

    Notes
    -----
    A data set, selector or classifier is a word or a table::

        name = "mine"
        datasets = ["digits", {name = "calls", source = "calls.csv", target = "label"}]
        selectors = ["mdfs", {name = "hard", method = "mdfs", options = {schedule = "hardest"}}]
        classifiers = ["nb", "c45"]
        sizes = {from = 10, to = 100, step = 10}   # or a list
        repeats = 2
        folds = 5
        seed = 0
        max_rows = 2000   # thin larger data sets, by class

        [tuning]
        scope = "dataset"

    A relative source that is a file beside the plan is resolved from there. Editors complete and
    check plans by the JSON Schema of `plan_schema`.
    """
    return read_plan_text(path)[0]


def read_plan_text(path: str | Path) -> tuple[Plan, str]:
    """Return the plan of a TOML file, and the text of the file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MaucError(f"the plan {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise MaucError(f"the plan {path} is not UTF-8 text.") from error
    return parse_plan(text, name=path.stem, folder=path.parent, where=str(path)), text


def parse_plan(
    text: str, *, name: str = "plan", folder: Path | None = None, where: str = "the plan"
) -> Plan:
    """Make a plan of TOML text.

    Parameters
    ----------
    text : str
    name : str
        The name of a plan that does not give its own.
    folder : Path, optional
        Where relative sources are looked for.
    where : str
        What errors call the text.

    Returns
    -------
    plan : Plan
    """
    try:
        return plan_from_dict({"name": name, **tomllib.loads(text)}, folder=folder)
    except tomllib.TOMLDecodeError as error:
        raise MaucError(f"{where} is not valid TOML: {error}.") from error
    except MaucError as error:
        raise MaucError(f"{where}: {error}") from error


def plan_from_dict(values: Mapping[str, Any], *, folder: Path | None = None) -> Plan:
    """Make a plan of the tables of a TOML file, or of what `plan_to_dict` returned."""
    _check_keys("the plan", values, _names(Plan))
    parts = dict(values)
    for key, (kind, what) in _PARTS.items():
        if key not in values:
            raise MaucError(f"{key} is missing.")
        if not isinstance(values[key], list | tuple):
            raise MaucError(f"{key} must be a list, got {values[key]!r}.")
        parts[key] = tuple(_spec(kind, what, entry, folder) for entry in values[key])
    if "sizes" in values:
        parts["sizes"] = _sizes(values["sizes"])
    if "tuning" in values:
        _check_keys("tuning", values["tuning"], _names(TuningSpec))
        parts["tuning"] = TuningSpec(**values["tuning"])
    return Plan(**parts)


def plan_to_dict(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain values, every default spelled out."""
    return json.loads(json.dumps(asdict(plan)))  # type: ignore[no-any-return]


def plan_to_toml(plan: Plan) -> str:
    """Return a plan as the text of a TOML file."""
    values = plan_to_dict(plan)
    for table in (values, values["tuning"], *(spec for key in _PARTS for spec in values[key])):
        for key in [key for key, value in table.items() if value is None or value == {}]:
            del table[key]
    import tomli_w

    return tomli_w.dumps(values)


def plan_schema() -> Schema:
    """Return the JSON Schema of plan files, by which editors complete and check them.

    Returns
    -------
    schema : dict
        From the types of a plan and the registry of methods. It refuses unknown keys, data set
        options and methods, and numbers out of range; the options of a method are checked when the
        plan is read.

    Notes
    -----
    Editors with Taplo take it from the first line of a plan: ``#:schema plan.schema.json``.
    """
    size = {"type": "integer", "minimum": 1}
    steps = _table({"from": size, "to": size, "step": size}, required=("from", "to"))
    parts = {}
    for key, (kind, _) in _PARTS.items():
        if kind is DatasetSpec:
            word, options = _TEXT, _table({option: {} for option in dataset_options()})
            table = _table(_properties(kind) | {"options": options}, required=("name",))
        else:
            known = SELECTORS if key == "selectors" else CLASSIFIERS
            word = {"anyOf": [{"enum": list(known)}, {**_TEXT, "pattern": r"\w\.\w"}]}
            table = _table(_properties(kind) | {"method": word})
        parts[key] = _list({"anyOf": [word, table]})
    parts["sizes"] = {"anyOf": [_list(size), steps]}
    parts["tuning"] = _table(_properties(TuningSpec))
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A plan of mauc",
        **_table(_properties(Plan) | parts, required=tuple(_PARTS)),
    }


def _properties(kind: type[Any]) -> Schema:
    """Return the schema of every field of a class that is a text, a number or a table."""
    found: Schema = {}
    for key, hint in get_type_hints(kind).items():
        if get_origin(hint) is Literal:
            found[key] = {"enum": list(get_args(hint))}
        elif key in MINIMA:
            found[key] = {"type": "integer", "minimum": MINIMA[key]}
        else:
            found[key] = {"type": "object"} if get_origin(hint) is dict else _TEXT
    return found


def _table(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    rules = {"type": "object", "properties": properties, "additionalProperties": False}
    return rules | ({"required": list(required)} if required else {})


def _list(items: Schema) -> Schema:
    return {"type": "array", "minItems": 1, "items": items}


def _spec(kind: type[Any], what: str, entry: Any, folder: Path | None) -> Any:
    if isinstance(entry, str):
        entry = {"name": entry}
    _check_keys(what, entry, _names(kind))
    if kind is MethodSpec:
        if not {"name", "method"} & set(entry):
            raise MaucError(f"{what} needs a name or a method, got {dict(entry)}.")
        return MethodSpec(**{"name": entry.get("method"), **entry})
    if "name" not in entry:
        raise MaucError(f"{what} needs a name, got {dict(entry)}.")
    source = entry.get("source", entry["name"])
    if folder is not None and isinstance(source, str) and (folder / source).is_file():
        entry = {**entry, "source": str((folder / source).resolve())}
    return DatasetSpec(**entry)


def _sizes(value: Any) -> tuple[int, ...]:
    if isinstance(value, Mapping):
        _check_keys("sizes", value, ("from", "to", "step"))
        try:
            return tuple(range(value["from"], value["to"] + 1, value.get("step", 1)))
        except (KeyError, TypeError, ValueError) as error:
            raise MaucError(
                f"sizes as a table must be {{from = 10, to = 100, step = 10}}, got {dict(value)}."
            ) from error
    if not isinstance(value, list | tuple):
        raise MaucError(f"sizes must be a list or a table with from and to, got {value!r}.")
    return tuple(value)


def _names(kind: type[Any]) -> list[str]:
    return [item.name for item in fields(kind)]


def _check_keys(what: str, values: Any, keys: Iterable[str]) -> None:
    if not isinstance(values, Mapping):
        raise MaucError(f"{what} must be a table or a word, got {values!r}.")
    for key in values:
        if key not in keys:
            raise unknown_choice(f"a key of {what}", key, keys)
