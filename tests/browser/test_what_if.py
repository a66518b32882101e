"""The search in a page against golden rankings of GreedyMAUC, its code run, and its controls."""

import json
import os
import shlex

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from mauc import GreedyMAUC
from mauc.report.html import selection_report
from tests.helpers.cli_helpers import run, run_json
from tests.helpers.page_helpers import PHONE
from tests.helpers.what_if import BUNDLED, GOLDEN, SHARED, SIZE, load, make_page

pytestmark = pytest.mark.browser


def ranking(page):
    """Return the names in the order of the table."""
    return page.evaluate("""() => [...document.querySelectorAll("#what-if-features tr")]
        .filter((row) => /^\\d+$/.test(row.cells[0].textContent))
        .map((row) => row.cells[3].querySelector("input").ariaLabel.replace("leave out ", ""))""")


def predicted(page):
    return float(page.inner_text("#what-if-mauc"))


def wish(page, names, size=None, keep=(), exclude=(), prices=(), budget=None, pairs=()):
    """Set wishes as a reader does; features and classes by number."""

    def control(label, at):
        page.fill("#what-if-find", names[at])
        return page.get_by_label(f"{label} {names[at]}", exact=True)

    page.click("#what-if-reset")
    for at in keep:
        control("keep", at).check()
    for at in exclude:
        control("leave out", at).check()
    for at, price in prices:
        control("price of", at).fill(str(price))
    page.fill("#what-if-find", "")
    if budget is not None:
        page.fill("#what-if-budget", str(budget))
    classes = page.evaluate("JSON.parse(data.textContent).classes")
    for a, b, weight in pairs:
        if page.locator("#what-if-first").count() > 0:
            page.select_option("#what-if-first", str(a))
            page.select_option("#what-if-second", str(b))
        label = f"what {classes[a]} vs {classes[b]} counts"
        page.get_by_label(label, exact=True).fill(str(weight))
    if size is not None:
        page.fill("#what-if-size", str(size))


@pytest.mark.filterwarnings("ignore::mauc.exceptions.RepeatedRowsWarning")
@pytest.mark.parametrize(
    "name", [*BUNDLED, *(pytest.param(name, marks=pytest.mark.data) for name in SHARED)]
)
def test_rankings_are_those_of_python(open_page, tmp_path, name):
    if name in SHARED and not os.environ.get("MAUC_DATA"):
        pytest.skip("MAUC_DATA must name the folder of the data sets")
    X, y = load(name)
    report, model = make_page(X, y, min(SIZE, X.shape[1]))
    report.write(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    numbers = dict(zip(model["names"], model["columns"], strict=True))
    names = dict(zip(model["columns"], model["names"], strict=True))
    assert [numbers[one] for one in ranking(page)] == GreedyMAUC(min(SIZE, X.shape[1])).fit(
        X, y
    ).ranking_.tolist()
    shown = report.to_dict()["features"][-1]["predicted_mauc"]
    assert predicted(page) == pytest.approx(shown, abs=6e-5)
    kind = "bundled" if name in BUNDLED else "shared"
    for key, row in json.loads((GOLDEN / f"{kind}.json").read_text())[name].items():
        wish(page, names, **row["wishes"])
        has_note = page.is_visible("#what-if-note")
        assert [numbers[one] for one in ranking(page)] == row["ranking"], key
        assert has_note or "of_all" not in row, key
        assert predicted(page) == pytest.approx(row["mauc"], abs=6e-5), key
    page.click("#what-if-reset")
    assert page.is_hidden("#what-if-note")


def test_weights_ties_and_categories(open_page, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    X = pd.DataFrame(rng.normal(size=(240, 6)) + 0.6 * np.eye(3, 6)[y], columns=list("abcdef"))
    X["b"] *= 1 + 3 * (y == 2)  # told by its spread
    X["c"] = X["c"].round()
    X["d"] = pd.Categorical(np.array(list("uvwx"))[(y + rng.integers(0, 3, 240)) % 4])
    X["e"] = X["d"].cat.rename_categories(dict(zip("uvwx", "UVWX", strict=True)))
    weights = rng.integers(1, 4, 240) / 2

    def fit(size, **wishes):
        return GreedyMAUC(size, **wishes).fit(X, y, sample_weight=weights)

    report = selection_report(fit(4), X, y, sample_weight=weights)
    report.write(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    costs = dict.fromkeys(X.columns, 1) | {"a": 3, "d": 2}
    names, prices = list(X.columns), [[0, 3], [3, 2]]
    for wishes, selector in (
        ({}, fit(4)),
        ({"size": 5, "keep": [4], "exclude": [0]}, fit(5, keep=["e"], exclude=["a"])),
        ({"size": 4, "prices": prices, "budget": 4}, fit(4, feature_costs=costs, budget=4)),
        ({"size": 3, "pairs": [[1, 2, 30]]}, fit(3, pair_weight={(1, 2): 30})),
    ):
        wish(page, names, **wishes)
        assert ranking(page) == [names[at] for at in selector.ranking_]
        assert predicted(page) == pytest.approx(selector.predicted_mauc_[-1], abs=6e-5)


AWKWARD = [
    "plain",
    "a,b",
    'say "x"',
    " padded ",
    "NA",
    "01",
    "it's",
    "b",
    "a",
    "é=;$(x) `y`",
    "*",
    "-z",
]
SCENARIOS = (
    {"size": 3, "keep": [1, 2], "exclude": [3, 4]},
    {"size": 4, "keep": [8, 7], "exclude": [1, 9]},  # their names joined are another name
    {"size": 5, "keep": [9], "exclude": [10], "prices": [[4, 2.5], [5, 0], [1, 3]], "budget": 3.5},
    {"size": 4, "keep": [11], "exclude": [0], "pairs": [[0, 1, 12], [1, 2, 0]]},
    {"size": 4, "keep": [6], "exclude": [], "prices": [[2, 7]], "pairs": [[0, 2, 0.5]]},
)


@pytest.fixture
def awkward():
    """A table whose names and classes have commas, quotes and blanks."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.iloc[:, [6, 9, 12, 0, 11, 1, 3, 2, 10, 4, 8, 7]].set_axis(AWKWARD, axis=1)
    return X, np.array(["one, two", "NA", '"q" x'])[y]


def test_commands_of_the_page_repeat_its_choice(open_page, tmp_path, monkeypatch, awkward):
    X, y = awkward
    monkeypatch.chdir(tmp_path)
    X.assign(kind=y).to_csv("table.csv", index=False)
    reading = ("table.csv", "--target", "kind", "--categorical", "kind")
    run("select", *reading, "-k", 4, "--report", "page.html")
    page = open_page(tmp_path / "page.html")
    names = page.evaluate("JSON.parse(data.textContent).what_if.all_names")
    for wishes in SCENARIOS:
        wish(page, names, **wishes)
        for at in range(page.locator("#what-if-files button").count()):
            with page.expect_download() as download:
                page.locator("#what-if-files button").nth(at).click()
            download.value.save_as(download.value.suggested_filename)
        program, *words = shlex.split(page.inner_text("#what-if-code"))
        assert program == "mauc"
        got = [row["feature"] for row in run_json(*words)["features"]]
        assert got == ranking(page), words


@pytest.mark.parametrize("is_named", [True, False])
def test_code_of_the_page_repeats_its_choice(open_page, tmp_path, awkward, is_named):
    X, y = awkward
    table = X if is_named else X.to_numpy()
    report, model = make_page(table, y, 4)
    report.write(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    for wishes in SCENARIOS:
        wish(page, model["names"], **wishes)
        found = {"X": table, "y": y}
        exec(page.inner_text("#what-if-code"), found)
        got = [model["names"][at] for at in found["selector"].ranking_]
        assert got == ranking(page), wishes


def test_page_of_a_selection_with_wishes(open_page, tmp_path, awkward):
    X, y = awkward
    costs = dict(zip(X.columns, np.arange(12) % 4 + 1.0, strict=True))
    wishes = {"keep": ["it's"], "exclude": ["a,b", "NA"], "feature_costs": costs}
    selector = GreedyMAUC(4, **wishes, budget=9, pair_weight={("NA", "one, two"): 3}).fit(X, y)
    selection_report(selector, X, y).write(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    assert ranking(page) == [X.columns[at] for at in selector.ranking_]
    assert predicted(page) == pytest.approx(selector.predicted_mauc_[-1], abs=6e-5)
    page.get_by_label("leave out a,b", exact=True).click()  # its price is that of the fit
    again = GreedyMAUC(**selector.get_params() | {"exclude": ["NA"]}).fit(X, y)
    assert ranking(page) == [X.columns[at] for at in again.ranking_]
    found = {"X": X, "y": y}
    exec(page.inner_text("#what-if-code"), found)
    assert found["selector"].ranking_.tolist() == again.ranking_.tolist()


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("MAUC_DATA"), reason="needs the data sets of MAUC_DATA")
def test_a_change_takes_less_than_100_ms(open_page, tmp_path):
    """325 class pairs; processor time, because machines that run tests are busy."""
    make_page(*load("isolet"), 50)[0].write(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable", {"timeDomain": "threadTicks"})

    def script_seconds():
        metrics = client.send("Performance.getMetrics")["metrics"]
        return {one["name"]: one["value"] for one in metrics}["ScriptDuration"]

    row = "#what-if-features tr:nth-child({}) td:nth-child({}) input"
    for control in (  # another change in each turn: predictions are kept
        lambda turn: page.locator(row.format(20 + turn, 3)).check(),
        lambda turn: page.locator(row.format(1 + turn, 4)).check(),
        lambda turn: page.fill("#what-if-size", str(100 - turn)),
        lambda turn: page.fill("#what-if-budget", str(45 - turn)),
        lambda turn: page.fill("#what-if-pairs tr:nth-child(1) input", str(9 + 9 * turn)),
    ):
        seconds = []
        for turn in range(5):
            page.click("#what-if-reset")
            before = script_seconds()
            control(turn)
            seconds.append(script_seconds() - before)
        assert 0 < np.median(seconds) < 0.1, seconds


def test_keyboard_and_phone(open_page, tmp_path, awkward):
    X, y = awkward
    make_page(X, y, 4)[0].write(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html", PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    wide = page.evaluate("""() => [...document.querySelectorAll("#what-if *")]
        .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length""")
    assert wide == 0
    unnamed = page.evaluate("""() => [...document.querySelectorAll("#what-if :is(input, select)")]
        .filter((one) => !one.ariaLabel && one.labels.length === 0).length""")
    assert unnamed == 0
    page.focus("#what-if-size")
    page.keyboard.press("ArrowRight")
    assert len(ranking(page)) == 5
    for _ in range(3):  # budget, find, reset
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "what-if-reset"
    page.keyboard.press("Tab")
    first = ranking(page)[0]
    assert page.evaluate("document.activeElement.ariaLabel") == f"keep {first}"
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert first not in ranking(page)
    assert page.evaluate("document.activeElement.ariaLabel") == f"leave out {first}"  # it stays
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_a_budget_that_pays_for_nothing_is_told(open_page, tmp_path, awkward):
    make_page(*awkward, 4)[0].write(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    wish(page, AWKWARD, budget=0.5)
    assert page.is_hidden("#what-if-code")
    assert "any feature, the cheapest of which costs 1" in page.inner_text("#what-if-note")
    wish(page, AWKWARD, keep=[0, 1], budget=1.5)
    assert "features that are kept, which cost 2" in page.inner_text("#what-if-note")
    wish(page, AWKWARD, keep=[0, 1], budget=2)
    assert page.is_hidden("#what-if-note")


@pytest.fixture
def wine_page(open_page, tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    make_page(X, y, 5)[0].write(tmp_path / "page.html")
    return open_page(tmp_path / "page.html")


def result(page):
    """Return what the section shows but fields: ranking, numbers, code and files."""
    shown = page.inner_text("#what-if-mauc"), page.inner_text("#what-if-change")
    files = page.locator("#what-if-files button").all_inner_texts()
    return ranking(page), shown, page.inner_text("#what-if-code"), files


def wanted_by(field):
    """Return what a field that is marked as invalid wants."""
    assert field.get_attribute("aria-invalid") == "true"
    want = field.page.locator(f"#{field.get_attribute('aria-describedby')}")
    assert want.is_visible()
    return want.inner_text()


@pytest.mark.parametrize("text", ["-2", "", "-", "1e999"])
def test_a_price_that_is_none_is_marked_and_the_one_before_counts(wine_page, text):
    page = wine_page
    price = page.get_by_label("price of flavanoids", exact=True)
    price.fill("3")
    before = result(page)
    assert '"flavanoids": 3}' in before[2]
    price.focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)
    assert wanted_by(price) == "Must be a number, 0 or more; still 3."
    assert result(page) == before
    page.fill("#what-if-size", "4")  # another change leaves the mark, and the text as it is
    assert wanted_by(price).endswith("; still 3.")
    assert price.input_value() == (text if text == "-2" else "")
    assert '"flavanoids": 3}' in page.inner_text("#what-if-code")
    price.fill("2")
    assert price.get_attribute("aria-invalid") is None
    assert '"flavanoids": 2}' in page.inner_text("#what-if-code")
    price.fill("-1")
    page.click("#what-if-reset")
    assert page.locator("#what-if [aria-invalid]").count() == 0
    assert price.input_value() == "1"


def test_a_budget_that_is_none_is_marked_and_the_one_before_counts(wine_page):
    page, budget = wine_page, wine_page.locator("#what-if-budget")
    plain = result(page)
    budget.fill("-1")
    assert wanted_by(budget) == "Must be a number, 0 or more, or empty; still none."
    assert result(page) == plain
    budget.fill("3")
    before = result(page)
    assert "budget=3" in before[2]
    budget.fill("-1")
    assert wanted_by(budget).endswith("; still 3.")
    assert result(page) == before
    budget.fill("")
    assert budget.get_attribute("aria-invalid") is None
    assert result(page) == plain


def test_one_pair_must_count(wine_page):
    page = wine_page
    fields = [page.get_by_label(f"what {a} vs {b} counts") for a, b in ("01", "02", "12")]
    fields[2].fill("10")
    fields[0].fill("0")
    fields[1].fill("0")
    before = result(page)
    fields[2].fill("0")
    assert wanted_by(fields[2]) == "One pair must count more than 0; still 10."
    assert result(page) == before
    fields[1].fill("-3")
    assert wanted_by(fields[1]) == "Must be a number, 0 or more; still 0."
    fields[0].fill("5")  # now the 0 is possible
    assert fields[2].get_attribute("aria-invalid") is None
    assert '("0", "2"): 0, ("1", "2"): 0}' in page.inner_text("#what-if-code")


def test_the_selection_of_the_page_does_not_differ_from_itself(wine_page):
    page = wine_page
    own = ranking(page)
    rest = page.locator("#what-if-features tr").count() - len(own)
    for at in range(rest):  # nothing else can be chosen
        page.locator(f"#what-if-features tr:nth-child({len(own) + at + 1}) input").nth(1).check()
    for pair, weight in (("0 vs 1", "0"), ("0 vs 2", "0"), ("1 vs 2", "7"), ("0 vs 1", "40")):
        page.get_by_label(f"what {pair} counts").fill(weight)
        assert sorted(ranking(page)) == sorted(own)
        assert page.inner_text("#what-if-change") == ""
    before = page.inner_text("#what-if-mauc")
    page.get_by_label(f"keep {own[3]}", exact=True).check()
    page.get_by_label(f"price of {own[0]}", exact=True).fill("9")
    assert (page.inner_text("#what-if-mauc"), page.inner_text("#what-if-change")) == (before, "")


def test_weights_are_tried_from_the_choice_without_them(wine_page):
    page = wine_page
    own = ranking(page)
    for pair in ("0 vs 1", "0 vs 2"):
        page.get_by_label(f"what {pair} counts").fill("0")
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = GreedyMAUC(5, pair_weight={(0, 1): 0, (0, 2): 0}).fit(X, y)
    assert ranking(page) == [X.columns[at] for at in selector.ranking_]
    assert predicted(page) == pytest.approx(selector.predicted_mauc_[-1], abs=6e-5)
    assert sorted(ranking(page)) == sorted(own)
    assert page.inner_text("#what-if-change") == ""


def test_pages_of_fits_with_weights_start_without_them_too(open_page, tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = GreedyMAUC(5, pair_weight={(0, 1): 0, (0, 2): 0}).fit(X, y)
    report = selection_report(selector, X, y, classifier=GaussianNB(), cv=2)
    report.write(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    names = page.evaluate("JSON.parse(data.textContent).what_if.names")
    for size in (5, 4, 7):
        wish(page, names, size=size)
        again = GreedyMAUC(**selector.get_params() | {"n_features_to_select": size}).fit(X, y)
        assert ranking(page) == [X.columns[at] for at in again.ranking_]


def test_a_page_says_that_all_is_left_out(wine_page):
    page = wine_page
    before = result(page)
    boxes = "#what-if-features tr td:nth-child(4) input:not(:checked)"
    while page.locator(boxes).count() > 0:
        page.locator(boxes).first.check()
    assert page.inner_text("#what-if-note").startswith("All features are left out, so there is no")
    assert page.inner_text("#what-if-mauc") == "–"
    assert page.inner_text("#what-if-change") == ""
    assert page.is_hidden("#what-if-code")
    assert page.inner_text("#what-if-status") == page.inner_text("#what-if-note")
    page.locator("#what-if-features tr td:nth-child(4) input").nth(2).uncheck()
    assert page.is_hidden("#what-if-note")
    assert page.is_visible("#what-if-code")
    assert len(ranking(page)) == 1
    page.click("#what-if-reset")
    assert result(page) == before
