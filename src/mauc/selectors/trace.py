"""How a selection came about: what was drawn from the ranking lists, step by step."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, overload

import numpy as np

from mauc.layout import Layout, plain_layout
from mauc.results import (
    MAX_ROWS,
    Result,
    first_rows,
    measure_name,
    number,
    rows_to_columns,
    short_name,
)

_MIN_FALL = 0.0005  # of predicted MAUC: less is printed as 0.000
_EACH_SIZE = 20  # features up to which every size is predicted
_MAX_LISTED = 5  # features


class TraceStep(NamedTuple):
    """One selected feature and the list that it was drawn from."""

    step: int  #: 1 for the first selected feature
    feature: int  #: column number
    feature_name: str
    subproblem: int  #: number of the list
    subproblem_name: str  #: such as "setosa vs virginica"
    rank: int  #: rank of the feature in that list, 1 for the best
    score: float  #: its relevance there


class Details(Mapping[str, np.ndarray]):
    """Further columns of a trace; what is not an array yet is computed when it is asked for."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> np.ndarray:
        self._columns[name] = np.asarray(self._columns[name])
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"Details({', '.join(self)})"

    def __getstate__(self) -> dict[str, Any]:
        return {"_columns": dict(self.items())}


@dataclass(frozen=True, repr=False)
class SelectionTrace(Result):
    """How a selection came about: arrays of shape (n_steps,), one entry per selected feature.

    Iterating gives `TraceStep` tuples, a slice a list of them. `details` are further columns of a
    selector, such as "predicted_mauc"; `to_frame` then also has what each step added to it, from
    1/2 on. It prints as a table of the first steps, and names those that lower the prediction.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import MDFS
    >>> iris = load_iris(as_frame=True)
    >>> names = iris.target_names[iris.target]
    >>> print(MDFS(2, random_state=0).fit(iris.data, names).trace_)
    step  feature            chosen for            rank  score
       1  petal length (cm)  setosa vs versicolor     1  1.0000
       2  petal width (cm)   setosa vs versicolor     2  1.0000
    """

    features: np.ndarray
    subproblems: np.ndarray
    ranks: np.ndarray
    scores: np.ndarray
    feature_names: np.ndarray
    subproblem_names: np.ndarray
    details: Mapping[str, np.ndarray] = field(default_factory=dict)
    n_classes: int = 0  #: of the problem, for words; 0 if unknown

    def __len__(self) -> int:
        return len(self.features)

    @overload
    def __getitem__(self, at: slice) -> list[TraceStep]: ...

    @overload
    def __getitem__(self, at: int) -> TraceStep: ...

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[step] for step in range(len(self))[at]]
        at = range(len(self))[at]
        return TraceStep(
            step=at + 1,
            feature=int(self.features[at]),
            feature_name=str(self.feature_names[at]),
            subproblem=int(self.subproblems[at]),
            subproblem_name=str(self.subproblem_names[at]),
            rank=int(self.ranks[at]),
            score=float(self.scores[at]),
        )

    def __iter__(self) -> Iterator[TraceStep]:
        return (self[at] for at in range(len(self)))

    def detail_columns(self) -> dict[str, np.ndarray]:
        """Return the details, and what each step added to the predicted MAUC, if there is one."""
        details = dict(self.details)
        if "predicted_mauc" in details:
            details["added"] = np.diff(details["predicted_mauc"], prepend=0.5)
        return details

    def fall_sentence(self, names: Any = None) -> str:
        """Tell which steps lower the predicted MAUC and why they were taken; "" if none does."""
        details = self.detail_columns()
        falls = np.flatnonzero(details.get("added", np.zeros(0))[:_EACH_SIZE] < -_MIN_FALL)
        if len(falls) == 0:
            return ""
        given = self.feature_names if names is None else np.asarray(names)[self.features]
        listed = ", ".join(short_name(given[at]) for at in falls[:_MAX_LISTED])
        if len(falls) > _MAX_LISTED:
            listed += f" and {len(falls) - _MAX_LISTED} more"
        predicted = details["predicted_mauc"]
        best = int(np.argmax(predicted >= predicted.max() - _MIN_FALL)) + 1
        outcome = "features that follow make up for it"
        if best <= falls[-1]:
            first = "first feature" if best == 1 else f"first {best} features"
            outcome = f"it is as high with the {first}"
        return (
            f"{listed} lower{'s' * (len(falls) == 1)} the predicted {measure_name(self.n_classes)} "
            f"(the search maximises the separation of the classes, the prediction subtracts what "
            f"may be chance); {outcome}"
        )

    def frame_columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`: those of `TraceStep` and the details."""
        return rows_to_columns(self, TraceStep._fields) | self.detail_columns()

    def to_frame(self) -> Any:
        """Return the trace as a pandas DataFrame, one row per step."""
        return super().to_frame().set_index("step")

    def plot(self, ax: Any = None) -> Any:
        """Draw the trace; return its `mauc.plotting.TraceDisplay`."""
        # By name: plots build on selectors, not the other way round.
        return import_module("mauc.plotting").TraceDisplay(self).plot(ax)

    def printed_parts(self) -> list[str | Layout]:
        """Return the first steps as a table."""
        measure = measure_name(self.n_classes)
        details = {
            name.replace("_", " ").replace("mauc", measure): values
            for name, values in self.detail_columns().items()
        }
        heads = ["step", "feature", "chosen for", "rank", "score", *details]
        rows = [
            [
                str(one.step),
                short_name(one.feature_name),
                short_name(one.subproblem_name),
                str(one.rank),
                number(one.score),
                *(_shown(values[one.step - 1]) for values in details.values()),
            ]
            for one in (self[at] for at in range(min(len(self), MAX_ROWS)))
        ]
        table = plain_layout(heads, rows, len(self), right=("step", "rank"))
        return [table, sentence] if (sentence := self.fall_sentence()) else [table]


def _shown(value: Any) -> str:
    return number(float(value)) if np.asarray(value).dtype.kind in "fiu" else str(value)


@dataclass(frozen=True, repr=False)
class CostCurve(Result):
    """MAUC to expect for what the features so far cost; the last value of each cost counts."""

    cost: np.ndarray  #: (n_selected,), ascending
    mauc: np.ndarray  #: (n_selected,)

    def frame_columns(self) -> dict[str, np.ndarray]:
        """Return the columns of `to_frame`: one row per cost, with the features that it pays."""
        last = np.flatnonzero(np.append(np.diff(self.cost) > 0, True))
        return {"cost": self.cost[last], "n_features": last + 1, "mauc": self.mauc[last]}

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve; return its `mauc.plotting.CostCurveDisplay`."""
        # By name: plots build on selectors, not the other way round.
        return import_module("mauc.plotting").CostCurveDisplay(self).plot(ax)

    def printed_parts(self) -> list[str | Layout]:
        """Return the curve as a table."""
        columns = self.frame_columns()
        rows = [
            [
                f"{columns['cost'][at]:g}",
                str(columns["n_features"][at]),
                number(columns["mauc"][at]),
            ]
            for at in first_rows(len(columns["cost"]))
        ]
        heads = ["cost", "features", "predicted MAUC"]
        return [plain_layout(heads, rows, len(columns["cost"]), right=("cost", "features"))]
