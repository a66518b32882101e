"""A headless Chromium for tests of pages; they are skipped where there is none."""

import os
import shutil

import pytest


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
