"""The sub-problems that a multi-class problem is split into."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from mauc.engine.arrays import n_pairs_of, pair_index

DECOMPOSITIONS = ("one-vs-one", "one-vs-rest", "whole")


@dataclass(frozen=True)
class Decomposition:
    """The sub-problems: "one-vs-one", "one-vs-rest" or "whole", a single one.

    Pairs are in the order (0, 1), (0, 2), ..., (c-2, c-1), single classes in that of their labels.
    """

    name: str
    n_classes: int

    @cached_property
    def n_subproblems(self) -> int:
        """Number of sub-problems."""
        if self.name == "one-vs-one":
            return n_pairs_of(self.n_classes)
        return self.n_classes if self.name == "one-vs-rest" else 1

    @property
    def members(self) -> np.ndarray:
        """Class codes (first, second) of each sub-problem; -1 stands for all other classes."""
        if self.name == "one-vs-one":
            return np.column_stack(np.triu_indices(self.n_classes, 1))
        if self.name == "one-vs-rest":
            return np.column_stack((np.arange(self.n_classes), np.full(self.n_classes, -1)))
        return np.array([[-1, -1]])

    @property
    def roles(self) -> np.ndarray:
        """Local class of every class in every sub-problem (int32), -1 where it is excluded."""
        if self.name == "whole":
            return np.arange(self.n_classes, dtype=np.int32)[np.newaxis]
        outside = -1 if self.name == "one-vs-one" else 1
        roles = np.full((self.n_subproblems, self.n_classes), outside, dtype=np.int32)
        for subproblem, (first, second) in enumerate(self.members):
            roles[subproblem, first] = 0
            if second >= 0:
                roles[subproblem, second] = 1
        return roles

    def names(self, classes: np.ndarray) -> list[str]:
        """Return a readable name of each sub-problem."""
        if self.name == "whole":
            return ["all classes"]
        return [
            f"{classes[first]} vs {classes[second]}" if second >= 0 else f"{classes[first]} vs rest"
            for first, second in self.members
        ]

    def shares(self, class_weights: np.ndarray) -> np.ndarray:
        """Return the share of the samples in the classes of each sub-problem; they sum to 1."""
        if self.name == "whole":
            return np.ones(1)
        counts = np.append(np.asarray(class_weights, dtype=float), 0.0)
        sizes = counts[self.members].sum(axis=1)
        return sizes / sizes.sum()

    def rounds(self) -> np.ndarray:
        """Return the order in which a round-robin visits the sub-problems.

        Pairs are in the order of a tournament (circle method): in every round each class occurs
        once, or all but one if their number is odd.
        """
        if self.name != "one-vs-one":
            return np.arange(self.n_subproblems)
        # Class 0 stays, the others rotate by one place per round; -1 marks a bye.
        table = list(range(self.n_classes)) + [-1] * (self.n_classes % 2)
        order = []
        for _ in range(len(table) - 1):
            half = len(table) // 2
            for a, b in zip(table[:half], reversed(table[half:]), strict=True):
                if a >= 0 and b >= 0:
                    order.append(pair_index(min(a, b), max(a, b), self.n_classes))
            table.insert(1, table.pop())
        return np.array(order, dtype=np.int64)


#: Return the same `Decomposition` again for the same arguments.
decompose: Callable[..., Decomposition] = cache(Decomposition)
