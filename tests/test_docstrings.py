"""Docstrings of exported names are written out, and say the same of what they share."""

import inspect
import re
import subprocess
import sys

import pytest
from numpydoc.docscrape import NumpyDocString
from sklearn.utils._testing import assert_docstring_consistency

import mauc
from mauc.registry import SELECTORS
from mauc.selectors import make_selector

SELECTOR_CLASSES = sorted({type(make_selector(name)) for name in SELECTORS}, key=str)
ESTIMATORS = [getattr(mauc, name) for name in mauc.__all__ if hasattr(getattr(mauc, name), "fit")]
#: worded alike wherever a selector has them; a selector may go on after these words
SHARED_PARAMETERS = (
    "fdr_alpha",
    "missing",
    "pair_weight",
    "exclude",
    "feature_groups",
    "feature_costs",
    "budget",
    "n_jobs",
    "verbose",
)
SHARED_ATTRIBUTES = (
    "support_",
    "decomposition_",
    "subproblem_names_",
    "classes_",
    "n_features_in_",
    "feature_names_in_",
    "error_bound_",
    "sketch_",
)


def documented(estimator, names):
    found = re.findall(r"^(\w+(?:, \w+)*) : ", inspect.getdoc(estimator), re.MULTILINE)
    return set(names) & {name for line in found for name in line.split(", ")}


@pytest.mark.parametrize(
    ("kind", "name"),
    [("params", name) for name in SHARED_PARAMETERS]
    + [("attrs", name) for name in SHARED_ATTRIBUTES],
)
def test_shared_items_are_worded_alike(kind, name):
    having = [one for one in SELECTOR_CLASSES if documented(one, [name])]
    assert len(having) > 1
    section = "Parameters" if kind == "params" else "Attributes"
    texts = [
        " ".join(" ".join(entry.desc).split())
        for one in having
        for entry in NumpyDocString(inspect.getdoc(one))[section]
        if name in entry.name.split(", ")
    ]
    # A class may go on after the shared words, which are those of the shortest description.
    pattern = re.escape(min(texts, key=len)).replace(r"\ ", r"\s+") + ".*"
    include = {"include_params": False, "include_attrs": False} | {f"include_{kind}": [name]}
    assert_docstring_consistency(having, descr_regex_pattern=pattern, **include)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_parameter_is_described(estimator):
    names = set(inspect.signature(estimator).parameters)
    assert documented(estimator, names) == names
    assert not re.search(r"^\s*\{\w+(, \w+)*\}$", inspect.getdoc(estimator), re.MULTILINE)


def test_imports_without_docstrings():
    code = "import mauc; assert mauc.MDFS.__doc__ is None"
    subprocess.run([sys.executable, "-OO", "-c", code], check=True)
