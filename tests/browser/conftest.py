"""A headless Chromium for tests of pages; they are skipped where there is none."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from mauc import MDFS
from mauc.report.html import selection_report
from tests.helpers.page_helpers import HOSTILE, WIDE
from tests.helpers.run_tools import PATIENCE


@pytest.fixture(scope="session")
def browser():
    """A Chromium that was installed on the machine, driven by playwright."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="tests of pages need playwright: pip install playwright"
    )
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = os.environ.get("MAUC_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("tests of pages need chromium on the path, or its path in MAUC_CHROMIUM")
    with playwright.sync_playwright() as play:
        # Chromium's own sandbox does not start for root, as in containers.
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        chromium = play.chromium.launch(
            executable_path=found, args=["--no-sandbox"] if is_root else []
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def digits_page(tmp_path_factory):
    X, y = load_digits(return_X_y=True, as_frame=True)
    report = selection_report(MDFS(30, random_state=0).fit(X, y), X, y, data_name="digits")
    path = tmp_path_factory.mktemp("pages") / "digits.html"
    report.write(path)
    return path, report.to_dict()


@pytest.fixture(scope="session")
def hostile_page(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 6)), columns=HOSTILE)
    y = np.repeat(HOSTILE[:3], 20)
    report = selection_report(
        MDFS("all", random_state=0).fit(X, y),
        X,
        y,
        title=HOSTILE[1],
        data_name=HOSTILE[0],
        command=HOSTILE[2],
    )
    path = tmp_path_factory.mktemp("pages") / "hostile.html"
    report.write(path)
    return path, report.to_dict()


@pytest.fixture
def open_page(browser):
    """Open a page; at the end there were no errors, no dialogs and no requests but the file."""
    contexts, problems = [], []

    def hear(message):
        if message.type == "error":
            problems.append(f"console: {message.text}")

    def open_one(path, viewport=WIDE, **options):
        context = browser.new_context(viewport=viewport, accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", hear)
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))

        def refuse(dialog):
            problems.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("dialog", refuse)
        address = path.as_uri()

        def note(request):
            if request.url != address and not request.url.startswith("blob:"):
                problems.append(f"request: {request.url[:80]}")

        page.on("request", note)
        page.goto(address)
        page.wait_for_selector("html[data-ready]", timeout=1000 * PATIENCE)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert problems == []
