"""Weights of class pairs, such as costs of confusing them: from what users give to a vector."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mauc.checks import check_choice
from mauc.data.columns import is_frame
from mauc.exceptions import MaucError, format_labels


@dataclass(frozen=True, eq=False)
class PairWeights:
    """What a user gave as ``pair_weight=``; `resolve` makes a vector over the class pairs of it."""

    given: Any = None

    def shares(self, classes: np.ndarray, class_weights: np.ndarray) -> np.ndarray | None:
        """Return what `resolve` does, or None where all pairs weigh the same."""
        if self.given is None:
            return None
        weights = self.resolve(classes, class_weights)
        return None if (weights == weights[0]).all() else weights

    def resolve(self, classes: np.ndarray, class_weights: np.ndarray) -> np.ndarray:
        """Return the weights of the pairs in the order of ``np.triu_indices``; they sum to 1."""
        first, second = np.triu_indices(len(classes), 1)
        if self.given is None:
            return np.full(len(first), 1.0 / max(1, len(first)))
        if isinstance(self.given, str):
            check_choice("pair_weight", self.given, ("prior", "prevalence"))
            shares = class_weights / class_weights.max()
            combine = np.multiply if self.given == "prior" else np.add
            weights = combine(shares[first], shares[second])
        else:
            table = class_table(self.given, classes, "pair_weight")
            weights, reverse = table[first, second], table[second, first]
            is_valid = (weights >= 0) & np.isfinite(weights) & np.isclose(weights, reverse, 1e-9, 0)
            for pair in np.flatnonzero(~is_valid)[:1]:
                raise MaucError(
                    f"pair_weight must be finite, >= 0 and symmetric, got {weights[pair]:g} and "
                    f"{reverse[pair]:g} for {format_labels(classes[[first[pair], second[pair]]])}."
                )
        if not weights.any():
            raise MaucError("pair_weight must be positive for at least one pair, got only zeros.")
        weights = weights / weights.max()  # their sum might overflow
        return weights / weights.sum()


def pair_mean(auc: np.ndarray, weights: np.ndarray) -> Any:
    """Return the weighted mean along the last axis; a pair of weight 0 may be NaN."""
    is_counted = weights > 0
    # Equal weights become exact ones: the result is np.mean, to the bit.
    relative = weights[is_counted] / weights.max()
    return (auc[..., is_counted] * relative).sum(axis=-1) / relative.sum()


def square(shares: np.ndarray | None, n_classes: int) -> Any:
    """Return shares of class pairs as a symmetric (n_classes, n_classes) array, or None."""
    if shares is None:
        return None
    table = np.zeros((n_classes, n_classes))
    table[np.triu_indices(n_classes, 1)] = shares
    return table + table.T


def class_table(given: Any, classes: np.ndarray, name: str) -> np.ndarray:
    """Return the (n_classes, n_classes) numbers of a dict, 1 where it has none, frame or array."""
    shape = (len(classes), len(classes))
    # Names in a file are text, whatever the labels are.
    codes = {key: at for at, label in enumerate(classes.tolist()) for key in (label, str(label))}

    def find(label):
        if (code := codes.get(label, codes.get(str(label)))) is None:
            raise MaucError(f"{name} must name classes ({format_labels(classes)}), got {label!r}.")
        return code

    try:
        if isinstance(given, Mapping):
            table = np.ones(shape)
            nested = [(i, row) for i, row in given.items() if isinstance(row, Mapping)]
            given = {(i, j): w for i, row in nested for j, w in row.items()} or given
            for pair, value in given.items():
                if not isinstance(pair, tuple) or len(pair) != 2:
                    raise MaucError(
                        f"{name} must have pairs of labels as keys, {{(a, b): 5}} or "
                        f"{{a: {{b: 5}}}}, got {pair!r}."
                    )
                i, j = map(find, pair)
                table[i, j], table[j, i] = value, given.get(pair[::-1], value)
        elif is_frame(given):
            table = np.full(shape, np.nan)
            rows = map(find, getattr(given, "index", given.columns))
            table[np.ix_(list(rows), list(map(find, given.columns)))] = given.to_numpy()
        else:
            table = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise error if isinstance(error, MaucError) else MaucError(f"{name}: {error}.") from error
    if table.shape != shape:
        raise MaucError(f"{name} must have shape {shape}, got {table.shape}.")
    return table
