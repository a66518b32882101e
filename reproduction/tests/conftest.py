"""The Numba cache and the data of the paper, as in the tests of the library."""

from tests.conftest import load_paper_data  # noqa: F401
