"""Weights of rows and of class pairs: from what users give to arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight

from mauc.checks import check_choice
from mauc.data.columns import is_frame
from mauc.exceptions import MaucError, format_labels, mauc_errors

_MAX_COUNT = 2.0**53  # of rows; doubles beyond are all whole numbers
_MIN_RATIO = 1e-290  # of two weights, for their products to be positive
_MAX_EXPONENT = 400  # of two, in a total of weights whose products are ordinary numbers


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


def pair_mean(auc: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted mean along the last axis; a pair of weight 0 may be NaN."""
    is_counted = weights > 0
    # Equal weights become exact ones: the result is np.mean, to the bit.
    relative = weights[is_counted] / weights.max()
    return (auc[..., is_counted] * relative).sum(axis=-1) / relative.sum()


def pair_table(shares: np.ndarray | None, n_classes: int) -> Any:
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

    def find(label: object) -> int:
        """Return the code of a label that is given as it is, or as text."""
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


def check_weights(sample_weight: ArrayLike | None, X: Any) -> np.ndarray:
    """Return the weights of the rows of X, float64, all 1 for None; none may be negative."""
    with mauc_errors():
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def as_counts(weights: np.ndarray) -> np.ndarray | None:
    """Return weights as numbers of rows: whole ones as they are, others by their ratios alone.

    The latter sum to the effective number of rows, (sum w)^2 / sum w^2 (Kish): those of equal rows
    are 1. None if all weights are 1.
    """
    if weights.sum() >= _MAX_COUNT or (weights != np.rint(weights)).any():
        given = np.sort(weights[weights > 0])  # sums do not depend on the order of the rows
        with np.errstate(over="ignore"):
            is_done = np.isclose(given.sum(), (given * given).sum(), rtol=1e-12, atol=0)
        relative = given / given[-1]
        if not is_done and relative[0] > _MIN_RATIO:  # else some would become 0
            weights = weights / given[-1] * (relative.sum() / (relative * relative).sum())
    return None if (weights == 1.0).all() else weights


def check_class_weights(classes: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray) -> None:
    """Raise unless every class has a positive and finite total weight."""
    totals = np.bincount(codes, sample_weight)
    if not np.isfinite(totals.sum()):
        raise MaucError(
            f"sample_weight must have a finite total, got weights up to {sample_weight.max():.3g}; "
            f"divide them by their largest."
        )
    if (totals <= 0).any():
        raise MaucError(
            f"sample_weight must give every class a positive total, "
            f"got 0 for class {format_labels(classes[totals <= 0][:1])}."
        )


def scale_by_class(
    weights: np.ndarray, codes: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return ``weights / 2**exponents[codes]`` and the exponents, 0 for a class without weight.

    AUCs of class pairs do not change thereby, not even in their last bit, but the product of two
    weights of 1e200 would be infinite and that of two of 1e-200 zero.
    """
    largest = np.zeros(n_classes)
    np.maximum.at(largest, codes, weights)
    exponents = np.frexp(largest)[1]
    return np.ldexp(weights, -exponents[codes]), exponents


def scale_weights(
    sample_weight: np.ndarray, codes: np.ndarray, class_weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scale the weights by class, only where their products leave the doubles; exponents third."""
    n_classes = len(class_weights)
    largest = np.abs(np.frexp(class_weights)[1]).max(initial=0)
    if largest <= _MAX_EXPONENT:
        return sample_weight, class_weights, np.zeros(n_classes, np.int64)
    scaled, exponents = scale_by_class(sample_weight, codes, n_classes)
    totals = np.bincount(codes, scaled, minlength=n_classes)
    return scaled, totals, exponents.astype(np.int64)


def effective_rows(
    weights: np.ndarray, codes: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights that sum to the effective number of rows of each class, and their units."""
    largest = np.zeros(n_classes)
    np.maximum.at(largest, codes, weights)
    scaled = weights / largest[codes]
    totals = np.bincount(codes, scaled, minlength=n_classes)
    factors = totals / np.bincount(codes, scaled * scaled, minlength=n_classes)
    return scaled * factors[codes], largest / factors
