"""What an experiment is: data sets, selectors, classifiers, sizes, folds and a seed."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args
from urllib.parse import quote

from mauc.checks import check_choice, check_int, is_int, unknown_choice
from mauc.exceptions import MaucError
from mauc.experiments.methods import build_classifier, build_selector
from mauc.io.options import DEFAULTS

Scope = Literal["dataset", "dataset_size", "fold", "fold_size"]
Search = Literal["full", "coarse_to_fine"]
Combination = tuple[str, str]  # names of a selector and a classifier
PAPER_SIZES = tuple(range(10, 101, 10))
#: smallest values of the whole numbers of a plan and of its tuning
MINIMA = {
    "repeats": 1, "folds": 2, "seed": 0, "max_rows": 10, "n_folds": 2, "max_samples": 10, "size": 1
}  # fmt: skip
_MAX_NAME = 200  # characters of a name in a path; file systems end at 255


@dataclass(frozen=True)
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
    """

    name: str
    source: str = ""
    target: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.source:
            object.__setattr__(self, "source", self.name)


@dataclass(frozen=True)
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

    name: str
    method: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.method:
            object.__setattr__(self, "method", self.name)

    @property
    def is_imported(self) -> bool:
        """Whether the method is an import path."""
        return "." in self.method

    @property
    def is_tuned(self) -> bool:
        """Whether C and gamma of the classifier are to be tuned."""
        return is_tuned(self.method, self.options)


@dataclass(frozen=True)
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
    n_folds: int = 3
    max_samples: int = 2000
    size: int | None = None

    def __post_init__(self) -> None:
        check_choice("scope of tuning", self.scope, get_args(Scope))
        check_choice("search of tuning", self.search, get_args(Search))
        for key in ("n_folds", "max_samples", "size"):
            check_int(f"{key} of tuning", getattr(self, key), MINIMA[key], optional=key == "size")


@dataclass(frozen=True)
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
        How often the data are split, and into how many stratified parts.
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

    name: str
    datasets: tuple[DatasetSpec, ...]
    selectors: tuple[MethodSpec, ...]
    classifiers: tuple[MethodSpec, ...]
    sizes: tuple[int, ...] = PAPER_SIZES
    repeats: int = 10
    folds: int = 10
    seed: int = 0
    max_rows: int | None = None
    tuning: TuningSpec = TuningSpec()

    def __post_init__(self) -> None:
        _check_name("the name of the plan", self.name)
        for part, kind in (
            ("datasets", DatasetSpec), ("selectors", MethodSpec), ("classifiers", MethodSpec)
        ):  # fmt: skip
            object.__setattr__(self, part, _check_specs(part, getattr(self, part), kind))
        for key in ("repeats", "folds", "seed"):
            object.__setattr__(self, key, check_int(key, getattr(self, key), MINIMA[key]))
        max_rows = check_int("max_rows", self.max_rows, MINIMA["max_rows"], optional=True)
        object.__setattr__(self, "max_rows", max_rows)
        sizes = tuple(int(size) if is_int(size) else size for size in self.sizes)
        if not sizes or not all(is_int(size) and size >= 1 for size in sizes):
            raise MaucError(f"sizes must be ints of at least 1, got {list(sizes)}.")
        if list(sizes) != sorted(set(sizes)):
            raise MaucError(f"sizes must ascend without repeats, got {list(sizes)}.")
        object.__setattr__(self, "sizes", sizes)
        for spec in self.selectors:
            build_selector(spec)
        for spec in self.classifiers:
            build_classifier(spec)

    def cells(self) -> list["Cell"]:
        """Return the cells, repeats first: an early look at a run has all data sets."""
        return [
            Cell(dataset.name, repeat, fold)
            for repeat in range(self.repeats)
            for dataset in self.datasets
            for fold in range(self.folds)
        ]

    def dataset(self, name: str) -> DatasetSpec:
        """Return the data set of a name."""
        return next(spec for spec in self.datasets if spec.name == name)


@dataclass(frozen=True, order=True)
class Cell:
    """One fold of one repeat of one data set: the unit of work.

    Parameters
    ----------
    dataset : str
    repeat, fold : int
        From 0.
    """

    dataset: str
    repeat: int
    fold: int

    def __str__(self) -> str:
        return f"{self.dataset} repeat {self.repeat} fold {self.fold}"


def is_tuned(method: str, options: Iterable[str]) -> bool:
    """Whether C and gamma of a classifier are to be tuned."""
    return method == "svm" and not {"C", "gamma"} & set(options)


def dataset_options() -> list[str]:
    """Return the names of the options that a data set may have."""
    return [name for name in DEFAULTS if name not in ("target", "columns", "storage_options")]


def _check_specs(part: str, given: Any, kind: type[Any]) -> tuple[Any, ...]:
    if isinstance(given, str | kind) or not isinstance(given, Iterable):
        raise MaucError(f"{part} of the plan must be a tuple of {kind.__name__}, got {given!r}.")
    specs: tuple[Any, ...] = tuple(given)
    if not specs:
        raise MaucError(f"{part} of the plan must not be empty.")
    for spec in specs:
        if not isinstance(spec, kind):
            raise MaucError(f"{part} of the plan must hold {kind.__name__}, got {spec!r}.")
        _check_name(f"a name in {part}", spec.name)
        _check_option_values(f"{part}, {spec.name}", spec.options)
        if isinstance(spec, DatasetSpec):
            _check_source(spec)
    names = [spec.name for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise MaucError(
                f"{part} of the plan must have different names, got {name!r} "
                f"{names.count(name)} times; give one of them another name."
            )
    return specs


def _check_name(what: str, name: object) -> None:
    # Names become file names and words in tables.
    if (
        not isinstance(name, str)
        or not name.isprintable()
        or name != name.strip()
        or name in ("", ".", "..")
        or any(mark in name for mark in "/\\")
        or len(quote(name)) > _MAX_NAME
    ):
        raise MaucError(f"{what} must be a short word without slashes, got {name!r}.")


def _check_source(spec: DatasetSpec) -> None:
    if not isinstance(spec.source, str):
        raise MaucError(f"the source of {spec.name} must be text, got {spec.source!r}.")
    for option in spec.options:
        if option not in dataset_options():
            what = f"an option of the data set {spec.name}"
            raise unknown_choice(what, option, dataset_options())


def _check_option_values(what: str, value: Any, is_top: bool = True) -> None:
    """Check that options are what a TOML file can hold: every plan can be written down."""
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        for key, item in value.items():
            _check_option_values(f"{what}, {key}", item, False)
    elif is_top:
        raise MaucError(f"options ({what}) must be a table, got {value!r}.")
    elif isinstance(value, list | tuple):
        for item in value:
            _check_option_values(what, item, False)
    elif not isinstance(value, str | bool | int | float):
        raise MaucError(f"options ({what}) must be texts, numbers, lists or tables, got {value!r}.")
