"""The tables of the paper: what stands in a cell, and how each format writes it."""

import csv
import io

import numpy as np
import pytest

from mauc.exceptions import MaucError
from mauc.report import mauc_table
from mauc.stats import Comparison
from tests.helpers.report_rows import LADDER, make_rows, small_run


def cell_of(table, *key):
    """Return a row of the frame, given by classifier, selector and size."""
    rows = table.to_frame().itertuples()
    return next(row for row in rows if (row.classifier, row.selector, row.size) == key)


def test_cells_by_hand():
    table = mauc_table(small_run(), "wine")
    cell = cell_of(table, "nb", "mdfs", 2)
    assert (cell.mean, cell.mark, cell.is_best, cell.n) == (pytest.approx(0.925), "", True, 6)
    # 0.825 - 0.0025; all six differences negative: p = 2/64
    cell = cell_of(table, "nb", "chi", 2)
    assert (cell.mean, cell.mark, cell.is_best) == (pytest.approx(0.8225), "worse", False)
    # prints alike with MDFS: both are bold
    cell = cell_of(table, "nb", "s_100%", 4)
    assert (f"{cell.mean:.3f}", cell.mark, cell.is_best) == ("0.935", "none", True)


def test_a_better_selector_has_the_double_dagger():
    rows = make_rows(
        {("wine", "nb", "mdfs", 5): LADDER - 0.1, ("wine", "nb", "su", 5): LADDER},
    )
    table = mauc_table(rows, "wine")
    assert "**0.925**‡" in table.to_text()
    assert r"& SU & $\textbf{0.925}^{\ddag}$\\" in table.to_latex()
    assert "‡" not in mauc_table(rows, "wine", Comparison("su")).to_text().split("\n\n")[1]
    assert cell_of(mauc_table(rows, "wine", Comparison(None)), "nb", "su", 5).mark == ""


def test_the_corrected_test_is_more_careful():
    # mean difference 0.01 with spread: Wilcoxon sees six of six, the corrected t-test does not
    worse = LADDER - np.array([1, 2, 3, 10, 20, 40]) / 1000
    rows = make_rows({("wine", "nb", "mdfs", 5): LADDER, ("wine", "nb", "su", 5): worse})
    assert cell_of(mauc_table(rows, "wine"), "nb", "su", 5).mark == "worse"
    table = mauc_table(rows, "wine", Comparison(test="corrected_t"))
    assert cell_of(table, "nb", "su", 5).mark == "none"
    assert "corrected resampled t-test at 5 %" in table.to_text()


def test_failed_and_missing_values_are_gaps():
    rows = make_rows(
        {
            ("wine", "nb", "mdfs", 2): LADDER,
            ("wine", "nb", "mdfs", 4): LADDER,
            ("wine", "nb", "su", 2): [None] * 6,
            ("wine", "nb", "chi", 4): [0.99, None, 0.99, 0.99, 0.99, 0.99],
        }
    )
    table = mauc_table(rows, "wine")
    assert np.isnan(cell_of(table, "nb", "su", 2).mean)  # failed
    assert np.isnan(cell_of(table, "nb", "su", 4).mean)  # never run
    part = cell_of(table, "nb", "chi", 4)
    assert (part.n, part.is_partial, part.is_best) == (5, True, False)
    assert cell_of(table, "nb", "mdfs", 4).is_best
    lines = table.to_latex().splitlines()
    assert r"& SU & --- & ---\\" in lines
    assert r"& CHI & --- & $0.990^{\S}$\\" in lines
    assert "Naive Bayes, SU: 6 values failed (ValueError: no answer)." in table.to_text()
    assert "| SU | — | — |" in table.to_markdown()
    read = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert [row["mean"] for row in read if row["selector"] == "su"] == ["", ""]


def test_a_classifier_that_ran_elsewhere_is_named():
    rows = make_rows(
        {
            ("wine", "nb", "mdfs", 2): LADDER,
            ("glass", "svm", "mdfs", 2): LADDER,
            ("glass", "svm", "chi", 2): LADDER,
            ("iris", "svm", "chi", 2): LADDER,
        }
    )
    assert "Not run on this data set: SVM." in mauc_table(rows, "wine").to_text()
    iris = mauc_table(rows, "iris")
    assert "MDFS was not run on this data set: no marks." in iris.to_text()
    assert "†" not in iris.to_text()


def test_names_are_escaped():
    table = mauc_table(small_run(), "a_b|c")
    latex = table.to_latex()
    assert r"on the a\_b\textbar{}c data set" in latex
    assert r"\multirow{3}{*}{my\_tree}" in latex
    assert r"& s\_100\% & " in latex
    assert r"\label{tab:mauc-a-b-c}" in latex
    assert r"at 5 \%" in latex
    assert r"| s\_100% |" in table.to_markdown()


@pytest.mark.parametrize(("n_sizes", "is_scaled"), [(6, False), (10, True)])
def test_six_sizes_are_not_scaled_and_ten_are(n_sizes, is_scaled):
    rows = make_rows({("wine", "nb", "mdfs", size): LADDER for size in range(1, n_sizes + 1)})
    assert (r"\scalebox{0.85}{%" in mauc_table(rows, "wine").to_latex()) == is_scaled


def test_repeats_and_folds_are_in_the_caption():
    rows = make_rows({("wine", "nb", "mdfs", 5): LADDER}, repeats=2)
    assert "2 × 3-fold cross-validation" in mauc_table(rows, "wine").to_text()
    assert "(5 of 6 splits)" in mauc_table(rows.iloc[:-1], "wine").to_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dataset": "wyne"}, "did you mean 'wine'"),
        ({"reference": "mdsf"}, "did you mean 'mdfs'"),
        ({"test": "t"}, "test must be one of 'wilcoxon', 'corrected_t'"),
    ],
)
def test_wrong_words_name_the_right_ones(options, message):
    dataset = options.pop("dataset", "wine")
    with pytest.raises(MaucError, match=message):
        mauc_table(small_run(), dataset, Comparison(**options))


def test_rows_without_a_column_or_a_row():
    with pytest.raises(MaucError, match="status"):
        mauc_table(small_run().drop(columns="status"), "wine")
    with pytest.raises(MaucError, match="at least one row"):
        mauc_table(small_run().iloc[:0], "wine")
    with pytest.raises(MaucError, match="DataFrame of rows or the path"):
        mauc_table(3, "wine")
    with pytest.raises(MaucError, match="format must be one of"):
        mauc_table(small_run(), "wine").to_format("xls")


def test_classifiers_of_fewer_splits_are_said_and_whole():
    rows = make_rows(
        {
            ("wine", "nb", "mdfs", 2): LADDER,
            ("wine", "nb", "chi", 2): LADDER - 0.1,
            ("wine", "svm", "mdfs", 2): LADDER[:3],
            ("wine", "svm", "chi", 2): LADDER[:3] - 0.1,
        }
    )
    table = mauc_table(rows, "wine")
    protocol = "1 × 6-fold cross-validation (SVM: 1 × 3-fold cross-validation)"
    assert protocol in table.layouts()[0].caption
    assert cell_of(table, "svm", "mdfs", 2).is_best
    assert not cell_of(table, "svm", "mdfs", 2).is_partial
    assert cell_of(table, "nb", "mdfs", 2).n == 6
