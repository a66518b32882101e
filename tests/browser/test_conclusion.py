"""The opening of the page, long lists, many classes, nominal features, phones: in a browser."""

import re

import numpy as np
import pandas as pd
import pytest

from mauc import MDFS, ChiSquare, GreedyMAUC
from mauc.datasets import load_dataset
from mauc.report.html import selection_report
from tests.helpers.page_helpers import PHONE, column, settle
from tests.helpers.report_rows import small_run

pytestmark = pytest.mark.browser

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@pytest.fixture(scope="session")
def letters_page(tmp_path_factory):
    """26 classes, 325 pairs: some features separate many pairs, B and E are alike."""
    rng = np.random.default_rng(0)
    y = np.repeat(list(LETTERS), 20)
    centre = rng.normal(scale=1.5, size=(26, 40))
    centre[4] = centre[1]
    X = centre[np.repeat(np.arange(26), 20)] + rng.normal(size=(520, 40))
    report = selection_report(MDFS(30, random_state=0).fit(X, y), X, y, data_name="letters")
    path = tmp_path_factory.mktemp("pages") / "letters.html"
    return report.write(path), report.to_dict()


@pytest.fixture(scope="session")
def mixed_page(tmp_path_factory):
    """Numbers and categories, and a comparison of selectors."""
    rng = np.random.default_rng(0)
    y = np.repeat(["Adelie", "Chinstrap", "Gentoo"], 30)
    islands = np.repeat(["Torgersen", "Dream", "Biscoe"], 30)
    islands[::7] = "Dream"
    X = pd.DataFrame(
        {
            "island": pd.Categorical(islands),
            "observer": pd.Categorical(rng.choice([f"observer {i:02d}" for i in range(20)], 90)),
            "bill": rng.normal(size=90) + np.arange(90) // 30,
        }
    )
    report = selection_report(
        ChiSquare("all").fit(X, y),
        X,
        y,
        run=small_run(),
        data_name="penguins",
        command="mauc select penguins.csv --target species --method chi --report page.html "
        "--separator ';' --drop a_very_long_name_of_a_column_that_does_not_fit_on_a_phone",
    )
    path = tmp_path_factory.mktemp("pages") / "mixed.html"
    return report.write(path), report.to_dict()


def test_the_page_opens_with_the_conclusion(open_page, letters_page):
    path, summary = letters_page
    page = open_page(path)
    found = summary["conclusion"]
    assert page.locator("main h2").first.inner_text() == "Conclusion"
    score = page.locator("#conclusion .score").first
    assert score.bounding_box()["y"] < 300
    assert f"{found['chosen']['mauc']:.3f}" in score.inner_text()
    # Numbers near 1 have more digits: an interval below 1 does not end at 1.000.
    ends = score.inner_text().rsplit(" interval ")[-1].split(" to ")
    wanted = [found["chosen"]["lower"], found["chosen"]["upper"]]
    assert [float(end) for end in ends] == pytest.approx(wanted, abs=5e-4)
    assert float(ends[1]) < 1
    pairs = page.locator("#conclusion ol.hard > li")
    assert pairs.count() == 3
    assert pairs.first.locator(".pair").inner_text() == found["hard"][0]["name"] == "B vs E"
    assert found["hard"][0]["advice"] in pairs.first.inner_text()
    assert page.locator("#conclusion .times rect").count() == 30
    assert page.inner_text("#conclusion .next code") == found["next"]["code"]


def test_many_pairs_open_on_an_overview_of_the_classes(open_page, letters_page):
    path, summary = letters_page
    page = open_page(path)
    assert page.get_attribute("#by-class", "aria-pressed") == "true"
    assert "26 × 26 classes" in page.inner_text("#trail")
    frame = page.locator("#map")
    assert frame.evaluate("map => map.scrollHeight <= map.clientHeight")  # all rows in sight
    page.focus("#map")
    for key in ["ArrowDown"] + ["ArrowRight"] * 4:
        page.keyboard.press(key)
    best = summary["pairs"]["best_auc"][27]  # B vs E
    words = page.inner_text("#readout").split(" · ")
    assert words[0] == "B vs E"
    assert not any(row[27] for row in summary["significant"])
    assert words[2] == f"AUC {best:.4f}, not significant"
    assert words[3] == f"Naive Bayes {max(summary['pairs']['set_auc'][27], 0.5):.4f}"
    page.keyboard.press("Enter")
    assert page.inner_text("#trail").startswith("All classes › B vs E, 1 of 325 pairs")
    aucs = []
    for _ in range(30):
        aucs.append(float(page.inner_text("#readout").rpartition("AUC ")[2].split(",")[0]))
        page.keyboard.press("ArrowDown")
    wanted = sorted((row[27] for row in summary["pair_auc"]), reverse=True)
    assert aucs == pytest.approx(wanted, abs=6e-5)
    page.keyboard.press("Escape")
    assert page.get_attribute("#by-class", "aria-pressed") == "true"


def test_a_name_of_the_overview_opens_its_class(open_page, letters_page):
    page = open_page(letters_page[0])
    page.locator("#map").scroll_into_view_if_needed()
    box = page.locator("#map").bounding_box()
    page.mouse.click(box["x"] + 6, box["y"] + 20 + 24 * 2.5)  # the third name on the left
    assert page.inner_text("#trail") == "All classes › C, 25 of 325 pairs, 30 of 30 features."
    assert page.locator("#chips button[aria-pressed=true]").inner_text() == "C"
    assert all("C" in pair for pair in column(page, 1, "#hard-table"))
    page.locator("#trail button").first.click()
    assert page.get_attribute("#by-class", "aria-pressed") == "true"
    assert "1–15 of 325" in page.inner_text("#hard-table .pager")


def test_a_hard_pair_leads_to_its_features(open_page, letters_page):
    page = open_page(letters_page[0])
    button = page.locator("#hard-table tbody button").first
    pair = button.inner_text()
    button.click()
    assert f"All classes › {pair}," in page.inner_text("#trail")
    assert page.evaluate("document.activeElement.id") == "map"
    page.locator("#map").hover(position={"x": 120, "y": 60})
    assert pair in page.inner_text("#tip")


def test_the_overview_shows_naive_bayes_on_wish(open_page, letters_page):
    page = open_page(letters_page[0])
    page.locator("#map").scroll_into_view_if_needed()

    def look():
        settle(page)
        return page.evaluate("document.querySelector('#map-canvas').toDataURL()")

    before = look()
    page.select_option("#map-value", "set")
    assert look() != before
    page.select_option("#map-value", "best")
    assert look() == before


def test_the_card_of_26_classes_shows_all_and_its_axis(open_page, letters_page):
    page = open_page(letters_page[0], {"width": 1280, "height": 700})
    card = page.locator("#values")
    assert card.locator("li").count() == 26
    assert card.evaluate("card => card.scrollHeight <= card.clientHeight + 1")
    card.scroll_into_view_if_needed()
    ticks = card.locator(".axis span")
    assert ticks.count() == 3
    last, axis = card.locator("li").last.bounding_box(), card.locator(".axis").bounding_box()
    assert 0 <= axis["y"] - last["y"] - last["height"] < 10
    assert axis["y"] + axis["height"] < card.bounding_box()["y"] + card.bounding_box()["height"]


def test_what_a_feature_serves_best_is_shown_whole(open_page, letters_page):
    path, summary = letters_page
    page = open_page(path)
    served = {}
    for pair, order in enumerate(summary["pairs"]["best_feature"]):
        served.setdefault(order, []).append(pair)
    order = max(range(1, 26), key=lambda order: len(served.get(order, [])))
    cell = page.locator("#chosen-table tbody tr").nth(order - 1).locator("td").last
    n_pairs = len(served[order])
    assert cell.inner_text().startswith(f"{n_pairs} of 325 pairs: ")
    more = cell.locator("button")
    assert more.inner_text() == f"and {n_pairs - 2} more"
    more.click()
    assert more.get_attribute("aria-expanded") == "true"
    named = cell.inner_text().replace("\u00a0", " ").partition(": ")[2]
    assert len(re.findall(r"[A-Z] vs [A-Z]", named)) == n_pairs
    box, table = cell.bounding_box(), page.locator("#chosen-table .scroll").bounding_box()
    assert box["x"] + box["width"] <= table["x"] + table["width"] + 1
    more.click()
    assert more.inner_text() == f"and {n_pairs - 2} more"


def test_a_nominal_feature_has_a_bar_per_category(open_page, mixed_page):
    path, summary = mixed_page
    page = open_page(path)
    for name in ("island", "observer"):
        place = [one["name"] for one in summary["features"]].index(name)
        page.locator("#chosen-table tbody button.link.name").nth(place).click()
        bins = summary["distributions"][place]
        bars = [line.locator("rect").count() for line in page.locator("#values li").all()]
        assert bars == [sum(count > 0 for count in label) for label in bins["counts"]]
        names = page.locator("#values .axis span")
        assert names.all_inner_texts() == bins["levels"]
        assert f"One bar per category, {len(bins['levels'])} in all." in page.inner_text("#values")
    island = [one["name"] for one in summary["features"]].index("island")
    page.locator("#chosen-table tbody button.link.name").nth(island).click()
    title = page.locator("#values li").first.locator("rect title").last.text_content()
    assert re.fullmatch(r"Torgersen: \d+ % of Adelie", title)


def test_very_many_classes_are_a_list(open_page, tmp_path):
    y = np.repeat([f"c{i:02d}" for i in range(70)], 3)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(210, 4)) + np.repeat(np.arange(70), 3)[:, np.newaxis]
    report = selection_report(MDFS("all", random_state=0).fit(X, y), X, y)
    page = open_page(report.write(tmp_path / "many.html"))
    assert page.locator("#values li").count() == 40
    assert "40 of 70 classes are shown." in page.inner_text("#values")
    page.get_by_role("button", name="Show all 70 classes").click()
    assert page.locator("#values li").count() == 70
    assert page.locator("#chips button").count() == 0
    page.select_option("#class-list", label="c05")
    assert page.inner_text("#trail") == "All classes › c05, 69 of 2,415 pairs, 4 of 4 features."


# Whatever is wider than the screen, or than a box that cuts or scrolls it, is cut.
CUT = """() => {
  const found = [];
  for (const node of document.querySelectorAll("main *, header *")) {
    const box = node.getBoundingClientRect();
    const style = getComputedStyle(node);
    const isDrawn = node.closest("svg, canvas, .unseen, .skip") || style.position === "absolute";
    if (!box.width || isDrawn) continue;
    const name = node.outerHTML.slice(0, 90);
    if (box.right > document.documentElement.clientWidth + 1) found.push("outside: " + name);
    const hides = style.overflowX !== "visible" && node.id !== "map";
    if (hides && node.scrollWidth > node.clientWidth + 1 && style.textOverflow !== "ellipsis") {
      found.push("cut: " + name);
    }
    if (style.overflowY !== "visible" && node.scrollHeight > node.clientHeight + 2
        && node.id !== "map" && style.textOverflow !== "ellipsis") {
      found.push("cut below: " + name);
    }
  }
  return found;
}"""


@pytest.fixture(scope="session")
def binary_page(tmp_path_factory):
    data = load_dataset("breast_cancer")
    selector = GreedyMAUC(8).fit(data.X, data.y)
    report = selection_report(selector, data.X, data.y, feature_names=data.feature_names)
    path = tmp_path_factory.mktemp("pages") / "binary.html"
    return report.write(path), report.to_dict()


@pytest.mark.parametrize("which", ["digits", "letters", "mixed", "binary"])
@pytest.mark.parametrize("width", [1024, 1280])
def test_nothing_is_cut_on_a_desk(
    open_page, digits_page, letters_page, mixed_page, binary_page, which, width
):
    pages = {"digits": digits_page, "letters": letters_page, "mixed": mixed_page}
    path, _ = (pages | {"binary": binary_page})[which]
    page = open_page(path, {"width": width, "height": 800})
    settle(page)
    assert page.evaluate(CUT) == []


def test_two_classes_need_no_columns_for_pairs(open_page, binary_page):
    page = open_page(binary_page[0])
    heads = page.locator("#chosen-table th").all_inner_texts()
    assert heads[:3] == ["#", "feature", "predicted AUC"]
    assert not page.locator("#by-class").is_visible()
    assert page.locator("#chips button").count() == 0
    page.focus("#map")
    assert page.inner_text("#readout").split(" · ")[1].startswith("benign vs malignant")


@pytest.mark.parametrize("which", ["digits", "hostile", "letters", "mixed"])
def test_nothing_is_cut_on_a_phone(
    open_page, digits_page, hostile_page, letters_page, mixed_page, which
):
    pages = {"digits": digits_page, "hostile": hostile_page, "letters": letters_page}
    path, _ = (pages | {"mixed": mixed_page})[which]
    page = open_page(path, PHONE, has_touch=True, is_mobile=True)
    for details in page.locator("details").all():
        details.locator("summary").click()
    page.locator("#chosen-table tbody button").nth(2).click()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate(CUT) == []
    # the map begins with an overview that fits, and ends with a whole row when it scrolls
    if which == "letters":
        assert page.locator("#map").evaluate("map => map.scrollWidth <= map.clientWidth")
    page.locator("#chips button").nth(2).click()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_table_stays_a_table_for_screen_readers_on_a_phone(open_page, digits_page):
    page = open_page(digits_page[0], PHONE)
    table = page.get_by_role("table", name="Chosen features")
    assert table.get_by_role("row").count() == 26
    assert table.get_by_role("columnheader").count() == 8
    page.get_by_role("button", name="mean AUC").first.click()
    assert page.locator("#chosen-table th[aria-sort=descending]").count() == 1
