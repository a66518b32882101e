"""Results print as small tables, short and without control characters."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from mauc import MDFS, GreedyMAUC, mauc_interval, pair_auc_scores, pair_tests, select_k
from mauc.evaluation import SizeCurve
from mauc.results import MAX_ROWS, Result, first_rows, number, plural, short_name
from mauc.selectors.error_bound import ErrorControl


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def test_names_stay_on_one_line():
    assert short_name("a\nb\x1b[31m") == "a\\nb\\x1b[31m"
    assert short_name("x" * 30 + "y" * 30).startswith("x" * 26 + "…y")


def test_counts_and_numbers_are_written_as_they_are_read():
    assert [plural(count, "class") for count in (0, 1, 2)] == ["0 classes", "1 class", "2 classes"]
    assert plural(12_000, "row") == "12,000 rows"
    assert [number(value) for value in (-1e-9, -0.00006, np.nan)] == ["0.0000", "-0.0001", "-"]
    assert [number(np.float32(-1e-9), form) for form in ("+.3f", ".3g")] == ["+0.000", "-1e-09"]
    scores = [[2, 0, 1], [1, 2, 1], [0, 1, 1]]
    report = pair_auc_scores(["a", "b", "b"], scores, labels=["a", "b", "c"])
    assert str(report).endswith("over 1 pair (2 pairs absent: no sample of 'c')")


def test_spread_rows_begin_and_end_with_the_ends():
    rows = first_rows(100, [37])
    assert (rows[0], rows[-1], len(rows)) == (0, 99, MAX_ROWS + 1)
    assert 37 in rows


def test_a_trace_prints_its_first_steps(digits):
    trace = MDFS(50, random_state=0).fit(*digits).trace_
    lines = str(trace).splitlines()
    assert lines[0].split() == ["step", "feature", "chosen", "for", "rank", "score"]
    assert len(lines) == 1 + MAX_ROWS + 1
    assert lines[-1] == "... and 30 more"
    assert repr(trace) == str(trace)
    assert trace[0].feature_name in lines[1]
    assert trace[0].subproblem_name in lines[1]
    assert trace._repr_html_().count("<tr>") == MAX_ROWS + 1
    assert max(map(len, lines)) <= 80


def test_details_of_a_trace_are_columns(digits):
    trace = GreedyMAUC(3).fit(*digits).trace_
    for name in trace.details:
        assert name.replace("_", " ") in str(trace).splitlines()[0].lower()


def test_a_curve_prints_the_choice_and_its_sizes():
    curve = SizeCurve(np.arange(1, 51), np.tile(np.linspace(0.6, 0.9, 50), (2, 1)), rule="best")
    lines = str(curve).splitlines()
    assert lines[:2] == curve.summary.splitlines()
    assert lines[1] == curve.edge_note
    assert lines[2].split() == ["features", "MAUC", "standard", "error"]
    assert lines[3].split() == ["1", "0.6000", "0.0000"]
    assert lines[-2].split() == ["50", "0.9000", "0.0000", "chosen,", "best"]
    assert lines[-1] == "... and 30 more"
    assert repr(curve) == str(curve)


def test_the_chosen_and_the_best_size_are_always_among_those_shown():
    mauc = np.full(60, 0.5)
    mauc[[13, 37]] = 0.8999, 0.9
    curve = SizeCurve(np.arange(1, 61), np.tile(mauc, (2, 1)))
    assert (curve.size, curve.best_size) == (14, 38)
    marks = {
        line.split()[0]: line.split()[3]
        for line in str(curve).splitlines()
        if len(line.split()) == 4 and line.split()[0].isdigit()
    }
    assert marks == {"14": "chosen", "38": "best"}


def test_a_report_prints_the_hardest_pairs_first_and_not_all_of_many(digits):
    y = digits[1]
    scores = np.random.default_rng(0).normal(size=(len(y), 10)) + np.eye(10)[y]
    report = pair_auc_scores(y, scores)
    lines = str(report).splitlines()
    assert len(lines) == 1 + MAX_ROWS + 2
    assert lines[-2] == "... and 25 more"
    assert lines[-1] == f"MAUC {report.mauc:.4f} over 45 pairs"
    means = [float(line.split()[-1]) for line in lines[1 : 1 + MAX_ROWS]]
    assert means == sorted(means)
    assert repr(report) == str(report)
    interval = mauc_interval(y, scores)
    assert repr(interval) == str(interval)


def test_a_curve_has_a_table_in_a_notebook():
    iris = load_iris()
    curve = select_k(MDFS(random_state=0), iris.data, iris.target)
    assert "<table " in curve._repr_html_()


def test_every_result_has_rows_a_frame_and_html():
    iris = load_iris()
    X, y = iris.data, iris.target_names[iris.target]
    scores = np.random.default_rng(0).normal(size=(len(y), 3))
    greedy = GreedyMAUC(2).fit(X, y)
    results = [
        greedy.trace_,
        ErrorControl(np.array([0.9, 0.2]), 1, 4),
        pair_auc_scores(y, scores),
        mauc_interval(y, scores),
        select_k(MDFS(), X, y, sizes=[1, 2]),
        pair_tests(X, y),
    ]
    for result in results:
        assert isinstance(result, Result)
        frame = result.to_frame()
        rows = [row._asdict() for row in result]
        assert len(rows) == len(frame)
        assert all(set(frame.columns) <= {*row, "predicted_mauc", "added"} for row in rows)
        assert result._repr_html_().startswith("<")
    assert list(mauc_interval(y, scores).to_frame()) == ["class_i", "class_j", "lower", "upper"]
    assert list(greedy.alternatives_.to_frame())[:2] == ["feature", "alternative"]


def test_an_explanation_prints_sentences_and_is_one_row(digits):
    found = MDFS(5, random_state=0).fit(*digits).explain("x0", *digits)
    assert str(found).splitlines() == found.sentences
    assert found._repr_html_().count("<p>") == len(found.sentences)
    assert found.to_frame()["feature"].tolist() == ["x0"]
