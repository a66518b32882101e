"""Make the selector that a command names, and fit it: on columns, on a cluster, or on a sketch."""

from ast import literal_eval
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mauc.checks import check_choice
from mauc.cli.common import JOBS, SCHEDULER, SEED, echo_stderr, option
from mauc.cli.reading import Reading, say_columns
from mauc.cli.show import watched
from mauc.cli.streaming import is_by_rows, memory_for
from mauc.cli.wishes import Wishes
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.datasets import Dataset
    from mauc.selectors.base import RankingSelector

DEFAULT_METHOD = "greedy"
ENGINES = ("local", "dask")
_MAX_CATEGORIES = 100  # more would make many columns, nearly all of them 0
#: parameters of methods that ``--set`` does not take, and what to do instead
NOT_SET = {
    "n_features_to_select": "use -k instead",
    "random_state": "use --seed instead",
    "n_jobs": "use --jobs instead",
    "categorical_features": "use --categorical instead",
    "verbose": "no option of the command line; bars show on a terminal",
    "prior": "no option of the command line; it takes an estimator, from Python",
    **{wish.name: f"use {wish.metadata['names'][0]} instead" for wish in fields(Wishes)},
}


@dataclass(frozen=True)
class Fitting:
    """Which method is fitted, how, and where."""

    method: str | None = option(
        "-m",
        "--method",
        metavar="NAME",
        help="Selector: greedy by default (GreedyMAUC), mdfs (the paper's), mrmr, su, ... (see "
        "mauc methods).",
    )
    options: tuple[str, ...] = option(
        "--set",
        metavar="NAME=VALUE",
        multiple=True,
        default=(),
        help="Option of the method (see mauc methods); repeatable.",
    )
    classifier: str | None = option(
        "--classifier",
        metavar="NAME",
        help="What the features are for, which then judges -k auto and --report: nb, 1nn, c45, "
        "svm, logistic, knn, svc, forest, boosting, or the import path of a classifier, such as "
        "sklearn.ensemble.ExtraTreesClassifier. By default the best of four: Naive Bayes, a "
        "linear discriminant, nearest neighbours and extra trees.",
    )
    seed: int = option("--seed", **SEED)
    jobs: int = option("-j", "--jobs", **JOBS)
    memory: str | None = option(
        "--memory",
        metavar="SIZE",
        help="Read the columns in blocks, within this much memory, such as 500MB or 1GB; by "
        "default a file is read whole if there is room for it. The result is the same. Text files "
        "are first copied to a cache by columns, see mauc cache.",
    )
    sketch: bool = option(
        "--sketch",
        is_flag=True,
        default=False,
        help="Read the rows once and sketch the AUCs (methods mdfs and maucd), whose largest "
        "error is told; by default only where columns would take too much memory or time.",
    )
    engine: str = option(
        "--engine",
        metavar="NAME",
        default="local",
        help="Where columns are ranked: local (threads of this process) or dask (workers, which "
        "read the columns themselves: those of --scheduler, or --jobs processes started here).",
    )
    scheduler: str | None = option("--scheduler", **SCHEDULER)

    @property
    def name(self) -> str:
        """The method by its short name."""
        return self.method or DEFAULT_METHOD

    @property
    def seed_words(self) -> list[str]:
        """What was typed for the seed, if it is not the default."""
        return ["--seed", str(self.seed)] if self.seed else []

    def make_classifier(self, is_judged: bool) -> Any:
        """Return the classifier of ``--classifier``, or None; refuse one that nothing asks."""
        if self.classifier is None:
            return None
        if not is_judged:
            raise MaucError(
                "--classifier judges -k auto and --report (mauc select); add one of them, or "
                "leave it out."
            )
        from mauc.experiments import MethodSpec
        from mauc.experiments.plan import build_classifier

        return build_classifier(MethodSpec(self.classifier))

    def make_selector(self, k: str | None) -> Any:
        """Return the unfitted selector; what cannot be done is refused before data are read."""
        selector = named_selector(self.name, self.options, self.seed, self.jobs)
        if k is not None and not k.lstrip("-").isdigit():
            check_size(k, 1, selector)
        check_choice("--engine", self.engine, ENGINES, quoted=False)
        if self.sketch and not hasattr(selector, "fit_sketch"):
            raise MaucError(
                f"--sketch goes with the methods mdfs and maucd, which rank by the AUCs of "
                f"features, not with {type(selector).__name__}."
            )
        if self.engine == "dask":
            from mauc.extras import optional_import

            optional_import("distributed", "--engine dask")
            if self.sketch:
                raise MaucError(
                    "--sketch goes with --engine local: it reads the rows here, in parts."
                )
        if self.scheduler is not None and self.engine != "dask":
            raise MaucError(
                f"--scheduler goes with --engine dask, got {self.scheduler!r} without it."
            )
        if self.scheduler is not None and self.jobs != 1:
            raise MaucError(
                f"--jobs {self.jobs} goes with workers that are started here; those of --scheduler "
                f"{self.scheduler} have their own number of threads. Leave one of the two out."
            )
        return selector


class Fitted(NamedTuple):
    """A selector and the data that it was fitted on."""

    selector: Any
    loaded: "Dataset"
    dataset: "Dataset"  #: as the selector took it: nominal columns are numbers, if it has to be
    client: Any  #: of Dask, as `fit` takes it; None for this process
    classifier: Any  #: that judges; None for the best of several


@contextmanager
def fitted(
    fitting: Fitting,
    reading: Reading,
    data: str,
    k: str | None,
    wishes: Wishes,
    report: Path | None = None,
) -> Iterator[Fitted]:
    """Load data and fit the selector of a command on them, and say how they were taken."""
    selector = fitting.make_selector(k)
    wishes.check(selector, fitting.name)
    classifier = fitting.make_classifier(k == "auto" or report is not None)
    memory = memory_for(fitting, reading, data, k, report, selector.accepts)
    with _workers(fitting) as client:
        loaded = reading.load(data, **memory)
        is_sketched = bool(memory) and client is None and is_by_rows(fitting, selector, loaded)
        dataset = suited(selector, loaded, fitting.name, is_sketched=is_sketched)
        say_columns(dataset, data)
        selector.set_params(**wishes.parameters(dataset))
        size = check_size(k, dataset.n_features, selector)
        if wishes.given and size == dataset.n_features:
            size = "all"  # that are not excluded
        is_split = size == "auto" or report is not None or hasattr(selector, "n_resamples")
        if dataset.groups is not None and not is_split:
            echo_stderr(
                "--groups leaves its column out, but changes nothing else here: -k auto, --report "
                "and the method consensus split the rows."
            )
        if fitting.method is None:
            echo_stderr(
                f"the method is {DEFAULT_METHOD} (GreedyMAUC); --method mdfs takes the paper's, "
                f"MDFS."
            )
        selector.set_params(n_features_to_select=size)
        if is_sketched:
            from mauc.sketch import sketch_rows

            sketch = watched(sketch_rows, f"sketch for {type(selector).__name__}")
            selector.fit_sketch(sketch(dataset.X, dataset.y, n_jobs=fitting.jobs))
        elif size == "auto" and classifier is not None:
            from mauc import select_k

            curve = watched(select_k, "sizes")(
                selector,
                dataset.X,
                dataset.y,
                groups=dataset.groups,
                classifier=classifier,
                n_jobs=fitting.jobs,
            )
            fit_on(selector.set_params(n_features_to_select=curve.size), dataset, client)
            selector.size_curve_ = curve
        else:
            fit_on(selector, dataset, client)
        yield Fitted(selector, loaded, dataset, client, classifier)


def fit_on(selector: "RankingSelector", dataset: "Dataset", client: Any = None) -> None:
    """Fit a selector on data that suit it."""
    watched(selector.fit, type(selector).__name__)(
        dataset.X, dataset.y, groups=dataset.groups, client=client
    )


def _workers(fitting: Fitting) -> AbstractContextManager[Any]:
    """Give what selectors take as ``client``: None for this process, or a connected client."""
    if fitting.engine == "local":
        return nullcontext()
    from mauc.cluster.connect import joined_workers
    from mauc.parallel import count_threads

    way_out = "name a scheduler by --scheduler, or use --engine local"
    # An address that does not answer is told before the data are read.
    return joined_workers(fitting.scheduler, count_threads(fitting.jobs), way_out)


def suited(
    selector: "RankingSelector",
    dataset: "Dataset",
    method: str,
    nominal: str = "onehot",
    *,
    is_sketched: bool = False,
) -> "Dataset":
    """Return the data as a selector takes them: nominal columns as numbers, if it has to be."""
    from mauc.datasets import encode_dataset

    if (selector.accepts.nominal and not is_sketched) or not dataset.nominal_features:
        return dataset
    largest = _MAX_CATEGORIES if nominal == "onehot" else None
    encoded: Dataset = watched(encode_dataset, "nominal columns")(
        dataset, nominal, max_categories=largest
    )
    head, mark, tail = encoded.notes[0].partition("; left out: ")
    taker = "a sketch" if is_sketched else method
    line = f"{head}, as {taker} takes numbers only{mark}{tail}"
    return replace(encoded, notes=(line, *encoded.notes[1:]))


def named_selector(
    method: str, options: tuple[str, ...], seed: int, jobs: int
) -> "RankingSelector":
    """Return the unfitted selector of ``--method`` with its ``--set`` options, checked."""
    from mauc.registry import SELECTORS, make_selector

    check_choice("--method", method, SELECTORS, quoted=False)
    given = parse_options(options)
    fixed = SELECTORS[method].options
    known = make_selector(method).get_params()
    free = [name for name in known if name not in NOT_SET and name not in fixed]
    for name in given:
        if name in NOT_SET:
            raise MaucError(f"--set {name}: {NOT_SET[name]}.")
        choices = free or ["none (it has no options)"]
        check_choice(f"--set for the method {method}", name, choices, quoted=False)
    common = {"random_state": seed, "n_jobs": jobs}
    given |= {name: value for name, value in common.items() if name in known}
    selector: RankingSelector = make_selector(method, **given)
    selector.check_options()
    return selector


def parse_options(options: tuple[str, ...]) -> dict[str, Any]:
    """Return NAME=VALUE words as a dict; values that look like numbers or lists of them are those.

    >>> parse_options(["ties=mauc", "n_neighbors=5", "sigma=none", "share=[1, 0.5]"])
    {'ties': 'mauc', 'n_neighbors': 5, 'sigma': None, 'share': [1, 0.5]}
    """
    parsed: dict[str, Any] = {}
    for word in options:
        name, equals, text = word.partition("=")
        if not equals or not name.strip():
            raise MaucError(f"--set must be NAME=VALUE, got {word!r}.")
        if name.strip() in parsed:
            raise MaucError(f"--set {name.strip()} is given twice.")
        parsed[name.strip()] = _value(text.strip())
    return parsed


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def check_size(k: str | None, n_features: int, selector: Any = None) -> int | str:
    """Return how many features ``-k`` asks for: as predicted, or 10, by default."""
    has_prediction = "predicted" in getattr(selector, "_size_choices", "")
    if k is None:
        if getattr(selector, "budget", None) is not None and not has_prediction:
            return "all"  # that the budget pays for
        return "predicted" if has_prediction else min(10, n_features)
    if k == "all":
        return n_features
    if k in ("auto", "fdr") and f'"{k}"' in getattr(selector, "_size_choices", ""):
        return k
    if k == "predicted" and selector is not None:
        if not has_prediction:
            raise MaucError(
                f"-k predicted goes with the method greedy, which predicts MAUC, not with "
                f"{type(selector).__name__}; -k auto chooses by cross-validation for any method."
            )
        return k
    try:
        size = int(k)
    except ValueError:
        words = " or all" if selector is None else ", all, auto, predicted or fdr"
        raise MaucError(f"-k must be a whole number{words}, got {k!r}.") from None
    if not 1 <= size <= n_features:
        raise MaucError(f"-k must be in [1, {n_features}] (the number of features), got {k}.")
    return size
