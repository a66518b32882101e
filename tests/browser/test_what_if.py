"""The search in a page against golden rankings of GreedyMAUC, its code run, and its controls."""

import json
import os
import shlex
import statistics

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from mauc import GreedyMAUC
from mauc.cli import main
from mauc.report.html import selection_report
from tests.helpers.page_helpers import PHONE
from tests.helpers.what_if import BUNDLED, GOLDEN, SHARED, SIZE, load, make_page

pytestmark = pytest.mark.browser


def ranking(page):
    """Return the names in the order of the table."""
    return page.evaluate("""() => [...document.querySelectorAll("#what-if-features tr")]
        .filter((row) => /^\\d+$/.test(row.cells[0].textContent))
        .map((row) => row.querySelector(".name").title || row.querySelector(".name").textContent)""")


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
    assert [numbers[one] for one in ranking(page)] == GreedyMAUC(
        min(SIZE, X.shape[1])
    ).fit(X, y).ranking_.tolist()  # fmt: skip
    shown = report.to_dict()["features"][-1]["predicted_mauc"]
    assert predicted(page) == pytest.approx(shown, abs=6e-5)
    kind = "bundled" if name in BUNDLED else "shared"
    for key, row in json.loads((GOLDEN / f"{kind}.json").read_text())[name].items():
        wish(page, names, **row["wishes"])
        has_note = page.is_visible("#what-if-note")
        if model["samples"] is None and "budget" in row["wishes"]:  # no exchanges: it says so
            assert has_note
            continue
        assert [numbers[one] for one in ranking(page)] == row["ranking"], key
        assert has_note or "of_all" not in row, key
        if model["samples"] is not None:
            assert predicted(page) == pytest.approx(row["mauc"], abs=6e-5), key
    page.click("#what-if-reset")
    assert page.is_hidden("#what-if-note")
