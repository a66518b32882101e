"""What a user has -> Problem: validated columns, class codes, sub-problems."""

from mauc.problem.decomposition import Decomposition
from mauc.problem.make import make_problem
from mauc.problem.problem import Problem

__all__ = ["Decomposition", "Problem", "make_problem"]
