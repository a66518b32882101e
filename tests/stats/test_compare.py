"""Comparisons from the rows of a run: pairs, gaps, order and counts."""

import numpy as np
import pandas as pd
import pytest

from mauc.exceptions import MaucError
from mauc.stats import (
    PAPER_COMPARISON,
    Comparison,
    compare_to,
    corrected_t_test,
    mean_mauc,
    wilcoxon_test,
    win_draw_loss,
)
from tests.helpers.run_rows import NAN, SETTING, run_rows


def test_a_comparison_by_hand():
    # on the splits where both are there: 0.5 - 0.4, 0.4 - 0.6, 0.9 - 0.6: ranks 1, 2, 3 with the
    # second negative; p = 0.75 as counted in test_paired.py
    run = run_rows({"mdfs": [0.4, 0.6, 0.6, 0.9, NAN], "su": [0.5, 0.4, 0.9, NAN, 0.1]})
    table = compare_to(run, "mdfs")
    assert list(table) == [
        *SETTING,
        "n",
        "mean",
        "reference_mean",
        "difference",
        "statistic",
        "p_value",
        "mark",
    ]
    row = table.iloc[0]
    assert len(table) == 1
    assert row[SETTING].tolist() == ["glass", "nb", 10, "su"]
    assert (row["n"], row["statistic"], row["p_value"], row["mark"]) == (3, 2, 0.75, "none")
    assert row["mean"] == pytest.approx(0.6)
    assert row["reference_mean"] == pytest.approx(1.6 / 3)
    assert row["difference"] == pytest.approx(0.2 / 3)


@pytest.mark.parametrize("test", ["wilcoxon", "corrected_t"])
def test_every_row_is_the_test_of_its_two_lists(rows, test):
    shuffled = rows.sample(frac=1, random_state=1)
    table = compare_to(rows, Comparison("mdfs", test))
    assert len(table) == 2 * 2 * 2 * 2
    assert {"better", "worse"} <= set(table["mark"])
    by_setting = dict(list(shuffled.groupby(SETTING)))
    for row in table.itertuples():
        key = row.dataset, row.classifier, row.size
        pair = by_setting[*key, row.selector].merge(
            by_setting[*key, "mdfs"], on=["repeat", "fold", "n_train", "n_test"]
        )
        pair = pair.dropna(subset=["mauc_x", "mauc_y"])
        if test == "wilcoxon":
            wanted = wilcoxon_test(pair["mauc_x"], pair["mauc_y"])
        else:
            sizes = pair[["n_train", "n_test"]].mean()
            wanted = corrected_t_test(pair["mauc_x"], pair["mauc_y"], **sizes)
        assert row.n == wanted.n == len(pair)
        np.testing.assert_allclose(
            [row.difference, row.statistic, row.p_value],
            [wanted.mean_difference, wanted.statistic, wanted.p_value],
            rtol=1e-9,
        )
        assert row.mark == wanted.mark


def test_groups_of_few_splits_are_the_single_tests_too(rng):
    # up to 50 pairs SciPy's choice depends on ties: mixed settings must not touch each other
    parts = [
        run_rows(
            {"mdfs": rng.random(n).round(digits), "su": rng.random(n).round(digits)},
            size=10 * n + digits,
        )
        for n in (5, 13, 14, 30)
        for digits in (1, 9)
    ]
    table = compare_to(pd.concat(parts), "mdfs")
    for part, row in zip(parts, table.itertuples(), strict=True):
        values = part.pivot(index=["repeat", "fold"], columns="selector", values="mauc")
        wanted = wilcoxon_test(values["su"], values["mdfs"])
        assert (row.n, row.statistic, row.p_value) == (wanted.n, wanted.statistic, wanted.p_value)


def test_names_keep_their_order_and_sizes_ascend(rows):
    table = compare_to(rows, "mdfs")
    assert table["dataset"].unique().tolist() == ["wine", "glass"]
    assert table["classifier"].unique().tolist() == ["nb", "1nn"]
    assert table["size"].tolist()[:4] == [10, 10, 20, 20]
    assert table["selector"].unique().tolist() == ["su", "relieff"]


@pytest.mark.parametrize("test", ["wilcoxon", "corrected_t"])
def test_a_gap_stays_a_gap(test):
    run = pd.concat(
        [
            run_rows({"mdfs": [0.5, 0.6], "su": [NAN, NAN]}, size=10),  # never succeeded
            run_rows({"su": [0.5, 0.6]}, size=20),  # no reference at this size
            run_rows({"mdfs": [0.5, NAN], "su": [NAN, 0.6]}, size=30),  # no common split
        ]
    )
    table = compare_to(run, Comparison("mdfs", test))
    assert table["size"].tolist() == [10, 20, 30]
    assert table["n"].tolist() == [0, 0, 0]
    assert table[["mean", "reference_mean", "difference", "p_value"]].isna().all(axis=None)
    assert set(table["mark"]) == {"none"}
    counts = win_draw_loss(table)
    assert counts[["win", "draw", "loss"]].to_numpy().tolist() == [[0, 0, 0]]


def test_a_row_marked_failed_does_not_count_whatever_its_value():
    run = run_rows({"mdfs": [0.5, 0.6, 0.7], "su": [0.4, 0.5, 0.6]})
    run.loc[0, "status"] = "failed"
    assert compare_to(run, "mdfs")["n"].tolist() == [2]
    assert compare_to(run.drop(columns="status"), "mdfs")["n"].tolist() == [3]


def test_alpha_moves_the_mark():
    run = run_rows({"mdfs": [0.9] * 6, "su": [0.8, 0.7, 0.6, 0.5, 0.4, 0.3]})  # p = 2/64
    assert compare_to(run, "mdfs")["mark"].tolist() == ["worse"]
    assert compare_to(run, Comparison("mdfs", alpha=0.03))["mark"].tolist() == ["none"]
    assert compare_to(run, "su")["mark"].tolist() == ["better"]


@pytest.mark.parametrize("kind", ["category", "string", "string[pyarrow]"])
def test_kinds_of_name_columns_do_not_matter(rows, kind):
    typed = rows.astype({"dataset": kind, "selector": kind, "classifier": kind})
    wanted, found = compare_to(rows, "mdfs"), compare_to(typed, "mdfs")
    assert wanted.astype(object).equals(found.astype(object))
    counted = win_draw_loss(found, by=("dataset", "classifier"))
    assert counted.astype(object).equals(
        win_draw_loss(wanted, by=("dataset", "classifier")).astype(object)
    )


def test_win_draw_loss_by_hand():
    # a selector that is worse is a win of the reference
    marks = {
        ("a", "nb"): "worse",
        ("b", "nb"): "none",
        ("c", "nb"): "worse",
        ("a", "1nn"): "better",
    }
    comparison = pd.DataFrame(
        [
            {"dataset": d, "classifier": c, "size": 10, "selector": "su", "p_value": 0.5, "mark": m}
            for (d, c), m in marks.items()
        ]
    )
    assert win_draw_loss(comparison).to_numpy().tolist() == [
        ["nb", "su", 2, 1, 0],
        ["1nn", "su", 0, 0, 1],
    ]
    assert win_draw_loss(comparison, by=()).to_numpy().tolist() == [["su", 2, 1, 1]]
    by_data = win_draw_loss(comparison, by="dataset")
    assert by_data["dataset"].tolist() == ["a", "b", "c"]
    assert by_data[["win", "draw", "loss"]].to_numpy().tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 0]]


def test_win_draw_loss_counts_every_comparison_once(rows):
    comparison = compare_to(rows, "mdfs")
    for by in [(), ("classifier",), ("dataset", "size")]:
        counts = win_draw_loss(comparison, by=by)
        assert counts[["win", "draw", "loss"]].to_numpy().sum() == len(comparison)


def test_bad_input_is_named(rows):
    with pytest.raises(
        MaucError, match=r"reference must be one of .* got 'mdf'; did you mean 'mdfs'"
    ):
        compare_to(rows, "mdf")
    with pytest.raises(MaucError, match=r"test must be one of .*did you mean 'wilcoxon'"):
        compare_to(rows, Comparison("mdfs", "wilcox"))
    with pytest.raises(MaucError, match=r"fold, mauc are missing"):
        compare_to(rows.drop(columns=["mauc", "fold"]), "mdfs")
    with pytest.raises(MaucError, match=r"n_test is missing"):
        compare_to(rows.drop(columns="n_test"), Comparison("mdfs", "corrected_t"))
    with pytest.raises(MaucError, match=r"positive n_train"):
        compare_to(rows.assign(n_train=0), Comparison("mdfs", "corrected_t"))
    with pytest.raises(MaucError, match=r"once, got 2 of dataset wine, .* repeat 0, fold 0"):
        mean_mauc(pd.concat([rows, rows.iloc[:1]]))
    with pytest.raises(MaucError, match=r"name selector in every row"):
        mean_mauc(rows.assign(selector=None))
    with pytest.raises(MaucError, match=r"finite mauc"):
        mean_mauc(rows.assign(mauc=np.inf, status="ok"))
    with pytest.raises(MaucError, match=r"by must be one of .*got 'clasifier'; did you mean"):
        win_draw_loss(compare_to(rows, "mdfs"), by="clasifier")
    with pytest.raises(MaucError, match=r"by must name a column once"):
        win_draw_loss(compare_to(rows, "mdfs"), by=("size", "size"))


def test_no_rows_give_an_empty_table(rows):
    assert len(mean_mauc(rows.iloc[:0])) == 0
    only = rows[rows["selector"] == "mdfs"]
    assert len(compare_to(only, "mdfs")) == 0
    assert len(win_draw_loss(compare_to(only, "mdfs"))) == 0


def test_the_test_may_be_given_beside_the_baseline(rows):
    given = compare_to(rows, "mdfs", test="corrected_t", alpha=0.01)
    pd.testing.assert_frame_equal(given, compare_to(rows, Comparison("mdfs", "corrected_t", 0.01)))
    with pytest.raises(MaucError, match="has its own test and level; leave out alpha"):
        compare_to(rows, Comparison("mdfs"), alpha=0.01)


def test_words_of_a_comparison():
    assert str(Comparison("su", "corrected_t")) == "corrected resampled t-test at 5 %"
    assert str(Comparison("su", "wilcoxon", 0.1)) == "Wilcoxon signed-rank test at 10 %"
    assert Comparison(alpha=0.001).level == "0.1 %"
    assert Comparison("mdfs", "wilcoxon", 0.05) == PAPER_COMPARISON


@pytest.mark.parametrize("alpha", [0, 1, 5, -0.1, float("nan"), "0.05", None, True])
def test_a_wrong_level_is_refused(alpha):
    with pytest.raises(MaucError, match=r"alpha must be a number in \(0, 1\), got"):
        Comparison(alpha=alpha)


def test_too_few_splits_are_said_where_no_values_can_be_rejected():
    for alpha, test, needed in (
        (0.05, "wilcoxon", 6),
        (0.01, "wilcoxon", 8),
        (0.05, "corrected_t", 2),
    ):
        comparison = Comparison("mdfs", test, alpha)
        assert comparison.shortage(needed) == ""
        said = comparison.shortage(needed - 1)
        assert f"to reject at {comparison.level}, whatever the values" in said
        assert f"run at least {needed}" in said
        if test == "wilcoxon":
            values = np.arange(1.0, needed + 1)
            assert wilcoxon_test(values, 0 * values).p_value < alpha
            assert wilcoxon_test(values[1:], 0 * values[1:]).p_value >= alpha
    assert "5 splits are too few" in Comparison("mdfs").shortage(5)
    assert "(p >= 0.0625)" in Comparison("mdfs").shortage(5)
