"""What a user has -> Problem: validated columns, class codes, sub-problems."""

from mauc.problem.decomposition import Decomposition
from mauc.problem.problem import Problem
from mauc.problem.validate import make_problem

__all__ = ["Decomposition", "Problem", "make_problem"]
