"""The search in a page against that of GreedyMAUC, and what a reader can change."""

import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from mauc import GreedyMAUC
from mauc.report.html import selection_report

pytestmark = pytest.mark.browser


def ranking(page):
    rows = page.locator("#what-if-features tr").all_inner_texts()
    cells = [row.split("\t") for row in rows]
    return [cell[1].strip() for cell in cells if cell[0].strip().isdigit()]


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_ranking_is_that_of_python(open_page, tmp_path, load):
    X, y = load(return_X_y=True, as_frame=True)
    path = tmp_path / "page.html"
    report = selection_report(GreedyMAUC(4).fit(X, y), X, y)
    report.write(path)
    page = open_page(path)

    def python(**wishes):
        return [X.columns[j] for j in GreedyMAUC(4, **wishes).fit(X, y).ranking_]

    default = python()
    assert ranking(page) == default
    predicted = report.to_dict()["features"][-1]["predicted_mauc"]
    assert float(page.inner_text("#what-if-mauc")) == pytest.approx(predicted, abs=2e-4)
    page.get_by_label(f"keep {default[2]}", exact=True).click()
    assert ranking(page) == python(keep=[default[2]])
    page.click("#what-if-reset")
    page.get_by_label(f"price of {default[0]}", exact=True).fill("50")
    assert ranking(page) == python(feature_costs=dict.fromkeys(X.columns, 1) | {default[0]: 50})
    page.click("#what-if-reset")
    if X.shape[1] > 4:
        page.get_by_label(f"leave out {default[0]}", exact=True).click()
        assert ranking(page) == python(exclude=[default[0]])
    assert float(page.get_attribute("#what-if", "data-milliseconds")) < 100
