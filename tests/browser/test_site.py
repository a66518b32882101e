"""The built site: no broken link or picture, readable on a phone and in the dark, search offline.

`make docs` builds it and runs these tests; without the site they are skipped.
"""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.helpers.run_tools import PATIENCE

SITE = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html"
PAGES = [
    "index",
    "start",
    "tutorial/plot_ten_minutes",
    "howto/index",
    "howto/keep_columns",
    "guide/coming_from",
    "answers/README",
    "methods/greedy_mauc",
    "evidence/index",
    "gallery/index",
    "gallery/choose/plot_pair_map",
    "reference/api",
    "reference/command_line",
    "reference/generated/mauc.GreedyMAUC",
    "reproduction/beyond/rivals",
    "search",
]
RULES = [
    "color-contrast",
    "image-alt",
    "frame-title",
    "label",
    "button-name",
    "link-in-text-block",
    "document-title",
    "html-has-lang",
    "heading-order",
    "list",
    "table-fake-caption",
]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="make docs builds the site"),
]


class Links(HTMLParser):
    """Targets of links and pictures, the anchors of a page, and pictures without a text."""

    def __init__(self, path):
        super().__init__()
        self.targets, self.anchors, self.silent = set(), {""}, []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        for name in ("href", "src"):
            if name in found and tag in ("a", "img", "script", "link", "iframe"):
                self.targets.add(found[name] or "")
        if tag == "img" and "alt" not in found:
            self.silent.append(found.get("src"))


def test_links_pictures_and_their_texts():
    pages = {path: Links(path) for path in SITE.rglob("*.html") if "_static" not in path.parts}
    broken = []
    for path, page in pages.items():
        broken += [f"{path.relative_to(SITE)}: no text for {source}" for source in page.silent]
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            file = file / "index.html" if file.is_dir() else file
            is_lost = file in pages and unquote(parts.fragment) not in pages[file].anchors
            if not file.exists() or is_lost:
                broken.append(f"{path.relative_to(SITE)}: {target}")
    assert not broken, broken[:20]


@pytest.fixture(scope="module")
def site(browser):
    """Open a page of the site without a network, in a colour scheme and at a width."""
    pages = []

    def open_site(name, width=1280, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        page = context.new_page()
        page.goto((SITE / f"{name}.html").as_uri())
        pages.append(context)
        return page

    yield open_site
    for context in pages:
        context.close()


@pytest.mark.parametrize("name", PAGES)
def test_no_page_scrolls_sideways_on_a_phone(site, name):
    page = site(name, 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES[:-1])
def test_contrast_names_and_texts(site, name, scheme):
    """Rules of WCAG 2 AA that our pages decide about; markup of Sphinx and its theme apart."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = site(name, 1280, scheme)
    options = {"runOnly": {"type": "rule", "values": RULES}}
    found = axe.run(page, context="article", options=options).response["violations"]
    shown = [(one["id"], one["nodes"][0]["html"][:120], len(one["nodes"])) for one in found]
    assert not shown


def test_search_works_without_a_network(site):
    page = site("search")
    page.goto((SITE / "search.html").as_uri() + "?q=certificate")
    page.wait_for_selector("#search-results li a", timeout=1000 * PATIENCE)
    assert re.search("certificate", page.inner_text("#search-results"), re.IGNORECASE)


def test_the_keyboard_reaches_search_and_content(site):
    page = site("index")
    page.keyboard.press("Tab")
    assert "Skip" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Control+k")
    assert page.evaluate("document.activeElement.type") == "search"
