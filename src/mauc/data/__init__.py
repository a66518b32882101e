"""What a user has -> Problem: validated columns, class codes, sub-problems."""

from mauc.compilation import prepare_numba

prepare_numba()  # before any kernel of the package is imported

from mauc.data.decomposition import Decomposition  # noqa: E402
from mauc.data.problem import Problem, make_problem  # noqa: E402

__all__ = ["Decomposition", "Problem", "make_problem"]
