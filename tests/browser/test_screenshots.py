"""The pictures of README.md: taken by this test, and checked to show the page as it is now.

``make screenshots`` writes them to docs/images. Without it they are taken to a temporary folder
and compared with those in docs/images: by size, and by a digest of the page's look that each
picture carries.
"""

import hashlib
import os
from pathlib import Path

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mauc import GreedyMAUC
from mauc.cli.outputs import next_steps
from mauc.datasets import load_dataset
from mauc.report.html import render, selection_report
from tests.helpers.page_helpers import settle

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
MAX_BYTES = 300_000
KEY = "mauc look"  # of the text in a PNG


@pytest.fixture(scope="module")
def pictures(browser, tmp_path_factory):
    """Take the pictures; return their paths and the folder that the repository has them in."""
    folder = tmp_path_factory.mktemp("images")
    wanted = os.environ.get("MAUC_SCREENSHOTS")
    data = load_dataset("digits")
    selector = GreedyMAUC(20).fit(data.X, data.y)
    report = selection_report(
        selector,
        data.X,
        data.y,
        data_name="digits",
        feature_names=data.feature_names,
        command="mauc select digits -k 20 --report page.html",
        steps=next_steps(selector, 64, ["digits"]),
        source="load_dataset('digits')",
    )
    path = report.write(folder / "page.html")
    context = browser.new_context(
        viewport={"width": 1180, "height": 860},
        device_scale_factor=2,
        color_scheme="light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    settle(page)
    main = page.locator("main").bounding_box()
    end = page.locator("#conclusion > .note").bounding_box()
    bottom = end["y"] + end["height"] + 12
    opening = {"x": 0, "y": 0, "width": main["x"] + main["width"], "height": bottom}
    page.screenshot(path=folder / "page.png", clip=opening, full_page=True)
    page.click("#by-feature")
    page.evaluate("window.scrollTo(0, 0)")  # boxes are measured from the top of the window
    settle(page)
    tools, cells = (
        page.locator(f"#map-section {part}").bounding_box() for part in (".tools", ".map")
    )
    top, bottom = tools["y"] - 8, cells["y"] + cells["height"] + 8
    whole = {"x": 0, "y": top, "width": opening["width"], "height": bottom - top}
    page.screenshot(path=folder / "class_pairs.png", clip=whole, full_page=True)
    texts = {
        "page.png": page.inner_text("main > .lede") + page.inner_text("#conclusion"),
        "class_pairs.png": page.inner_text("#trail") + str(report.to_dict()["pair_auc"]),
    }
    context.close()
    for name, text in texts.items():
        mark(folder / name, look_of(text))
        if wanted:
            IMAGES.mkdir(parents=True, exist_ok=True)
            (ROOT / wanted / name).write_bytes((folder / name).read_bytes())
    return {name: folder / name for name in texts}


def look_of(text):
    """Return a digest of what a picture shows: its words and numbers, and all style and script."""
    digest = hashlib.blake2b(text.encode(), digest_size=16)
    for file in sorted((Path(render.__file__).parent / "templates").iterdir()):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def mark(path, look):
    """Save a picture with 256 colours, which halves it, and with a digest of what it shows."""
    text = PngInfo()
    text.add_text(KEY, look)
    picture = Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    picture.save(path, pnginfo=text, optimize=True)


@pytest.mark.parametrize("name", ["page.png", "class_pairs.png"])
def test_pictures_show_the_page_as_it_is(pictures, name):
    assert pictures[name].stat().st_size < MAX_BYTES
    again = "make screenshots takes it again"
    assert (IMAGES / name).is_file(), f"docs/images/{name} is missing; {again}"
    with Image.open(IMAGES / name) as kept, Image.open(pictures[name]) as new:
        # fonts differ from machine to machine, and with them where lines break
        assert abs(kept.width - new.width) <= 0.1 * new.width
        assert abs(kept.height - new.height) <= 0.2 * new.height
        assert kept.text[KEY] == new.text[KEY], f"{name} is out of date; {again}"
