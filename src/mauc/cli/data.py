"""Make the selector that a command names, and fit it on data of any columns."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mauc.checks import unknown_choice
from mauc.cli.common import DEFAULT_METHOD, echo_stderr
from mauc.cli.reading import as_options
from mauc.cli.show import watched
from mauc.exceptions import MaucError
from mauc.registry import score_label

if TYPE_CHECKING:
    from mauc.datasets import Dataset
    from mauc.selectors.base import RankingSelector
    from mauc.stats import Comparison

_MAX_CATEGORIES = 100  # more would make many columns, nearly all of them 0
#: parameters of methods that ``--set`` does not take, and what to do instead
NOT_SET = {
    "n_features_to_select": "use -k instead",
    "random_state": "use --seed instead",
    "n_jobs": "use --jobs instead",
    "categorical_features": "use --categorical instead",
    "verbose": "no option of the command line; bars show on a terminal",
}


def make_comparison(reference: str | None, test: str, alpha: float) -> "Comparison":
    """Return the comparison of ``--reference``, ``--test`` and ``--alpha``."""
    from mauc.stats import Comparison

    try:
        return Comparison(reference, test, alpha)
    except MaucError as error:
        raise MaucError(as_options(str(error))) from error


def chosen_method(method: str | None) -> str:
    """Return the method of ``--method``; without it the default, and say how to get the paper's."""
    if method is not None:
        return method
    echo_stderr(
        f"the method is {DEFAULT_METHOD} (GreedyMAUC); --method mdfs takes the paper's, MDFS."
    )
    return DEFAULT_METHOD


def say_columns(dataset: "Dataset", data: str) -> None:
    """Say on stderr how the columns of a file were taken; a bundled set has numbers alone."""
    from mauc.datasets import BUNDLED

    if data in BUNDLED:
        return
    first, *others = dataset.notes or ("",)
    _, is_left_out, names = first.partition("; left out: ")
    if is_left_out:
        echo_stderr(f"warning: {dataset.name}: {first} (--keep-ids keeps {_pronoun(names)})")
    elif first:
        echo_stderr(f"{dataset.name}: {first}")
    for note in others:
        echo_stderr(f"{dataset.name}: {note}")


def _pronoun(names: str) -> str:
    return "it" if names.count("'") == 2 else "them"


def suited(
    selector: "RankingSelector",
    dataset: "Dataset",
    method: str,
    nominal: str = "onehot",
    *,
    is_sketched: bool = False,
) -> "Dataset":
    """Return the data as a selector takes them: nominal columns as numbers, if it has to be.

    With "onehot" a nominal column becomes one indicator for each of its values, or codes if it
    has more than 100 values; with "ordinal" it becomes codes, as in experiments.
    """
    is_taken = selector.accepts.nominal and not is_sketched
    if is_taken or not dataset.nominal_features:
        return dataset
    largest = _MAX_CATEGORIES if nominal == "onehot" else None
    encoded: Dataset = _encoder(dataset)(dataset, nominal, max_categories=largest)
    head, mark, tail = encoded.notes[0].partition("; left out: ")
    taker = "a sketch" if is_sketched else method
    line = f"{head}, as {taker} takes numbers only{mark}{tail}"
    return replace(encoded, notes=(line, *encoded.notes[1:]))


def _encoder(dataset: "Dataset") -> Any:
    from mauc.data.source import ColumnSource
    from mauc.datasets import encode_dataset

    is_source = isinstance(dataset.X, ColumnSource)
    return watched(encode_dataset, "nominal columns") if is_source else encode_dataset


def named_selector(
    method: str, options: list[str] | None, seed: int, jobs: int
) -> "RankingSelector":
    """Return the unfitted selector of ``--method`` with its ``--set`` options, checked."""
    from mauc.registry import SELECTORS, make_selector

    if method not in SELECTORS:
        raise unknown_choice("--method", method, SELECTORS)
    given = parse_options(options)
    fixed = SELECTORS[method].options
    known = make_selector(method).get_params()
    free = [name for name in known if name not in NOT_SET and name not in fixed]
    for name in given:
        if name in NOT_SET:
            raise MaucError(f"--set {name}: {NOT_SET[name]}.")
        if name not in free:
            choices = free or ["none (it has no options)"]
            raise unknown_choice(f"--set for the method {method}", name, choices)
    common = {"random_state": seed, "n_jobs": jobs}
    given |= {name: value for name, value in common.items() if name in known}
    selector: RankingSelector = make_selector(method, **given)
    selector.check_options()
    return selector


def parse_options(options: list[str] | None) -> dict[str, Any]:
    """Return NAME=VALUE words as a dict; values that look like numbers or lists of them are those.

    Examples
    --------
    >>> from mauc.cli.data import parse_options
    >>> parse_options(["ties=mauc", "n_neighbors=5", "sigma=none", "prior=[1, 0.5]"])
    {'ties': 'mauc', 'n_neighbors': 5, 'sigma': None, 'prior': [1, 0.5]}
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
    if text.startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            return text  # the option refuses it
    return text


def is_greedy(selector: "RankingSelector") -> bool:
    """Whether a fitted selector judged features given those chosen before."""
    if selector.decomposition_.name != "whole":
        return not hasattr(selector, "recipe")
    alone = [float(selector.scores_[step.feature]) for step in selector.trace_]
    return alone != [step.score for step in selector.trace_]


def score_head(selector: "RankingSelector") -> str:
    """Return what tables call the scores of a fitted selector, those of features by themselves."""
    measure = score_label(selector)
    is_paired = selector.decomposition_.name != "whole"
    if hasattr(selector, "frequencies_"):
        return "mean frequency"  # of a consensus
    if is_greedy(selector):
        return "alone" if is_paired else f"{measure} alone"
    # The AUC of a feature on the whole problem is its mean over the class pairs.
    return f"mean {measure}" if is_paired or measure == "AUC" else measure


def size_curve_dict(selector: "RankingSelector") -> dict[str, Any]:
    """Return the curve of ``-k auto`` as plain values; nothing where the size was given."""
    curve = getattr(selector, "size_curve_", None)
    if curve is None:
        return {}
    return {
        "size_curve": {
            "chosen": curve.size,
            "best": curve.best_size,
            "sizes": curve.sizes.tolist(),
            "mauc": curve.mean.tolist(),
            "standard_error": curve.standard_error.tolist(),
            "note": curve.edge_note,
        }
    }


def check_size(k: str | None, n_features: int, selector: Any = None) -> int | str:
    """Return how many features ``-k`` asks for: 10 or all if fewer by default."""
    if k is None:
        return min(10, n_features)
    if k == "all":
        return n_features
    if k == "auto" and selector is not None:
        return k
    if k == "predicted" and selector is not None:
        if "predicted" not in getattr(selector, "_size_choices", ""):
            raise MaucError(
                f"-k predicted goes with the method greedy, which predicts MAUC, not with "
                f"{type(selector).__name__}; -k auto chooses by cross-validation for any method."
            )
        return k
    try:
        size = int(k)
    except ValueError:
        words = (
            "a whole number or all"
            if selector is None
            else ("a whole number, all, auto or predicted")
        )
        raise MaucError(f"-k must be {words}, got {k!r}.") from None
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
