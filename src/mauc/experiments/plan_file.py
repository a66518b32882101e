"""Plans in TOML: a file in, a Plan out; and back, for plans made in Python."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from mauc.checks import unknown_word
from mauc.exceptions import MaucError
from mauc.experiments.plan import PAPER_SIZES, DatasetSpec, MethodSpec, Plan, TuningSpec

_KEYS = tuple(item.name for item in fields(Plan))
_METHOD_KEYS = ("name", "method", "options")
_DATASET_KEYS = ("name", "source", "target", "options")


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

        [tuning]
        scope = "dataset"

    A relative source that is a file beside the plan is found from there.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MaucError(f"the plan {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise MaucError(f"the plan {path} is not UTF-8 text.") from error
    return parse_plan(text, name=path.stem, folder=path.parent, where=str(path))


def parse_plan(
    text: str, *, name: str = "plan", folder: Path | None = None, where: str = "the plan"
) -> Plan:
    """Make a plan of TOML text.

    Parameters
    ----------
    text : str
    name : str
        Of a plan that does not say its own.
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
    """Make a plan of the tables of a TOML file, or of what `plan_to_dict` gave.

    Parameters
    ----------
    values : mapping
    folder : Path, optional
        Where relative sources are looked for.

    Returns
    -------
    plan : Plan
    """
    _check_keys("the plan", values, _KEYS)
    for key in ("datasets", "selectors", "classifiers"):
        if key not in values:
            raise MaucError(f"{key} is missing.")
    tuning = values.get("tuning", {})
    _check_keys("tuning", tuning, [item.name for item in fields(TuningSpec)])
    plain = {key: values[key] for key in ("name", "repeats", "folds", "seed") if key in values}
    return Plan(
        datasets=tuple(_dataset(entry, folder) for entry in _entries("datasets", values)),
        selectors=tuple(_method("selector", entry) for entry in _entries("selectors", values)),
        classifiers=tuple(
            _method("classifier", entry) for entry in _entries("classifiers", values)
        ),
        sizes=_sizes(values.get("sizes", PAPER_SIZES)),
        tuning=TuningSpec(**tuning),
        **plain,
    )


def plan_to_dict(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain values, every default spelled out."""
    return json.loads(json.dumps(asdict(plan)))  # type: ignore[no-any-return]


def plan_to_toml(plan: Plan) -> str:
    """Return a plan as the text of a TOML file."""
    values = plan_to_dict(plan)
    lines = [f"{key} = {_toml(values[key])}" for key in ("name", "repeats", "folds", "seed")]
    lines.append(f"sizes = {_toml(values['sizes'])}")
    for key in ("datasets", "selectors", "classifiers"):
        lines += [f"{key} = [", *(f"  {_toml(entry)}," for entry in values[key]), "]"]
    tuning = {key: value for key, value in values["tuning"].items() if value is not None}
    lines += ["", "[tuning]", *(f"{key} = {_toml(value)}" for key, value in tuning.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = (f"{_toml(key)} = {_toml(item)}" for key, item in value.items() if item is not None)
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)  # TOML says nan and inf as Python does
    # The strings and whole numbers of JSON are those of TOML, but for the character DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _entries(key: str, values: Mapping[str, Any]) -> list[Any]:
    entries = values[key]
    if not isinstance(entries, list | tuple):
        raise MaucError(f"{key} must be a list, got {entries!r}.")
    return list(entries)


def _dataset(entry: Any, folder: Path | None) -> DatasetSpec:
    if isinstance(entry, str):
        entry = {"name": entry}
    _check_keys("a data set", entry, _DATASET_KEYS)
    if "name" not in entry:
        raise MaucError(f"a data set needs a name, got {dict(entry)}.")
    source = entry.get("source", entry["name"])
    if folder is not None and isinstance(source, str) and (folder / source).is_file():
        entry = {**entry, "source": str((folder / source).resolve())}
    return DatasetSpec(**entry)


def _method(kind: str, entry: Any) -> MethodSpec:
    if isinstance(entry, str):
        entry = {"name": entry}
    _check_keys(f"a {kind}", entry, _METHOD_KEYS)
    if not {"name", "method"} & set(entry):
        raise MaucError(f"a {kind} needs a name or a method, got {dict(entry)}.")
    return MethodSpec(**{"name": entry.get("method"), **entry})


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


def _check_keys(what: str, values: Any, keys: Iterable[str]) -> None:
    if not isinstance(values, Mapping):
        raise MaucError(f"{what} must be a table or a word, got {values!r}.")
    for key in values:
        if key not in keys:
            raise unknown_word(f"a key of {what}", key, keys)
