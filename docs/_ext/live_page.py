"""Write the page of a selection that the landing page shows, into a folder that git ignores."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "_extra" / "live"


def setup(app):
    """Write the page before Sphinx copies its files."""
    app.connect("config-inited", lambda app, config: write_page())
    return {"parallel_read_safe": True}


def write_page() -> None:
    """Choose ten pixels of the digits and report on them."""
    from sklearn.datasets import load_digits

    from mauc import GreedyMAUC
    from mauc.report import selection_report

    X, y = load_digits(return_X_y=True, as_frame=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    report = selection_report(GreedyMAUC(10).fit(X, y), X, y, data_name="digits")
    report.write(FOLDER / "digits.html", force=True)
