"""Read the data of a command and make the selector it names."""

import re
from typing import TYPE_CHECKING, Any

from mauc.checks import unknown_word
from mauc.cli.show import watched
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.datasets import Dataset
    from mauc.selectors.base import RankingSelector
    from mauc.stats import Comparison

# Parameters of selectors that are options of their own here.
_OWN = {"n_features_to_select": "-k", "random_state": "--seed", "n_jobs": "--jobs"}


def read_data(
    data: str, target: str | None, data_format: str | None, nominal: str,
    drop: list[str] | None, separator: str | None, encoding: str | None,
) -> "Dataset":  # fmt: skip
    """Load the data set of a command; errors name its options."""
    from mauc.datasets import load_dataset

    if separator is not None:
        separator = separator.replace("\\t", "\t")
    try:
        return watched(load_dataset, f"reading {data}")(
            data, target, format=data_format, nominal=nominal, drop=drop or (),
            separator=separator, encoding=encoding,
        )  # fmt: skip
    except MaucError as error:
        raise MaucError(as_options(str(error))) from error


def as_options(message: str) -> str:
    """Return a message of the library with its parameters as options of the command line."""
    message = re.sub(r"\b(separator|encoding|format|nominal)=", r"--\1 ", message)
    words = "separator|encoding|format|nominal|test|alpha"
    return re.sub(rf"^({words}) (?=must|goes)", r"--\1 ", message)


def make_comparison(reference: str | None, test: str, alpha: float) -> "Comparison":
    """Return the comparison of ``--reference``, ``--test`` and ``--alpha``."""
    from mauc.stats import Comparison

    try:
        return Comparison(reference, test, alpha)
    except MaucError as error:
        raise MaucError(as_options(str(error))) from error


def numbers_only(dataset: "Dataset", what: str) -> None:
    """Raise if a data set has nominal columns, for something that takes none."""
    from mauc.datasets import check_numeric

    try:
        check_numeric(dataset, what)
    except MaucError as error:
        raise MaucError(as_options(str(error))) from error


def named_selector(
    method: str, options: list[str] | None, seed: int, jobs: int
) -> "RankingSelector":
    """Return the unfitted selector of ``--method`` with its ``--set`` options, checked."""
    from mauc.registry import SELECTORS, make_selector

    if method not in SELECTORS:
        raise unknown_word("--method", method, SELECTORS)
    given = parse_options(options)
    fixed = SELECTORS[method].options
    known = make_selector(method).get_params()
    free = [name for name in known if name not in _OWN and name not in fixed]
    for name in given:
        if name in _OWN:
            raise MaucError(f"--set {name}: use {_OWN[name]} instead.")
        if name not in free:
            choices = free or ["none (it has no options)"]
            raise unknown_word(f"--set for the method {method}", name, choices)
    common = {"random_state": seed, "n_jobs": jobs}
    given |= {name: value for name, value in common.items() if name in known}
    selector: RankingSelector = make_selector(method, **given)
    selector.check_options()
    return selector


def parse_options(options: list[str] | None) -> dict[str, Any]:
    """Return NAME=VALUE words as a dict; values that look like numbers are numbers.

    Examples
    --------
    >>> from mauc.cli.data import parse_options
    >>> parse_options(["ties=mauc", "n_neighbors=5", "sigma=none"])
    {'ties': 'mauc', 'n_neighbors': 5, 'sigma': None}
    """
    parsed: dict[str, Any] = {}
    for word in options or ():
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
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def fit_on(selector: "RankingSelector", dataset: "Dataset", method: str) -> None:
    """Fit a selector, or say which nominal column it cannot take."""
    from mauc.registry import SELECTORS

    if not selector.accepts.nominal:
        numbers_only(dataset, method)
    watched(selector.fit, SELECTORS[method].label)(dataset.X, dataset.y)


def check_size(k: str | None, n_features: int) -> int | str:
    """Return how many features ``-k`` asks for: 10 or all if fewer by default."""
    if k is None:
        return min(10, n_features)
    if k == "all":
        return n_features
    if k in ("auto", "predicted"):
        return k
    try:
        size = int(k)
    except ValueError:
        raise MaucError(f"-k must be a whole number, all or auto, got {k!r}.") from None
    if not 1 <= size <= n_features:
        raise MaucError(f"-k must be in [1, {n_features}] (the number of features), got {k}.")
    return size


def words_of(text: str, option: str) -> list[str]:
    """Return the words of a comma-separated list."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise MaucError(f"{option} must be names separated by commas, got {text!r}.")
    return words


def sizes_from(text: str | None, n_features: int) -> tuple[int, ...]:
    """Return the sizes of a comma-separated list; by default some up to 100 or all features.

    Examples
    --------
    >>> from mauc.cli.data import sizes_from
    >>> sizes_from(None, 64), sizes_from("10,5", 64)
    ((6, 13, 32, 64), (5, 10))
    """
    if text is None:
        largest = min(100, n_features)
        return tuple(sorted({max(1, round(largest * share)) for share in (0.1, 0.2, 0.5, 1.0)}))
    try:
        sizes = sorted({int(word) for word in words_of(text, "--sizes")})
    except ValueError:
        raise MaucError(
            f"--sizes must be whole numbers separated by commas, got {text!r}."
        ) from None
    if sizes[0] < 1 or sizes[-1] > n_features:
        raise MaucError(
            f"--sizes must be in [1, {n_features}] (the number of features), got {text}."
        )
    return tuple(sizes)
