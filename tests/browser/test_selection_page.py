"""The page of a selection in a real browser: what a reader can do, and what a page never does."""

import csv
import io
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mauc import MDFS
from mauc.report.html import selection_report
from mauc.stats import Comparison
from tests.helpers.page_helpers import HOSTILE, WIDE, column, settle
from tests.helpers.report_rows import small_run
from tests.helpers.run_tools import PATIENCE

pytestmark = pytest.mark.browser


def colour_at(page, x, y):
    """Return red, green and blue of the map at a place of its frame."""
    settle(page)
    return page.evaluate(
        """([x, y]) => {
          const pen = document.querySelector("#map-canvas").getContext("2d");
          const ratio = window.devicePixelRatio;
          return [...pen.getImageData(x * ratio, y * ratio, 1, 1).data].slice(0, 3);
        }""",
        [x, y],
    )


def test_table_shows_the_selection(open_page, digits_page):
    path, summary = digits_page
    page = open_page(path)
    assert page.title() == "digits: 30 features chosen by MDFS"
    first = summary["features"][:25]
    assert column(page, 2) == [one["name"] for one in first]
    assert column(page, 4) == [str(one["rank"]) for one in first]
    assert column(page, 6) == [f"{one['mean_auc']:.4f}" for one in first]
    page.get_by_role("button", name="Next").first.click()
    assert column(page, 1) == [str(order) for order in range(26, 31)]


def test_sort_by_a_head(open_page, digits_page):
    path, summary = digits_page
    page = open_page(path)
    wanted = sorted((one["mean_auc"] for one in summary["features"]), reverse=True)
    head = page.locator("#chosen-table th", has_text="mean AUC")
    assert head.get_attribute("aria-sort") == "none"
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, 6) == [f"{auc:.4f}" for auc in wanted[:25]]
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, 6) == [f"{auc:.4f}" for auc in wanted[::-1][:25]]


def test_filter_leaves_what_matches(open_page, digits_page):
    path, summary = digits_page
    page = open_page(path)
    page.fill("#filter", "PIXEL_3")
    wanted = [one["name"] for one in summary["features"] if "pixel_3" in one["name"]]
    assert column(page, 2) == wanted
    assert page.inner_text("#filter-count") == f"{len(wanted)} of 30 features"
    page.fill("#filter", "8 vs 9")
    assert set(column(page, 3)) == {"8 vs 9"}
    page.fill("#filter", "no such name")
    assert page.inner_text("#chosen-table tbody") == "Nothing matches."
    page.fill("#filter", "")
    assert len(column(page, 2)) == 25


def test_map_tells_feature_pair_and_auc(open_page, digits_page):
    path, summary = digits_page
    page = open_page(path)
    page.locator("#map").scroll_into_view_if_needed()
    settle(page)
    box = page.locator("#map").bounding_box()
    # 45 pairs leave room for names above the cells; the first cell is found by its name
    page.mouse.move(box["x"] + box["width"] - 12, box["y"] + 60)
    name, pair, value = page.locator("#tip > *").all_inner_texts()
    assert (name, pair.split(",")[0]) == (summary["features"][0]["name"], "8 vs 9")
    assert value == f"AUC {summary['pair_auc'][0][-1]:.4f}"
    assert page.inner_text("#readout") == " · ".join([name, pair, value])
    page.mouse.move(5, 5)
    assert not page.locator("#tip").is_visible()


def test_colours_of_the_map_follow_the_aucs(open_page, tmp_path):
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])  # AUC 1 and AUC 1/2
    y = ["u", "u", "v", "v"]
    path = tmp_path / "page.html"
    selection_report(MDFS("all", random_state=0).fit(X, y), X, y).write(path)
    page = open_page(path)
    # one pair: bars from 1/2 to 1
    top = page.evaluate("document.querySelector('#map-room').offsetHeight") - 2 * 20
    left = page.evaluate("document.querySelector('#map-room').offsetWidth") - 420
    assert colour_at(page, left + 1, top + 6) == [254, 232, 56]
    assert colour_at(page, left + 320, top + 6) == [254, 232, 56]
    assert colour_at(page, left + 1, top + 26) == [0, 34, 78]
    assert colour_at(page, left + 10, top + 26) == [0, 0, 0]  # nothing drawn


def test_a_class_shows_only_its_pairs(open_page, digits_page):
    page = open_page(digits_page[0])
    chip = page.locator("#chips button", has_text="3")
    chip.click()
    assert chip.get_attribute("aria-pressed") == "true"
    page.focus("#map")
    shown = []
    for key in ["ArrowRight"] * 9:
        shown.append(page.inner_text("#readout").split(" · ")[1].split(",")[0])
        page.keyboard.press(key)
    assert shown == [f"{min(3, i)} vs {max(3, i)}" for i in range(10) if i != 3]
    hard = column(page, 1, "#hard-table")
    assert len(hard) == 9
    assert all("3" in pair for pair in hard)
    chip.click()
    assert chip.get_attribute("aria-pressed") == "false"
    assert "of 45" in page.inner_text("#hard-table .pager")


def test_the_map_answers_to_keys(open_page, digits_page):
    path, summary = digits_page
    page = open_page(path)
    page.focus("#map")

    def at():
        return page.inner_text("#readout").split(" · ")

    names = [one["name"] for one in summary["features"]]
    assert at()[:2] == [names[0], "0 vs 1"]
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert at() == [names[2], "0 vs 2", f"AUC {summary['pair_auc'][2][1]:.4f}"]
    page.keyboard.press("End")
    assert at()[1].startswith("8 vs 9")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    assert at()[0] == names[1]
    assert at()[1].startswith("0 vs 1")
    page.keyboard.press("Enter")
    assert page.inner_text("#values h3") == names[1]
    assert "AUC on 0 vs 1" in page.inner_text("#values")


def test_cells_that_are_not_significant_say_so(open_page, digits_page):
    path, summary = digits_page
    page = open_page(path)
    page.focus("#map")
    said = []
    for _ in range(45):
        said.append(page.inner_text("#readout").endswith(", not significant"))
        page.keyboard.press("ArrowRight")
    assert said == [not cell for cell in summary["significant"][0]]
    assert True in said
    assert page.inner_text(".scale.weak") == "not significant"


def test_hardest_pairs_come_first_on_wish(open_page, digits_page):
    path, summary = digits_page
    page = open_page(path)
    page.select_option("#pair-order", "hard")
    page.focus("#map")
    hardest = column(page, 1, "#hard-table")[0]
    assert page.inner_text("#readout").split(" · ")[1].split(",")[0] == hardest
    aucs = [float(text) for text in column(page, 4, "#hard-table")]  # of the chosen together
    assert aucs == sorted(aucs)
    assert aucs[0] == pytest.approx(min(summary["pairs"]["set_auc"]), abs=1e-4)


def test_a_row_shows_the_values_of_its_feature(open_page, digits_page):
    path, summary = digits_page
    page = open_page(path)
    assert page.inner_text("#values h3") == summary["features"][0]["name"]
    buttons = page.locator("#chosen-table tbody button")
    buttons.nth(0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.inner_text("#values h3") == summary["features"][1]["name"]
    row = page.locator("#chosen-table tbody tr").nth(1)
    assert row.get_attribute("aria-current") == "true"
    bars = [line.locator("rect").count() for line in page.locator("#values li").all()]
    counts = summary["distributions"][1]["counts"]
    assert bars == [sum(count > 0 for count in label) for label in counts]
    page.locator("#chosen-table tbody tr").nth(4).locator("td").nth(3).click()
    assert page.inner_text("#values h3") == summary["features"][4]["name"]


def test_a_pair_shows_the_samples_on_its_two_best_features(open_page, digits_page):
    path, summary = digits_page
    page = open_page(path)
    scatter, hardest = page.locator("#scatter"), summary["conclusion"]["hard"][0]
    assert not scatter.is_visible()
    page.locator("#conclusion [data-pair] button").first.press("Enter")
    assert scatter.locator("figcaption").inner_text().startswith(f"{hardest['name']}: its two")
    # all samples: there are fewer than 200 of a class
    marks = [scatter.locator(f"> svg {shape}").count() for shape in ("circle", "rect")]
    classes = {one["name"]: one["count"] for one in summary["data"]["classes"]}
    assert marks == [classes[name] for name in hardest["name"].split(" vs ")]
    for key, where in (("best_feature", "Across: "), ("second_feature", "up: ")):
        order = summary["pairs"][key][hardest["pair"]]
        value = summary["pair_auc"][order - 1][hardest["pair"]]
        words = f"{where}{summary['features'][order - 1]['name']} (AUC {value:.4f})"
        assert words in scatter.inner_text()
    assert scatter.locator("> svg .tick").count() == 3 + 3 + 2  # of both axes, and their names
    page.keyboard.press("Escape")  # the map has the keys
    assert not scatter.is_visible()


def test_long_names_keep_the_end_that_tells_them_apart(open_page, tmp_path):
    X, y = load_digits(return_X_y=True)
    labels = np.array([f"a class of handwritten digits, the number {n}" for n in range(10)])[y]
    path = tmp_path / "page.html"
    selection_report(MDFS(3, random_state=0).fit(X, labels), X, labels).write(path)
    page = open_page(path)
    for label in ("#data-section .label", "#values .label", "#chips .chip:not(:first-child)"):
        for at, one in enumerate(page.locator(label).all()):
            assert one.text_content() == f"a class of handwritten digits, the number {at}"
            assert one.evaluate("e => e.firstChild.scrollWidth > e.firstChild.clientWidth")  # cut
            ends = "e => [e.lastChild, e].map((part) => part.getBoundingClientRect().right)"
            tail, whole = one.evaluate(ends)
            assert tail <= whole + 1


def test_everything_is_reached_by_tab_and_shows_focus(open_page, digits_page):
    page = open_page(digits_page[0])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    seen = set()
    while True:
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break  # all the way round
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
        style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert style != "none", page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
    wanted = {"filter", "csv", "map", "pair-order", "by-class", "mean AUC", "All classes", "0"}
    assert wanted <= seen


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_day_and_night(open_page, digits_page, scheme):
    page = open_page(digits_page[0], color_scheme=scheme)

    def brightness():
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour.strip("rgb()").split(",")) / 3

    for now in (scheme, "dark" if scheme == "light" else "light"):
        assert (brightness() > 128) == (now == "light")
        page.emulate_media(media="print")
        assert brightness() > 250  # paper is white
        page.emulate_media(media="screen")
        page.click("#theme")


def read_csv(page):
    with page.expect_download() as download:
        page.click("#csv")
    assert download.value.suggested_filename == "chosen-features.csv"
    content = download.value.path().read_bytes().decode("utf-8")
    return list(csv.DictReader(io.StringIO(content, newline="")))


def test_csv_holds_the_table_as_shown(open_page, digits_page):
    path, summary = digits_page
    page = open_page(path)
    rows = read_csv(page)
    assert len(rows) == 30
    for row, one in zip(rows, summary["features"], strict=True):
        assert (int(row["step"]), int(row["column"])) == (one["step"], one["column"])
        assert row["feature"] == one["name"]
        assert row["chosen_for"] == summary["selection"]["subproblems"][one["asked_by"]]
        assert float(row["score"]) == one["score"]
        assert float(row["mean_auc"]) == one["mean_auc"]
    assert sum(int(row["n_served"]) for row in rows) == 45
    page.fill("#filter", "pixel_3")
    page.locator("#chosen-table th", has_text="mean AUC").locator("button").click()
    rows = read_csv(page)
    aucs = [float(row["mean_auc"]) for row in rows]
    assert 0 < len(rows) < 30
    assert aucs == sorted(aucs, reverse=True)


def test_hostile_names_do_nothing(open_page, hostile_page):
    path, summary = hostile_page
    page = open_page(path)
    names = [one["name"] for one in summary["features"]]
    shown = page.eval_on_selector_all(
        "#chosen-table tbody td:nth-child(2)", "cells => cells.map((cell) => cell.textContent)"
    )
    assert shown == names
    assert page.title() == HOSTILE[1]
    assert page.locator("img").count() == 0
    assert page.locator("[onfocus], [onerror]").count() == 0
    for chip in page.locator("#chips button").all():
        chip.click()
    page.focus("#map")
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    for row in range(6):
        page.locator("#chosen-table tbody button").nth(row).click()
    box = page.locator("#map").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + box["height"] - 30)
    settle(page)
    found = {row["feature"] for row in read_csv(page)}
    assert found == {f"'{name}" if name[0] in "=-" else name for name in names}


def test_the_policy_stops_inline_handlers(browser, digits_page):
    page = browser.new_page()
    page.goto(digits_page[0].as_uri())
    page.evaluate(
        """() => {
          document.body.insertAdjacentHTML("beforeend", '<i id="bad" onclick="window.x = 1">x</i>');
          document.getElementById("bad").click();
        }"""
    )
    assert page.evaluate("window.x") is None
    page.close()


def test_a_notebook_frame_works(browser, digits_page):
    from mauc.report.html.render import render_frame

    page = browser.new_page(viewport=WIDE)
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.set_content(render_frame(digits_page[0].read_text(encoding="utf-8"), "digits"))
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached", timeout=1000 * PATIENCE)
    frame.get_by_role("link", name="Hard pairs").click()
    assert frame.locator("#hard").evaluate("section => section === document.activeElement")
    with page.expect_download():
        frame.locator("#csv").click()
    page.close()
    assert problems == []


def test_a_large_page_is_small_and_fast(open_page, tmp_path):
    n_features, n_classes = 5000, 26
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), 12)
    X = rng.normal(size=(n_classes, n_features))[y] + rng.normal(size=(len(y), n_features))
    report = selection_report(MDFS("all", random_state=0).fit(X, y), X, y)
    path = report.write(tmp_path / "large.html")
    assert path.stat().st_size <= 15_000_000
    page = open_page(path)
    # The time of the processor that the page takes, which no other process adds to.
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.reload()
    page.wait_for_selector("html[data-ready]", timeout=1000 * PATIENCE)
    page.fill("#filter", "x49")
    assert page.inner_text("#filter-count") == "111 of 5,000 features"
    settle(page)
    found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    assert 0.0 < found["TaskDuration"] < 3.0, found
    page.fill("#filter", "")
    page.click("#by-feature")
    page.focus("#map")
    for key in ("PageDown", "PageDown", "End"):
        page.keyboard.press(key)
    assert "24 vs 25" in page.inner_text("#readout")
    page.check("#compact")
    page.locator("#chips button").nth(3).click()
    settle(page)


def test_comparison_names_its_test_and_its_columns_stay_apart(open_page, tmp_path):
    X, y = load_digits(return_X_y=True, as_frame=True)
    report = selection_report(
        MDFS(5, random_state=0).fit(X, y),
        X,
        y,
        run=small_run(),
        comparison=Comparison("chi", "corrected_t", 0.1),
    )
    page = open_page(report.write(tmp_path / "compared.html"))
    section = page.locator("#comparison")
    assert "compared with CHI by the corrected resampled t-test at 10 %" in section.inner_text()
    section.locator("summary").click()
    words = "node => { const range = document.createRange(); range.selectNodeContents(node);"
    ends = f"{words} const box = range.getBoundingClientRect(); return [box.left, box.right]; }}"
    for row in section.locator("table.plain tbody tr").all()[:4]:
        cells = [cell.evaluate(ends) for cell in row.locator("td:not(:empty)").all()]
        for (_, right), (left, _) in pairwise(cells):
            assert left - right > 4


def test_any_feature_is_found_and_explained_by_keys(open_page, digits_page):
    path, summary = digits_page
    page = open_page(path)
    page.focus("#explain-search")
    for one in (summary["explanations"][0], summary["explanations"][-1]):
        page.fill("#explain-search", "")
        page.keyboard.type(one["name"].upper())
        assert page.inner_text("#explain-text") == " ".join(one["sentences"])
    page.keyboard.type(" no such name")
    assert page.inner_text("#explain-count") == "no such feature"
    assert page.inner_text("#explain-text") == ""
