"""One comparison for terminal and page: the test, its level, the marks and the p-values."""

import json

import pytest

from mauc import MDFS, load_run
from mauc.datasets import load_dataset
from mauc.report import mauc_table, selection_report
from mauc.report.html.values import number
from mauc.stats import Comparison
from tests.helpers.cli_helpers import run_json

WORDS = (
    "compare", "wine", "--methods", "mdfs,su,chi", "--classifiers", "nb", "--sizes", "2,4",
    "--repeats", "1", "--folds", "3", "--jobs", "1",
)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "comparison"),
    [
        ((), Comparison("mdfs", "corrected_t", 0.05)),
        (("--test", "wilcoxon", "--alpha", "0.4", "--reference", "su"),
         Comparison("su", "wilcoxon", 0.4)),
    ],
)  # fmt: skip
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
