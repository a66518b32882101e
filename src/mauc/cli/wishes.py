"""What the command line wishes of a selection: features to keep, groups, costs, a budget."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauc.cli.common import option
from mauc.exceptions import MaucError, format_labels

if TYPE_CHECKING:
    import pandas as pd

    from mauc.datasets import Dataset

COSTS: dict[str, Any] = {
    "metavar": "FILE",
    "help": "What it costs to confuse two classes: a table with a row and a column per class, or "
    "with columns of two classes and a cost; other pairs count 1, a pair of 0 does not count.",
}
_READERS = {".json": "read_json", ".parquet": "read_parquet", ".xlsx": "read_excel"}


@dataclass(frozen=True)
class Wishes:
    """Which features are chosen in any case or never, together, and for how much."""

    keep: str | None = option(
        "--keep",
        metavar="NAMES",
        help="Features that are always chosen, first: names or patterns ('age*'), "
        "comma-separated; a name with a comma in double quotes.",
    )
    exclude: str | None = option(
        "--exclude", metavar="NAMES", help="Features that are never chosen, as in --keep."
    )
    feature_groups: str | None = option(
        "--groups-of",
        metavar="FILE",
        help="Features that are chosen together or not at all: a table with columns feature and "
        "group.",
    )
    feature_costs: str | None = option(
        "--feature-costs",
        metavar="FILE",
        help="What features, or groups, cost: a table with columns feature and cost.",
    )
    budget: float | None = option(
        "--budget", type=float, help="What the chosen features may cost in all."
    )
    pair_weight: str | None = option("--costs", **COSTS)

    @property
    def given(self) -> dict[str, Any]:
        """What was typed, by parameter of the selectors."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @property
    def words(self) -> list[str]:
        """What was typed, word by word."""
        flags = {item.name: item.metadata["names"][0] for item in fields(self)}
        return [word for name, value in self.given.items() for word in (flags[name], str(value))]

    def check(self, selector: Any, method: str) -> None:
        """Refuse wishes that a method does not take."""
        from mauc.registry import SELECTORS

        flags = {item.name: item.metadata["names"][0] for item in fields(self)}
        for name in self.given:
            if name not in selector.get_params():
                takers = [
                    short for short, entry in SELECTORS.items() if name in entry().get_params()
                ]
                raise MaucError(
                    f"{flags[name]} goes with the methods {format_labels(takers)}, not with "
                    f"{method}."
                )

    def parameters(self, dataset: "Dataset") -> dict[str, Any]:
        """Return the parameters of a selector that the wishes are."""
        from mauc.data.wishes import Wishes, WishOptions, by_number

        found: dict[str, Any] = {}
        names = list(dataset.feature_names)
        for wish, flag in (("keep", "--keep"), ("exclude", "--exclude")):
            if (text := getattr(self, wish)) is not None:
                found[wish] = find_names(text, names, flag)
        if self.feature_groups is not None:
            groups: dict[str, list[str]] = {}
            found["feature_groups"] = groups
            for feature, group in read_columns(self.feature_groups, "--groups-of", "group"):
                groups.setdefault(str(group), []).append(feature)
        if self.feature_costs is not None:
            found["feature_costs"] = dict(
                read_columns(self.feature_costs, "--feature-costs", "cost")
            )
        if self.budget is not None:
            found["budget"] = self.budget
        # What is wrong is told by name, also where the selector knows numbers alone.
        Wishes.of(WishOptions(**found), names)
        if not hasattr(dataset.X, "columns"):
            found = by_number(found, names)
        if self.pair_weight is not None:
            found["pair_weight"] = read_costs(self.pair_weight)
        return found


def find_names(text: str, names: Sequence[str], flag: str) -> list[str]:
    """Return the features of comma-separated names and patterns, quoted as in CSV."""
    found: list[str] = []
    words = [word for row in csv.reader(StringIO(text), skipinitialspace=True) for word in row]
    for word in [text] if text in names else filter(str.strip, words):
        here = [name for name in (word, word.strip()) if name in names][:1]
        here = here or [name for name in names if fnmatchcase(name, word.strip())]
        if not here:
            raise MaucError(f"{flag} must name features ({format_labels(names)}), got {word!r}.")
        found += here
    if not found:
        raise MaucError(f"{flag} must be names separated by commas, got {text!r}.")
    return list(dict.fromkeys(found))


def read_costs(path: str) -> dict[str, dict[str, float]]:
    """Return the costs of confusing classes from a table of either form."""
    frame = _read(path, "--costs")
    first, heads = frame.iloc[:, 0].astype(str), [str(name) for name in frame.columns[1:]]
    if set(first) == set(heads):
        frame = frame.set_axis(["", *heads], axis=1).melt("", var_name="class")
        frame = frame[frame.iloc[:, 0].astype(str) != frame["class"]]
    elif frame.shape[1] != 3:
        raise MaucError(
            f"--costs must be a table with a row and a column per class, or with columns of two "
            f"classes and a cost, got columns {format_labels(list(frame.columns))} in {path}."
        )
    costs: dict[str, dict[str, float]] = {}
    for one, other, cost in frame.itertuples(index=False):
        try:
            costs.setdefault(str(one), {})[str(other)] = float(cost)
        except ValueError:
            raise MaucError(f"--costs must be numbers, got {cost!r} in {path}.") from None
    return costs


def read_columns(path: str, flag: str, wanted: str) -> list[tuple[str, Any]]:
    """Return the rows of a file with columns "feature" and `wanted`."""
    frame = _read(path, flag)
    lower = {str(name).strip().lower(): name for name in frame.columns}
    if not {"feature", wanted} <= lower.keys():
        raise MaucError(
            f"{flag} must be a table with columns feature and {wanted}, got columns "
            f"{format_labels(list(frame.columns))} in {path}."
        )
    return list(zip(frame[lower["feature"]].astype(str), frame[lower[wanted]], strict=True))


def _read(path: str, flag: str) -> "pd.DataFrame":
    """Return the table of a small file."""
    import pandas as pd

    try:
        if (kind := Path(path).suffix.lower()) in _READERS:
            return getattr(pd, _READERS[kind])(path)
        # Names such as 01 or NA stay what they are.
        return pd.read_csv(path, sep=None, engine="python", dtype=str, keep_default_na=False)
    except (OSError, ValueError, ImportError, pd.errors.ParserError) as error:
        raise MaucError(f"{flag}: {path} cannot be read: {error}.") from error
