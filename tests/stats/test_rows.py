"""Rows of a run: their labels, and the names that tables and figures show."""

import pandas as pd
import pytest

from mauc.exceptions import MaucError
from mauc.registry import CLASSIFIERS, SELECTORS
from mauc.stats.rows import labels_of, rows_of, shown_name


def test_labels_of_methods_are_those_of_the_registry():
    for kind, entries in (("selector", SELECTORS), ("classifier", CLASSIFIERS)):
        for name, entry in entries.items():
            assert shown_name(kind, name) == shown_name(kind, name.upper()) == entry.label
    assert shown_name("selector", "ReliefF") == "ReliefF"
    assert shown_name("dataset", "mnist") == "MNIST"
    for kind in ("selector", "classifier", "dataset"):
        assert shown_name(kind, "My own") == "My own"


def test_labels_keep_the_order_of_the_rows():
    rows = pd.DataFrame({"selector": ["su", "chi", "su", "mdfs"]})
    assert labels_of(rows, "selector") == ["su", "chi", "mdfs"]
    assert labels_of(rows, "selector", ["mdfs", "su"]) == ["mdfs", "su"]
    assert labels_of(rows, "selector", "chi") == ["chi"]
    with pytest.raises(MaucError, match="did you mean 'mdfs'"):
        labels_of(rows, "selector", "mdsf")


def test_rows_of_a_polars_frame_are_the_same():
    pl = pytest.importorskip("polars")
    rows = pd.DataFrame({"selector": ["su", "chi"], "mauc": [0.5, 0.75]})
    pd.testing.assert_frame_equal(rows_of(pl.DataFrame(rows.to_dict("list"))), rows)
