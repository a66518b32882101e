"""The comparison of a page: tables, tests and curves; the same in terminal and library."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from mauc import FSDD, MAUCD, MDFS, SpreadFx, load_run
from mauc.datasets import load_dataset
from mauc.report import mauc_table, selection_report
from mauc.report.html.comparison import find_reference, summarise_comparison
from mauc.report.html.svg import nice_ticks, place_panel, place_ranges
from mauc.report.html.values import number
from mauc.stats import Comparison, compare_to
from tests.helpers.cli_helpers import run_json
from tests.helpers.report_rows import small_run

WORDS = (
    "compare",
    "wine",
    "--methods",
    "mdfs,su,chi",
    "--classifiers",
    "nb",
    "--sizes",
    "2,4",
    "--repeats",
    "1",
    "--folds",
    "3",
    "--jobs",
    "1",
)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_comparison_has_tables_tests_and_curves(wine):
    X, y = wine
    report = selection_report(MDFS(2, random_state=0).fit(X, y), X, y, run=small_run())
    comparison = report.to_dict()["comparison"]
    assert comparison["reference"] == "MDFS"
    assert len(comparison["tables"]) == 3  # two data sets, and win/draw/loss
    marks = {(test["selector"], test["mark"]) for test in comparison["tests"]}
    assert marks == {("CHI", "worse"), ("s_100%", "none")}
    assert [(panel["dataset"], panel["classifier"]) for panel in comparison["curves"]] == [
        ("wine", "Naive Bayes"),
        ("wine", "my_tree"),
        ("a_b|c", "Naive Bayes"),
        ("a_b|c", "my_tree"),
    ]
    page = report.to_html()
    assert page.count('<figure class="panel"') == 4
    assert "0.822</span>" not in page
    assert re.search(r"0\.822<span class=\"mark\">†</span>", page)


def test_the_page_names_the_comparison_it_was_given(wine):
    X, y = wine
    selector = MDFS(2, random_state=0).fit(X, y)
    comparison = Comparison("chi", "corrected_t", 0.1)
    report = selection_report(selector, X, y, run=small_run(), comparison=comparison)
    summary = report.to_dict()["comparison"]
    assert (summary["reference"], summary["test"], summary["alpha"]) == (
        "CHI",
        "corrected resampled t-test at 10 %",
        0.1,
    )
    wanted = compare_to(small_run(), comparison)
    assert [test["p_value"] for test in summary["tests"]] == pytest.approx(wanted["p_value"])
    page = report.to_html()
    assert "Wilcoxon" not in page
    assert page.count("corrected resampled t-test at 10 %") == 5  # text, tests, three tables
    alone = small_run().query("selector == 'mdfs'")
    summary = selection_report(selector, X, y, run=alone).to_dict()["comparison"]
    assert (summary["reference"], summary["tests"]) == (None, [])


def test_others_are_compared_with_the_selector_itself():
    assert find_reference(MAUCD(), ["mdfs", "maucd"]) == "maucd"
    assert find_reference(SpreadFx(relevance="su"), ["schi", "ssu"]) == "ssu"
    assert find_reference(FSDD(), ["chi", "mdfs"]) == "mdfs"
    assert find_reference(FSDD(), ["chi", "su"]) == "chi"


def test_a_failed_value_is_a_gap_in_the_curve():
    series = {
        "selector": "s",
        "sizes": [1, 2, 3],
        "mean": [0.8, None, 0.9],
        "lower": [0.7, None, None],
        "upper": [0.9, None, None],
    }
    drawing = place_panel({"series": [series]})
    assert drawing["series"][0]["path"].count("M") == 2
    assert "L" not in drawing["series"][0]["path"]
    assert len(drawing["series"][0]["points"]) == 2
    nothing = {**series, "mean": [None] * 3, "lower": [None] * 3, "upper": [None] * 3}
    assert place_panel({"series": [nothing]})["series"][0]["path"] == ""


@given(low=st.floats(0, 1), span=st.floats(1e-4, 1))
def test_ticks_are_at_least_three_and_lie_inside(low, span):
    ticks = nice_ticks(low, low + span)
    assert 3 <= len(ticks) <= 8
    assert all(low - 1e-6 <= tick <= low + span + 1e-6 for tick in ticks)


@pytest.mark.parametrize(
    "sizes", [[1], [1, 2], [5, 10], [1, 99, 100], [1, 2, 3, 4, 5, 7, 10, 20, 50, 100, 200]]
)
@pytest.mark.parametrize(("mean", "half"), [(1.0, 0.0), (0.7, 0.1), (0.0, 0.1)])
def test_both_axes_of_a_panel_have_three_ticks_that_do_not_touch(sizes, mean, half):
    ends = {"mean": mean, "lower": mean - half, "upper": mean + half}
    series = {"selector": "s", "sizes": sizes} | {k: [v] * len(sizes) for k, v in ends.items()}
    drawing = place_panel({"series": [series]})
    across = sorted((tick["at"], len(tick["label"])) for tick in drawing["x_ticks"])
    assert len(across) >= 3
    assert all(b[0] - a[0] > 3.5 * (a[1] + b[1]) for a, b in pairwise(across))
    assert {str(sizes[0]), str(sizes[-1])} <= {tick["label"] for tick in drawing["x_ticks"]}
    chosen = place_panel({"series": [series], "chosen": sizes[-2:][0]})["x_ticks"]
    assert str(sizes[-2:][0]) in [tick["label"] for tick in chosen]
    assert len(drawing["y_ticks"]) >= 3
    assert all(0 <= tick["at"] <= drawing["bottom"] for tick in drawing["y_ticks"])


def test_greedy_is_drawn_last_and_thick():
    rows = small_run().replace({"selector": {"mdfs": "greedy"}})
    summary = summarise_comparison(rows, MDFS())
    assert summary["curves"][0]["series"][-1]["selector"] == "greedy"
    widths = {style["selector"]: style["width"] for style in summary["styles"]}
    assert widths["greedy"] > 2 * widths["chi"]


@pytest.mark.parametrize(
    ("options", "comparison"),
    [
        ((), Comparison("mdfs", "corrected_t", 0.05)),
        (
            ("--test", "wilcoxon", "--alpha", "0.4", "--reference", "su"),
            Comparison("su", "wilcoxon", 0.4),
        ),
    ],
)
def test_terminal_and_page_share_the_comparison(options, comparison, tmp_path):
    page = tmp_path / "page.json"
    words = (*WORDS, *options, "-o", tmp_path / "run", "--report", page)
    printed = run_json(*words)
    shown = json.loads(page.read_text(encoding="utf-8"))["comparison"]
    assert (printed["test"], printed["alpha"]) == (comparison.test, comparison.alpha)
    assert (shown["test"], shown["alpha"]) == (str(comparison), comparison.alpha)
    assert shown["reference"] == comparison.reference.upper()
    in_terminal = [
        (row["size"], number(row["p_value"]), row["mark"]) for row in printed["comparison"]
    ]
    in_page = [(test["size"], test["p_value"], test["mark"]) for test in shown["tests"]]
    assert in_terminal == in_page
    # and the library says the same
    data = load_dataset("wine")
    rows = load_run(tmp_path / "run")
    report = selection_report(
        MDFS(4, random_state=0).fit(data.X, data.y), data.X, data.y, run=rows, comparison=comparison
    )
    assert report.to_dict()["comparison"] == shown
    text = mauc_table(rows, "wine", comparison).to_text()
    for value in shown["tables"][0]["groups"][0]["rows"][0]["values"]:
        assert value["text"] in text
    assert str(comparison) in text
    assert str(comparison) in report.to_html()


@pytest.mark.parametrize(
    ("chosen", "every"),
    [
        ((0.98, 0.97, 0.99), (0.97, 0.95, 0.98)),
        ((1.0, 1.0, 1.0), None),
        ((0.7, None, None), None),
        ((0.5, 0.3, 0.7), (1.0, 1.0, 1.0)),
    ],
)
def test_intervals_are_drawn_inside_their_scale(chosen, every):
    keys = ("mauc", "lower", "upper")
    found = [None if one is None else dict(zip(keys, one, strict=True)) for one in (chosen, every)]
    drawing = place_ranges({"chosen": found[0], "every": found[1]})
    assert len(drawing["rows"]) == sum(one is not None for one in found)
    for row in drawing["rows"]:
        assert 0 < row["from"] <= row["at"] <= row["to"] < drawing["width"]
    assert all(0 < tick["at"] < drawing["width"] for tick in drawing["ticks"])
    assert len(drawing["ticks"]) >= 3
    assert place_ranges({"chosen": None, "every": None}) is None
