"""What a user has -> Problem: validated columns, class codes, sub-problems."""

from mauc.data.decomposition import Decomposition
from mauc.data.problem import Problem, make_problem

__all__ = ["Decomposition", "Problem", "make_problem"]
