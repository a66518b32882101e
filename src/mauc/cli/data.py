"""Read the data of a command and make the selector it names."""

from typing import Any

from mauc.datasets import Dataset, check_numeric, load_dataset
from mauc.exceptions import MaucError, unknown_word
from mauc.selectors import SELECTORS, make_selector
from mauc.selectors.base import RankingSelector


def read_data(
    data: str, target: str | None, data_format: str | None, nominal: str,
    drop: list[str] | None, separator: str | None, encoding: str | None,
) -> Dataset:  # fmt: skip
    """Load the data set of a command."""
    return load_dataset(
        data, target, format=data_format, nominal=nominal, drop=drop or (),
        separator=separator, encoding=encoding,
    )  # fmt: skip


def named_selector(
    method: str, size: int | str, options: list[str] | None, seed: int, jobs: int
) -> RankingSelector:
    """Return the unfitted selector of ``--method`` with its ``--set`` options."""
    if method not in SELECTORS:
        raise unknown_word("--method", method, SELECTORS)
    given = parse_options(options)
    selector = make_selector(method, size, **given)
    known = selector.get_params()
    common = {"random_state": seed, "n_jobs": jobs}
    selector.set_params(
        **{name: value for name, value in common.items() if name in known and name not in given}
    )
    return selector


def parse_options(options: list[str] | None) -> dict[str, Any]:
    """Return NAME=VALUE words as a dict; values that look like numbers are numbers."""
    parsed: dict[str, Any] = {}
    for word in options or ():
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise MaucError(f"--set must be NAME=VALUE, got {word!r}.")
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


def fit_on(selector: RankingSelector, dataset: Dataset, method: str) -> RankingSelector:
    """Fit a selector, or say which nominal column it cannot take."""
    if not selector._accepts()["accept_nominal"]:
        try:
            check_numeric(dataset, method)
        except MaucError as error:
            raise MaucError(str(error).replace("say nominal=", "say --nominal ")) from error
    selector.fit(dataset.X, dataset.y)
    return selector


def check_size(k: str | None, n_features: int) -> int | str:
    """Return how many features ``-k`` asks for: 10 or all if fewer by default."""
    if k is None:
        return min(10, n_features)
    if k == "all":
        return n_features
    try:
        size = int(k)
    except ValueError:
        raise MaucError(f"-k must be a whole number or all, got {k!r}.") from None
    if not 1 <= size <= n_features:
        raise MaucError(f"-k must be in [1, {n_features}] (the number of features), got {k}.")
    return size


def words_of(text: str, option: str) -> list[str]:
    """Return the words of a list with commas."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise MaucError(f"{option} must be names separated by commas, got {text!r}.")
    return words


def sizes_from(text: str | None, n_features: int) -> tuple[int, ...]:
    """Return the sizes of a list with commas; by default some up to 100 or all features."""
    if text is None:
        most = min(100, n_features)
        return tuple(sorted({max(1, round(most * share)) for share in (0.1, 0.2, 0.5, 1.0)}))
    try:
        sizes = sorted({int(word) for word in words_of(text, "--sizes")})
    except ValueError:
        raise MaucError(
            f"--sizes must be whole numbers separated by commas, got {text!r}."
        ) from None
    if sizes[0] < 1 or sizes[-1] > n_features:
        raise MaucError(f"--sizes must be in [1, {n_features}] (the number of features), "
                        f"got {text}.")  # fmt: skip
    return tuple(sizes)
