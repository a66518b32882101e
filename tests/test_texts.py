"""Shared descriptions stand in the docstrings of all public estimators, once each."""

import inspect
import re
import subprocess
import sys

import pytest

import mauc
from mauc.texts import TEXTS, insert_texts

ESTIMATORS = [getattr(mauc, name) for name in mauc.__all__ if hasattr(getattr(mauc, name), "fit")]


def test_names_in_braces_are_expanded_in_place():
    @insert_texts
    class Documented:
        r"""A set :math:`\frac{n}{2}` of {n_jobs}.

        Parameters
        ----------
        {support_, n_features_in_}
            Since 0.24.
        """

    assert Documented.__doc__.splitlines()[4:] == [
        "        support_ : ndarray of shape (n_features,), bool",
        "            Mask of the selected columns.",
        "        n_features_in_ : int",
        "            Number of features seen in fit.",
        "            Since 0.24.",
        "        ",
    ]
    assert Documented.__doc__.startswith(r"A set :math:`\frac{n}{2}` of {n_jobs}.")


def test_an_unknown_name_is_an_error():
    with pytest.raises(KeyError, match="n_job"):

        @insert_texts
        class Documented:
            """{n_job}"""


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_parameter_is_described(estimator):
    documented = re.findall(r"^(\w+(?:, \w+)*) : ", inspect.getdoc(estimator), re.MULTILINE)
    names = [name for line in documented for name in line.split(", ")]
    assert set(inspect.signature(estimator).parameters) <= set(names)
    assert not re.search(r"^\{\w", inspect.getdoc(estimator), re.MULTILINE)
    shared = [name for name in names if name in TEXTS]
    assert len(shared) == len(set(shared))


def test_imports_without_docstrings():
    code = "import mauc; assert 'Parameters' not in mauc.MDFS.__doc__"
    subprocess.run([sys.executable, "-OO", "-c", code], check=True)
