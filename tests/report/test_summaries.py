"""Tables over all data sets: runtime, win/draw/loss, ranks, stability, summary."""

import numpy as np
import pytest

from mauc.report import (
    mauc_table,
    ranks_table,
    runtime_table,
    stability_table,
    summary_table,
    win_draw_loss_table,
)
from mauc.stats import Comparison
from tests.helpers.report_rows import LADDER, make_rows, small_run


def test_seconds_are_means_over_splits():
    # 0.5 + 0, 1, ..., 5, the same for both sizes and classifiers
    frame = runtime_table(small_run()).to_frame()
    assert frame["seconds"].tolist() == [3.0] * 6
    assert frame["n"].tolist() == [6] * 6


def test_a_failed_classifier_does_not_undo_the_time_of_its_selector():
    rows = make_rows({("wine", "nb", "mdfs", 5): LADDER, ("wine", "svm", "mdfs", 5): [None] * 6})
    assert runtime_table(rows).to_frame()["n"].tolist() == [6]
    rows["select_seconds"] = np.nan
    assert "—" in runtime_table(rows).to_text()
    rows["select_seconds"] = 1e-5
    assert r"\textless{}0.001" in runtime_table(rows).to_latex()


def test_win_draw_loss_by_hand():
    table = win_draw_loss_table(small_run())
    frame = table.to_frame().set_index(["classifier", "selector"])
    # two data sets and two sizes a classifier
    assert frame.loc[("nb", "chi")].tolist() == [4, 0, 0]
    assert frame.loc[("nb", "s_100%")].tolist() == [0, 4, 0]
    assert frame.loc[("all", "chi")].tolist() == [8, 0, 0]
    assert r"| CHI | 4/0/0 | 4/0/0 | 8/0/0 |" in table.to_markdown()
    other = win_draw_loss_table(small_run(), Comparison("chi")).to_frame()
    assert other.loc[other["classifier"] == "all", "loss"].tolist() == [8, 8]


def test_ranks_by_hand():
    rows = small_run()
    rows.loc[rows["selector"] == "s_100%", "mauc"] += 0.001  # first everywhere
    table = ranks_table(rows)
    ranks = table.to_frame().pivot(index="selector", columns="problems", values="rank")
    assert ranks.loc["s_100%"].tolist() == [1.0] * 4
    assert ranks.loc["mdfs"].tolist() == [2.0] * 4
    assert ranks.loc["chi"].tolist() == [3.0] * 4
    n_problems = table.to_frame().drop_duplicates("problems")["n_problems"].tolist()
    assert n_problems == [4, 4, 8, 2]
    # chi-square of 2 problems in full agreement: N (k - 1) = 4
    assert "chi-square 4.00" in table.to_text()


def test_ranks_leave_out_problems_with_a_gap():
    rows = small_run()
    gap = (rows["selector"] == "chi") & (rows["size"] == 2) & (rows["dataset"] == "wine")
    rows.loc[gap, ["status", "mauc"]] = ["failed", np.nan]
    assert "2 of 8 problems left out" in ranks_table(rows).to_text()
    rows.loc[rows["selector"] == "chi", ["status", "mauc"]] = ["failed", np.nan]
    assert ranks_table(rows).to_frame()["rank"].isna().all()
    assert summary_table(rows).to_frame()["rank"].isna().all()


def test_stability_of_equal_selections_is_one():
    table = stability_table(small_run())
    assert table.to_frame()["stability"].tolist() == [1.0] * 12
    assert "wine      MDFS      1.000  1.000" in table.to_text()


def test_summary_has_a_line_per_selector():
    frame = summary_table(small_run()).to_frame().set_index("selector")
    assert frame.loc["chi", ["win", "draw", "loss"]].tolist() == [8, 0, 0]
    assert frame.loc["mdfs", "mauc"] == pytest.approx(0.93)
    assert frame.loc["mdfs", "seconds"] == 3.0
    assert frame.loc["chi", "rank"] == 3.0
    assert "8/0/0" in summary_table(small_run()).to_text()


@pytest.mark.parametrize(
    "make",
    [summary_table, win_draw_loss_table, lambda run, *given: mauc_table(run, "wine", *given)],
)
def test_tables_say_when_no_difference_can_be_marked(make):
    rows = small_run()  # six splits
    five = rows[(rows["repeat"] < rows["repeat"].max()) | (rows["fold"] < rows["fold"].max())]
    said = "5 splits are too few for the Wilcoxon signed-rank test to reject at 5 %"
    assert "too few" not in make(rows).to_text()
    assert said in " ".join(make(five).to_text().split())
    assert "too few" not in make(five, Comparison(test="corrected_t")).to_text()
