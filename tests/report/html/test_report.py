"""The page of a selection: its dict, what it embeds, and that names stay text."""

import base64
import html
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_wine

from mauc import (
    FSDD,
    MAUCD,
    MDFS,
    MRMR,
    ChiSquare,
    ConsensusSelector,
    GreedyMAUC,
    ReliefF,
    SpreadFx,
    feature_pair_auc,
    pair_tests,
)
from mauc.exceptions import MaucError
from mauc.measure.pair_auc import chosen_pair_auc
from mauc.report.html import report as report_module
from mauc.report.html import selection_report
from mauc.report.html.render import pack
from mauc.report.html.values import N_BINS, number
from tests.helpers.report_rows import small_run

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\"'><b onfocus=alert(1) autofocus>",
    "{{ 7 * 7 }}",
    "line\u2028break\u0000",
    "lone \ud800 half",
]


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def wine_report(wine):
    X, y = wine
    return selection_report(MDFS(4, random_state=0).fit(X, y), X, y, data_name="wine")


class Elements(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.data = [], [], ""
        self.inside = None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.inside = dict(attrs).get("id") if tag == "script" else None

    def handle_data(self, data):
        if self.inside == "data":
            self.data += data


def embedded(page):
    return json.loads(Elements(page).data)


def test_case_counted_by_hand():
    # a: 0 0 | 1 1 | 2 2 separates all pairs; b: 0 1 | 0 1 | 5 5 cannot tell p from q.
    X = pd.DataFrame({"b": [0, 1, 0, 1, 5, 5], "a": [0, 0, 1, 1, 2, 2]})
    y = list("ppqqrr")
    summary = selection_report(MAUCD(1).fit(X, y), X, y).to_dict()
    assert summary["data"]["classes"] == [{"name": name, "count": 2} for name in "pqr"]
    assert [one["name"] for one in summary["features"]] == ["a"]
    assert summary["features"][0]["mean_auc"] == 1.0
    assert summary["pair_auc"] == [[1.0, 1.0, 1.0]]
    assert summary["pairs"]["second_feature"] is None
    assert summary["distributions"][0]["counts"] == [[2, 0, 0], [0, 2, 0], [0, 0, 2]]
    assert summary["distributions"][0]["levels"] == ["0", "1", "2"]
    summary = selection_report(ChiSquare("all").fit(X, y), X, y).to_dict()
    place = [one["name"] for one in summary["features"]].index("b")
    assert summary["pair_auc"][place] == [0.5, 1.0, 1.0]


def test_dict_says_what_the_selector_says(wine, wine_report):
    X, y = wine
    selector = MDFS(4, random_state=0).fit(X, y)
    summary = wine_report.to_dict()
    assert summary["title"] == "wine: 4 features chosen by MDFS"
    for one, step in zip(summary["features"], selector.trace_, strict=True):
        assert (one["column"], one["name"]) == (step.feature, step.feature_name)
        assert (one["asked_by"], one["rank"]) == (step.subproblem, step.rank)
        assert one["score"] == pytest.approx(step.score, rel=1e-6)
        assert one["mean_auc"] == pytest.approx(selector.scores_[step.feature], rel=1e-6)
    np.testing.assert_allclose(summary["pair_auc"], selector.pair_auc_, rtol=1e-6)


def test_hard_pairs_ascend_beside_the_best_of_all_features(wine, wine_report):
    X, y = wine
    every = feature_pair_auc(X, y)
    rows = wine_report.to_dict()["pairs"]["hardest"]
    together = wine_report.to_dict()["pairs"]["set_auc"]
    aucs = [together[row["pair"]] for row in rows]
    assert aucs == sorted(aucs)
    for row in rows:
        assert row["all_auc"] == pytest.approx(every[:, row["pair"]].max(), rel=1e-6)
        assert row["all_feature"] == X.columns[every[:, row["pair"]].argmax()]
        assert row["auc"] <= row["all_auc"]


def test_page_needs_no_network(wine_report):
    page = wine_report.to_html()
    parsed = Elements(page)
    assert "link" not in parsed.tags
    assert not {"src", "srcset", "action"} & {name for name, _ in parsed.attributes}
    links = [value for name, value in parsed.attributes if name == "href"]
    assert links
    assert all(link.startswith("#") for link in links)
    assert "url(" not in page
    assert "@import" not in page
    # the only address is the name of the SVG language
    assert set(re.findall(r"https?://[^\"'\s]+", page)) == {"http://www.w3.org/2000/svg"}


def test_bins_hold_every_sample_of_every_class(rng):
    X = rng.normal(size=(200, 3))
    X[:10, 0] = np.nan
    X[10, 1] = 1e12  # far away: it must not press the others into one bin
    X[11, 2], X[12, 2] = np.inf, -np.inf
    y = np.repeat([0, 1], 100)
    report = selection_report(MAUCD("all").fit(X, y), X, y)
    summary = report.to_dict()
    for feature, bins in zip(summary["features"], summary["distributions"], strict=True):
        counts = np.array(bins["counts"])
        assert counts.shape == (2, N_BINS)
        np.testing.assert_array_equal(counts.sum(axis=1) + bins["missing"], [100, 100])
        assert bins["is_cut"] == (feature["column"] != 0)
        assert np.count_nonzero(counts.sum(axis=0)) > N_BINS // 2
    shares = np.frombuffer(base64.b64decode(pack(summary)["bins"]["shares"]), np.uint8)
    for one, bins in zip(shares.reshape(3, 2, N_BINS), summary["distributions"], strict=True):
        np.testing.assert_array_equal(one > 0, np.array(bins["counts"]) > 0)
        assert one.max() == 255


def test_the_two_best_features_of_a_pair_have_points(rng):
    X = rng.normal(size=(600, 5)) + np.repeat(np.arange(3), 200)[:, np.newaxis] * [0, 2, 1, 0, 3]
    X[:, 4] = X[:, 4].round()  # levels
    X[::7, 1] = np.nan
    y = np.repeat([0, 1, 2], [250, 150, 200])
    summary = selection_report(MAUCD("all").fit(X, y), X, y).to_dict()
    best = np.array([summary["pairs"]["best_feature"], summary["pairs"]["second_feature"]]) - 1
    order = np.argsort(-np.array(summary["pair_auc"]), axis=0, kind="stable")
    np.testing.assert_array_equal(best, order[:2])
    rows = summary["drawn_rows"]
    assert [len(part) for part in rows] == [200, 150, 200]  # 200 of a class at most
    assert all((y[part] == label).all() for label, part in enumerate(rows))
    for place, one in enumerate(summary["distributions"]):
        assert ("points" in one) == (place in best)
        if place in best:
            values = X[np.concatenate(rows), summary["features"][place]["column"]]
            points = np.array(one["points"], float)
            if one["levels"] is None:
                points = one["low"] + points * (one["high"] - one["low"])
                values = np.clip(values, one["low"], one["high"])
            else:
                points = np.array(one["levels"], float)[points.astype(int)]
            np.testing.assert_allclose(points, values, atol=1e-5)


def test_points_are_bounded(rng, monkeypatch):
    monkeypatch.setattr("mauc.report.html.report.MAX_POINTS", 200)
    X, y = rng.normal(size=(300, 6)), np.repeat(np.arange(3), 100)
    summary = selection_report(MAUCD("all").fit(X, y), X, y).to_dict()
    # 200 // 3 values of a class: two features of 33 rows each, where 30 are wanted at least
    assert [len(part) for part in summary["drawn_rows"]] == [33] * 3
    assert sum("points" in one for one in summary["distributions"]) == 2


def test_missing_values_are_counted():
    X = np.arange(24.0).reshape(8, 3)
    X[:3, 1] = np.nan
    y = [0, 1] * 4
    for one, wanted in (
        (X, (3, 1, False)),
        (sparse.csc_array(X), (3, 1, True)),
        (sparse.csr_array(np.nan_to_num(X)), (0, 0, True)),
    ):
        data = selection_report(MAUCD(1).fit(one, y), one, y).to_dict()["data"]
        found = (data["n_missing"], data["n_features_with_missing"], data["is_sparse"])
        assert found == wanted


def test_nominal_features_have_categories_and_the_aucs_of_fit():
    X = pd.DataFrame(
        {
            "colour": pd.Categorical(["red", "blue", "red", None] * 5),
            "many": pd.Categorical([f"c{i:02d}" for i in range(20)]),
            "size": np.arange(20.0),
        }
    )
    y = [0, 1] * 10
    selector = ChiSquare("all").fit(X, y)
    report = selection_report(selector, X, y)
    summary = report.to_dict()
    place = {one["name"]: one["step"] - 1 for one in summary["features"]}
    bins = summary["distributions"][place["colour"]]
    assert bins["levels"] == ["blue", "red", "missing"]
    assert bins["counts"] == [[0, 10, 0], [5, 0, 5]]
    assert bins["missing"] == [0, 0]
    assert bins["is_nominal"]
    assert "is_nominal" not in summary["distributions"][place["size"]]
    assert summary["pair_auc"] == [[number(auc)] for auc in selector.pair_auc_[:, 0]]
    packed = embedded(report.to_html())
    codes = np.frombuffer(base64.b64decode(packed["map"]), "<u2")
    auc = np.where(codes == 65535, np.nan, 0.5 + codes / 131068)
    np.testing.assert_allclose(auc, selector.pair_auc_[:, 0], rtol=0, atol=5e-6)
    assert packed["bins"]["is_nominal"][place["colour"]] == 1
    assert packed["bins"]["top"][place["colour"]] == 1.0  # all of class 0 are red


def test_words_of_frames_and_arrays_have_a_page():
    words, numbers, y = ["red", "blue"] * 10, np.arange(20.0), [0, 0, 1, 1] * 5
    frame = pd.DataFrame({"x0": words, "x1": numbers})
    array = np.column_stack([np.array(words, dtype=object), numbers])
    for X, flags in ((frame, None), (array, [0])):
        selector = ChiSquare("all", categorical_features=flags).fit(X, y)
        summary = selection_report(selector, X, y).to_dict()
        place = [one["name"] for one in summary["features"]].index("x0")
        assert summary["distributions"][place]["levels"] == ["blue", "red"]
        assert summary["conclusion"]["chosen"]["mauc"] is not None


@pytest.mark.filterwarnings("ignore:column .* looks like a group")
def test_rare_categories_share_the_last_bin():
    X = pd.DataFrame({"c": pd.Categorical([f"c{i:02d}" for i in range(30)] * 2 + ["c29"] * 4)})
    y = [0, 1] * 32
    bins = selection_report(ChiSquare(1).fit(X, y), X, y).to_dict()["distributions"][0]
    assert len(bins["levels"]) == N_BINS
    assert bins["levels"][-2:] == ["c29", "7 others"]
    assert np.sum(bins["counts"]) == 64
    assert np.sum(bins["counts"], axis=0)[-2:].tolist() == [6, 14]


@pytest.mark.parametrize(
    "selector",
    [
        MDFS(3, random_state=0),
        MDFS(3, schedule="hardest"),
        MAUCD(3),
        SpreadFx(3),
        FSDD(3),
        MRMR(3),
        ChiSquare(3),
        ReliefF(3),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_every_selector_has_a_page(selector, wine):
    X, y = wine
    report = selection_report(selector.fit(X, y), X, y)
    packed = embedded(report.to_html())
    assert len(packed["features"]["name"]) == 3
    assert (packed["subproblems"] is None) == (selector.decomposition_.name == "one-vs-one")


@pytest.mark.parametrize("kind", ["array", "polars", "lists"])
def test_every_kind_of_data_has_a_page(kind, wine):
    X, y = wine
    if kind == "polars":
        pl = pytest.importorskip("polars")
        X = pl.DataFrame({name: X[name].to_numpy() for name in X.columns})
    elif kind == "array":
        X = X.to_numpy()
    else:
        X, y = X.to_numpy().tolist(), y.tolist()
    summary = selection_report(MDFS(2, random_state=0).fit(X, y), X, y).to_dict()
    wanted = ["proline", "flavanoids"] if kind == "polars" else ["x12", "x6"]
    assert [one["name"] for one in summary["features"]] == wanted


def test_hostile_names_stay_text(rng):
    X = rng.normal(size=(60, len(HOSTILE)))

    def page_of(names, words, rows):
        y = np.repeat(names[:3], 20)
        return selection_report(
            MDFS("all", random_state=0).fit(X, y),
            X,
            y,
            title=words[0],
            data_name=words[1],
            command=words[2],
            feature_names=names,
            run=rows,
        ).to_html()

    rows = small_run()
    labels = {"dataset": "wine", "selector": "s_100%", "classifier": "my_tree"}
    for (column, label), name in zip(labels.items(), HOSTILE[:3], strict=True):
        rows[column] = rows[column].replace(label, name)
    page = page_of(HOSTILE, HOSTILE, rows)
    # no name adds an element or a handler
    long = [f"a name like others, {end}" for end in "abcdef"]
    plain = page_of(long, list("abc"), small_run())
    tags, wanted = (
        # names decide the order of the classes, so the folds and the ticks of the interval
        [tag for tag in Elements(one).tags if tag not in ("line", "text")]
        for one in (page, plain)
    )
    assert tags == wanted
    assert not [name for name, _ in Elements(page).attributes if name.startswith("on")]
    assert sorted(embedded(page)["features"]["name"]) == sorted(HOSTILE)
    page.encode("utf-8")  # a lone surrogate could not be written
    assert "\u2028" not in page
    assert page.count("</script") == plain.count("</script") == 2
    assert html.escape(HOSTILE[0]) in page


def test_frame_of_a_notebook_is_closed_off(wine_report):
    frame = wine_report._repr_html_()
    parsed = Elements(frame)
    assert parsed.tags == ["iframe"]
    attributes = dict(parsed.attributes)
    assert attributes["srcdoc"] == wine_report.to_html()
    assert "allow-same-origin" not in attributes["sandbox"]


def test_limits_keep_the_first_features_and_say_so(wine, monkeypatch):
    X, y = wine
    monkeypatch.setattr(report_module, "MAX_CELLS", 10)  # 3 features x 3 pairs
    monkeypatch.setattr(report_module, "MAX_COUNTS", 2 * N_BINS * 3)
    monkeypatch.setattr(report_module, "MAX_PAIRS", 2)
    report = selection_report(MDFS(5, random_state=0).fit(X, y), X, y)
    summary = report.to_dict()
    assert len(summary["features"]) == 5
    assert len(summary["pair_auc"]) == 3
    assert len(summary["distributions"]) == 2
    assert len(summary["pairs"]["hardest"]) == 2
    assert "The map holds the 3 features chosen first" in report.to_html()
    assert "The table holds the 2 hardest of 3 pairs." in report.to_html()


def test_what_is_not_significant_among_all_features_is_marked(wine):
    X, y = wine
    selector = MDFS(5, random_state=0).fit(X, y)
    report = selection_report(selector, X, y)
    adjusted = (
        pair_tests(X, y)
        .to_frame()
        .pivot_table(index="column", columns=["class_i", "class_j"], values="p_adjusted")
    )
    wanted = adjusted.to_numpy()[selector.ranking_] <= 0.05
    summary = report.to_dict()
    assert summary["significant"] == wanted.tolist()
    assert not wanted.all()
    bits = np.frombuffer(base64.b64decode(pack(summary)["weak"]), np.uint8)
    assert_array_equal(np.unpackbits(bits)[: wanted.size], ~wanted.ravel())
    assert "over all 13 features and all pairs" in report.to_html().replace("\n", " ")
    grouped = selection_report(selector, X, y, groups=np.arange(len(y)) // 2)
    assert grouped.to_dict()["significant"] is None  # rows are not independent
    assert "not significant" not in grouped.to_html().split("<script")[0]


def test_weights_are_those_of_fit(wine, rng):
    X, y = wine
    weight = rng.uniform(0.5, 2, len(y))
    selector = MDFS(4, random_state=0).fit(X, y, sample_weight=weight)
    with pytest.raises(MaucError, match="what the selector was fitted on"):
        selection_report(selector, X, y)
    report = selection_report(selector, X, y, sample_weight=weight)
    assert report.to_dict()["data"]["is_weighted"]


def test_other_data_are_refused(wine):
    X, y = wine
    selector = MDFS(4, random_state=0).fit(X, y)
    with pytest.raises(MaucError, match="X must have 13 features"):
        selection_report(selector, X.iloc[:, :5], y)
    with pytest.raises(MaucError, match="the 3 classes of fit, got 2"):
        selection_report(selector, X, y == 0)
    with pytest.raises(MaucError, match="what the selector was fitted on"):
        selection_report(selector, X.iloc[::-1].to_numpy(), y)
    with pytest.raises(MaucError, match="feature_names must hold 13 names"):
        selection_report(selector, X, y, feature_names=["a"])
    with pytest.raises(MaucError, match="fitted selector of mauc"):
        selection_report("mdfs", X, y)


def test_page_says_whether_it_can_be_reproduced(wine):
    X, y = wine
    sure = selection_report(MDFS(2, random_state=0).fit(X, y), X, y, command="mauc select wine")
    assert "mauc select wine" in sure.to_html()
    assert "random_state=0" in sure.to_dict()["reproduce"]["code"]
    assert "another run may choose" not in sure.to_html()
    drawn = selection_report(MDFS(2).fit(X, y), X, y)
    assert "another run may choose" in drawn.to_html()
    turn = selection_report(MDFS(2, schedule="round_robin").fit(X, y), X, y)
    assert "another run may choose" not in turn.to_html()


def test_notes_on_the_columns_stand_with_the_data(wine):
    X, y = wine
    note = "13 numbers; left out: 'id', 178 values in 178 rows <b>"
    report = selection_report(MDFS(2, random_state=0).fit(X, y), X, y, notes=(note,))
    assert report.to_dict()["data"]["notes"] == [note]
    page = report.to_html()
    data = page[page.index('id="data-section"') : page.index('id="chosen"')]
    assert note in html.unescape(data)
    assert note not in data


@pytest.mark.filterwarnings("ignore:column .* looks like a group")
def test_long_lists_say_how_many_they_show():
    y = np.repeat(np.arange(70), 2)
    X = np.column_stack((y, -y + 0.5 * (np.arange(140) % 2)))
    page = selection_report(MAUCD(1).fit(X, y), X, y).to_html()
    assert "60 of 70 classes are shown; show the other 10" in page
    assert page.count('<span class="name label"') == 70


def test_nothing_is_overwritten_without_force(wine_report, tmp_path):
    assert repr(wine_report) == "Report('wine: 4 features chosen by MDFS')"
    path = wine_report.write(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == wine_report.to_html()
    with pytest.raises(MaucError, match="exists already"):
        wine_report.write(path)
    wine_report.write(path, force=True)
    wine_report.write(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == wine_report.to_dict()


def test_pairs_measure_only_features_that_were_not_chosen(rng, monkeypatch):
    X = np.round(rng.normal(size=(60, 300)), 1)  # rounded: equal AUCs in and outside the choice
    y = np.repeat([0, 1, 2], 20)
    selectors = [MDFS(10, random_state=0), FSDD(10), MDFS("all", random_state=0)]
    selectors = [selector.fit(X, y) for selector in selectors]
    every = feature_pair_auc(X, y)
    measured = []

    def count(problem, chosen):
        measured.extend(chosen.tolist())
        return chosen_pair_auc(problem, chosen)

    # Explanations measure all features by themselves, in mauc.selectors.explain.
    monkeypatch.setattr("mauc.report.html.summarise.chosen_pair_auc", count)
    for selector in selectors:
        measured.clear()
        rows = selection_report(selector, X, y).to_dict()["pairs"]["hardest"]
        assert sorted(measured) == np.flatnonzero(~selector.support_).tolist()
        for row in rows:
            assert row["all_auc"] == pytest.approx(every[:, row["pair"]].max(), rel=1e-6)
            assert row["all_feature"] == f"x{every[:, row['pair']].argmax()}"


def test_features_that_could_be_replaced_are_named_and_stay_text(rng):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 3)) + 2 * y[:, np.newaxis]
    X = np.column_stack([X, X[:, 0] + 0.01 * rng.normal(size=60)])
    report = selection_report(
        GreedyMAUC(3).fit(X, y), X, y, feature_names=["<b>one", "two", "three", "copy"]
    )
    (line,) = report.to_dict()["alternatives"]
    assert re.match(r"(<b>one|copy) could be replaced by (<b>one|copy) at ", line)
    assert "1 chosen feature could be replaced or dropped</summary>" in report.to_html()
    assert f"<li>{html.escape(line)}</li>" in report.to_html()
    without = selection_report(MDFS(3, random_state=0).fit(X, y), X, y)
    assert without.to_dict()["alternatives"] == []
    assert "could be replaced" not in without.to_html()


def test_stability_over_halves_is_told(rng):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 8)) + np.where(np.arange(8) < 2, 2, 0) * y[:, np.newaxis]
    consensus = ConsensusSelector("maucd", 2, n_resamples=4, random_state=0).fit(X, y)
    report = selection_report(consensus, X, y)
    told = report.to_dict()["halves"]
    assert told.startswith("stability over 4 halves of the samples: ")
    assert f"<p>S{told[1:]}.</p>" in report.to_html()
    assert report.to_dict()["selection"]["measure"] == "frequency"
    assert selection_report(MAUCD(2).fit(X, y), X, y).to_dict()["halves"] == ""


def test_the_page_explains_every_feature_as_the_selector_does():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = MDFS(4, random_state=0).fit(X, y)
    found = selection_report(selector, X, y).to_dict()["explanations"]
    assert sorted(one["column"] for one in found) == list(range(X.shape[1]))
    for one in found:
        assert one["sentences"] == selector.explain(one["name"], X, y).sentences
