"""What an experiment is: data sets, selectors, classifiers, sizes, folds and a seed.

Plans are written in TOML or in Python. Both are checked by the same types; `_explain` turns what
pydantic finds into one sentence with the place in the plan.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, dataclass_transform
from urllib.parse import quote

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.dataclasses import dataclass as checked_dataclass

from mauc.checks import check_choice, is_int, unknown_choice
from mauc.exceptions import MaucError
from mauc.io.options import DEFAULTS
from mauc.registry import (
    CLASSIFIERS,
    PEERS,
    SELECTORS,
    import_estimator,
    make_classifier,
    make_selector,
)

#: options of `mauc.datasets.load_dataset` that a data set of a plan may have
DATASET_OPTIONS = tuple(
    name for name in DEFAULTS if name not in ("target", "groups", "columns", "storage_options")
)
Scope = Literal["dataset", "dataset_size", "fold", "fold_size"]
Search = Literal["full", "coarse_to_fine"]
Combination = tuple[str, str]  # names of a selector and a classifier
Schema = dict[str, Any]
PAPER_SIZES = tuple(range(10, 101, 10))
_MAX_NAME = 200  # characters of a name in a path; file systems end at 255
_STEPS = ["from", "to", "step"]  # of sizes as a table
_T = TypeVar("_T")


@dataclass_transform(frozen_default=True)
def _checked(cls: type[_T]) -> type[_T]:
    """Make a frozen dataclass whose fields are checked; what is wrong is a `MaucError`."""
    made: Any = checked_dataclass(frozen=True, config=ConfigDict(extra="forbid"))(cls)
    init = made.__init__

    @wraps(init)
    def checked_init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            init(self, *args, **kwargs)
        except ValidationError as error:
            raise MaucError(_explain(error, made)) from None

    made.__init__ = checked_init
    return made  # type: ignore[no-any-return]


def _check_name(name: str) -> str:
    # Names become file names and words in tables.
    if (
        not name.isprintable()
        or name != name.strip()
        or name in ("", ".", "..")
        or any(mark in name for mark in "/\\")
        or len(quote(name)) > _MAX_NAME
    ):
        raise ValueError(f"must be a short word without slashes, got {name!r}.")
    return name


def _check_options(options: Any) -> Any:
    """Check that options are what a TOML file can hold: every plan can be written down."""
    if isinstance(options, dict) and not all(isinstance(key, str) for key in options):
        raise ValueError(f"must be a table whose keys are texts, got {options!r}.")
    if isinstance(options, dict | list | tuple):
        for value in options.values() if isinstance(options, dict) else options:
            _check_options(value)
    elif not isinstance(options, str | bool | int | float):
        raise ValueError(f"must hold texts, numbers, lists or tables, got {options!r}.")
    return options


def _check_reading(options: dict[str, Any]) -> dict[str, Any]:
    for option in options:
        check_choice("an option of a data set", option, DATASET_OPTIONS, quoted=False)
    return options


Name = Annotated[str, AfterValidator(_check_name)]
Options = Annotated[dict[str, Any], AfterValidator(_check_options)]
_plain = BeforeValidator(lambda value: int(value) if is_int(value) else value)  # of NumPy, too
FromZero = Annotated[int, Field(ge=0, strict=True), _plain]
FromOne = Annotated[int, Field(ge=1, strict=True), _plain]
FromTwo = Annotated[int, Field(ge=2, strict=True), _plain]
FromTen = Annotated[int, Field(ge=10, strict=True), _plain]


@_checked
class DatasetSpec:
    """Where a data set comes from.

    Parameters
    ----------
    name : str
        What tables call it.
    source : str, optional
        A bundled or registered name or a path, as `mauc.datasets.load_dataset` takes it; the
        name by default.
    target : str, optional
        The column with the labels, for files.
    options : dict
        Further arguments of `load_dataset`.
    groups : str, optional
        The column that says which rows belong together, such as a patient; they are in one fold.
    pair_weight : dict or "prior", optional
        What pairs of classes count, ``{"a": {"b": 5}}``, to selectors that take it and in MAUC.
    """

    name: Name
    source: str = ""
    target: str | None = None
    options: Annotated[Options, AfterValidator(_check_reading)] = field(default_factory=dict)
    groups: str | None = None
    pair_weight: dict[str, dict[str, float]] | Literal["prior"] | None = None

    def __post_init__(self) -> None:
        if not self.source:
            object.__setattr__(self, "source", self.name)


@_checked
class MethodSpec:
    """A selector or a classifier with its options.

    Parameters
    ----------
    name : str
        What tables call it.
    method : str, optional
        A short name, such as "mdfs" or "nb", or the import path of a class, such as
        "sklearn.feature_selection.SelectKBest"; the name by default.
    options : dict
        Its parameters.
    """

    name: Name
    method: str = ""
    options: Options = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.method:
            object.__setattr__(self, "method", self.name)

    @property
    def is_tuned(self) -> bool:
        """Whether C and gamma of the classifier are to be tuned."""
        return is_tuned(self.method, self.options)


@_checked
class TuningSpec:
    """How C and gamma of the RBF SVM are chosen, by cross-validated MAUC.

    Parameters
    ----------
    scope : {"dataset", "dataset_size", "fold", "fold_size"}, default="dataset"
        Once per data set; once per data set and subset size; in every fold for every selector,
        on its largest set; or in every fold for every selector and size, as the paper did. The
        first two tune on the training part of the first fold of the first repeat, on the
        features of the first selector.
    search : {"full", "coarse_to_fine"}, default="coarse_to_fine"
        How much of the grid of 110 points is evaluated.
    n_folds : int, default=3
    max_samples : int, default=2000
        Tune on a stratified sample of this many rows, if there are more.
    size : int, optional
        Number of features that scope "dataset" tunes on; the middle of the sizes by default.
    """

    scope: Scope = "dataset"
    search: Search = "coarse_to_fine"
    n_folds: FromTwo = 3
    max_samples: FromTen = 2000
    size: FromOne | None = None


def build_selector(spec: MethodSpec, n_features_to_select: int | None = None) -> Any:
    """Return the unfitted selector of a spec."""
    if "n_features_to_select" in spec.options:
        raise MaucError(f"{spec.name}: the sizes of the plan say how many features to select.")
    made = _build("selector", spec, SELECTORS, make_selector)
    if n_features_to_select is not None and "n_features_to_select" in made.get_params():
        made.set_params(n_features_to_select=n_features_to_select)
    return made


def build_classifier(spec: MethodSpec) -> Any:
    """Return the unfitted classifier of a spec."""
    return _build("classifier", spec, CLASSIFIERS | PEERS, make_classifier)


def takes_nominal(method: Any) -> bool:
    """Whether a selector or classifier takes nominal columns as codes that it is told of."""
    accepts = getattr(method, "accepts", None)
    return bool(accepts and accepts.nominal) and "categorical_features" in method.get_params()


def is_tuned(method: str, options: Iterable[str]) -> bool:
    """Whether C and gamma of a classifier are to be tuned."""
    return method == "svm" and not {"C", "gamma"} & set(options)


def _build(kind: str, spec: MethodSpec, known: Iterable[str], make: Callable[..., Any]) -> Any:
    """Return a method of the registry, or one that is imported; its options are checked."""
    if spec.method in known:
        made = make(spec.method, **spec.options)
        try:
            if hasattr(made, "check_options"):
                made.check_options()
        except MaucError as error:
            raise MaucError(f"{spec.name}: {error}") from error
        return made
    # A dot alone makes no import path: "c4.5" is a slip for "c45".
    if "." not in spec.method or spec.method.replace(".", "").lower() in known:
        raise unknown_choice(kind, spec.method, known)
    made = import_estimator("method", spec.method)
    for option in spec.options:
        check_choice(f"option of {spec.method}", option, made.get_params(), quoted=False)
    return made.set_params(**spec.options)


@_checked
class Plan:
    """An experiment: every selector and classifier on every fold of every data set.

    Parameters
    ----------
    name : str
    datasets : tuple of DatasetSpec
    selectors, classifiers : tuple of MethodSpec
    sizes : tuple of int, default=(10, 20, ..., 100)
        Numbers of features. Those beyond the features of a data set are left out there.
    repeats, folds : int, default=10
        How often the data are split, and into how many stratified parts, of whole groups where a
        data set has these.
    seed : int, default=0
    max_rows : int, optional
        Thin larger data sets to this many rows before they are split: a sample by class, drawn by
        the seed and the name of the data set, with at least `folds` rows of each class that has
        them. All rows by default.
    tuning : TuningSpec
        For classifiers of the method "svm" that fix neither C nor gamma.

    Examples
    --------
    >>> from mauc.experiments import DatasetSpec, MethodSpec, Plan
    >>> plan = Plan(
    ...     name="small",
    ...     datasets=(DatasetSpec("wine"),),
    ...     selectors=(MethodSpec("mdfs"), MethodSpec("chi")),
    ...     classifiers=(MethodSpec("nb"),),
    ...     sizes=(2, 4), repeats=1, folds=3,
    ... )
    >>> len(plan.cells())
    3
    """

    name: Name
    datasets: Annotated[tuple[DatasetSpec, ...], Field(min_length=1)]
    selectors: Annotated[tuple[MethodSpec, ...], Field(min_length=1)]
    classifiers: Annotated[tuple[MethodSpec, ...], Field(min_length=1)]
    sizes: Annotated[tuple[FromOne, ...], Field(min_length=1)] = PAPER_SIZES
    repeats: FromOne = 10
    folds: FromTwo = 10
    seed: FromZero = 0
    max_rows: FromTen | None = None
    tuning: TuningSpec = TuningSpec()

    @field_validator("datasets", "selectors", "classifiers", mode="before")
    @classmethod
    def _read_specs(cls, given: Any, info: ValidationInfo) -> Any:
        """Take words for tables with a name, and find sources beside the file of the plan."""
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            return given
        folder = (info.context or {}).get("folder")
        return tuple(_read_entry(entry, info.field_name == "datasets", folder) for entry in given)

    @field_validator("datasets", "selectors", "classifiers")
    @classmethod
    def _check_specs(cls, specs: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
        for name, count in Counter(spec.name for spec in specs).items():
            if count > 1:
                raise ValueError(
                    f"must have different names, got {name!r} {count} times; give one of them "
                    f"another name."
                )
        for spec in specs:
            if info.field_name == "selectors":
                build_selector(spec)
            elif info.field_name == "classifiers":
                build_classifier(spec)
        return specs

    @field_validator("sizes", mode="before")
    @classmethod
    def _read_sizes(cls, sizes: Any) -> Any:
        if not isinstance(sizes, Mapping):
            return sizes if isinstance(sizes, str) or not isinstance(sizes, Iterable) else [*sizes]
        for key in sizes:
            check_choice("a key of sizes", key, _STEPS, quoted=False)
        try:
            return [*range(sizes["from"], sizes["to"] + 1, sizes.get("step", 1))]
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"as a table must be {{from = 10, to = 100, step = 10}}, got {dict(sizes)}."
            ) from None

    @field_validator("sizes")
    @classmethod
    def _check_sizes(cls, sizes: tuple[int, ...]) -> tuple[int, ...]:
        if list(sizes) != sorted(set(sizes)):
            raise ValueError(f"must ascend without repeats, got {list(sizes)}.")
        return sizes

    def cells(self) -> list["Cell"]:
        """Return the cells, repeats first: an early look at a run has all data sets."""
        return [
            Cell(dataset.name, repeat, fold)
            for repeat in range(self.repeats)
            for dataset in self.datasets
            for fold in range(self.folds)
        ]


@dataclass(frozen=True, order=True)
class Cell:
    """One fold of one repeat of one data set: the unit of work."""

    dataset: str
    repeat: int  #: from 0, as the folds
    fold: int

    def __str__(self) -> str:
        return f"{self.dataset} repeat {self.repeat} fold {self.fold}"


def read_plan(path: str | Path) -> Plan:
    """Read a plan from a TOML file.

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
    """
    try:
        values = {"name": name, **tomllib.loads(text)}
        return TypeAdapter(Plan).validate_python(values, context={"folder": folder})
    except tomllib.TOMLDecodeError as error:
        raise MaucError(f"{where} is not valid TOML: {error}.") from error
    except ValidationError as error:
        raise MaucError(f"{where}: {_explain(error, Plan)}") from None


def plan_to_dict(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain values, every default spelled out."""
    return json.loads(json.dumps(asdict(plan)))  # type: ignore[no-any-return]


def plan_to_toml(plan: Plan) -> str:
    """Return a plan as the text of a TOML file."""
    import tomli_w

    values = plan_to_dict(plan)
    tables = [spec for part in ("datasets", "selectors", "classifiers") for spec in values[part]]
    for table in (values, values["tuning"], *tables):
        for key in [key for key, value in table.items() if value is None or value == {}]:
            del table[key]
    return tomli_w.dumps(values)


def plan_schema() -> Schema:
    """Return the JSON Schema of plan files, by which editors complete and check them.

    It refuses unknown keys, data set options and methods, and numbers out of range. Editors with
    Taplo take it from the first line of a plan: ``#:schema plan.schema.json``.
    """
    schema = TypeAdapter(Plan).json_schema(mode="serialization")  # what validators make of plans
    text, size = {"type": "string"}, {"type": "integer", "minimum": 1}
    parts, tables = schema["properties"], schema.pop("$defs")
    for table in (schema, *tables.values()):
        table["description"] = table["description"].splitlines()[0]
    options = {"properties": {key: {} for key in DATASET_OPTIONS}, "additionalProperties": False}
    tables["DatasetSpec"]["properties"]["options"] |= options
    parts["datasets"]["items"] = {"anyOf": [text, tables["DatasetSpec"]]}
    for part, known in (("selectors", SELECTORS), ("classifiers", CLASSIFIERS | PEERS)):
        word = {"anyOf": [{"enum": list(known)}, {**text, "pattern": r"\w\.\w"}]}
        method = tables["MethodSpec"]
        table = {**method, "properties": {**method["properties"], "method": word}}
        table["anyOf"] = [{"required": [key]} for key in (*table.pop("required"), "method")]
        parts[part]["items"] = {"anyOf": [word, table]}
    steps = {
        "type": "object",
        "properties": dict.fromkeys(_STEPS, size),
        "required": _STEPS[:2],
        "additionalProperties": False,
    }
    parts["sizes"] = {"anyOf": [parts["sizes"], steps]}
    parts["tuning"] = tables["TuningSpec"]
    schema["required"].remove("name")  # that of the file by default
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema}


def _read_entry(entry: Any, is_dataset: bool, folder: Path | None) -> Any:
    if isinstance(entry, str):
        entry = {"name": entry}
    if not isinstance(entry, Mapping):
        return entry
    if not is_dataset:
        return {"name": entry["method"], **entry} if "method" in entry else entry
    source = entry.get("source", entry.get("name"))
    if folder is not None and isinstance(source, str) and (folder / source).is_file():
        return {**entry, "source": str((folder / source).resolve())}
    return entry


def _explain(error: ValidationError, kind: type[Any]) -> str:
    """Return the first thing that is wrong as a sentence: the place, the want and the got."""
    errors = error.errors(include_url=False)
    unknown = ("unexpected_keyword_argument", "extra_forbidden")  # why another key may be missing
    found = next((item for item in errors if item["type"] in unknown), errors[0])
    place, got, names = list(found["loc"]), found["input"], [item.name for item in fields(kind)]
    if isinstance(place[0], int):  # of the arguments of a call
        place[0] = names[place[0]]
    where = "" if kind is Plan else f"{kind.__name__}."
    where += "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).lstrip(".")
    if found["type"] in unknown:
        above = where.rpartition(".")[0] or "the plan"
        inner = {"tuning": TuningSpec, "datasets": DatasetSpec}.get(str(place[0]), MethodSpec)
        known = names if len(place) == 1 else [item.name for item in fields(inner)]
        return str(unknown_choice(f"a key of {above}", place[-1], known))
    if found["type"] == "missing":
        return f"{where} is missing."
    if found["type"] == "literal_error":
        return str(unknown_choice(where, got, re.findall("'(.*?)'", found["ctx"]["expected"])))
    if found["type"] == "too_short":
        return f"{where} must not be empty."
    if found["type"] == "value_error":
        cause = found["ctx"]["error"]
        return f"{where}{': ' if isinstance(cause, MaucError) else ' '}{cause}"
    wanted = found["msg"].replace("Input should be", "must be")
    table = "a table" if place[0] == "tuning" else "a word, a table"
    wanted = wanted.replace("a dictionary or an instance of", f"{table} or a")
    return f"{where} {wanted}, got {got!r}."
