"""What a user has -> Problem: validated columns, class codes, sub-problems."""

from mauc.compilation import announce_compilation, pause_collector
from mauc.problem.decomposition import Decomposition
from mauc.problem.problem import Problem
from mauc.problem.validate import make_problem

__all__ = ["Decomposition", "Problem", "make_problem"]

# Every kernel that is compiled works on a problem or on what these functions checked.
announce_compilation()
pause_collector()
