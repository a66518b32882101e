"""Every command and code block of README.md and of docs runs, and prints what it says."""

import contextlib
import io
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.helpers import cli_helpers

pytest.importorskip("pandas")


ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = BLOCK.findall(README)
FOLDERS = ("answers", "guide", "howto")
PAGES = [
    ROOT / "docs" / "scale.md",
    *sorted(page for name in FOLDERS for page in (ROOT / "docs" / name).glob("*.md")),
]


URLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
RAW = URLS["Source"].replace("github.com", "raw.githubusercontent.com") + "/main/"


def blocks_of(language):
    return [text for name, text in BLOCKS if name == language]


def commands_of(text):
    """Return the commands of a block, without their comments."""
    return [shlex.split(line, comments=True) for line in text.splitlines() if line.strip()]


def run(words):
    """Run a command of a page."""
    assert words[0] == "mauc", f"a page has a command that no test knows: {words}"
    return cli_helpers.run(*words[1:]).stdout


def test_readme_is_short_and_every_block_is_of_a_known_kind():
    assert len(README.splitlines()) <= 120
    assert {name for name, _ in BLOCKS} == {"python", "sh", "console", "make"}


def check_shown(text):
    """Compare what a command prints with what the page shows below it."""
    head, shown = text.split("\n", 1)
    assert head.startswith("$ ")
    printed = run(shlex.split(head[2:]))
    assert [line.rstrip() for line in printed.splitlines()] == shown.splitlines()


def test_all_blocks_of_the_readme_run(tmp_path, monkeypatch):
    blocks = [block for block in BLOCKS if "pip install" not in block[1]]
    run_blocks(blocks, "README.md", tmp_path, monkeypatch)
    assert (tmp_path / "page.html").stat().st_size > 10_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_all_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    run_blocks(BLOCK.findall(page.read_text(encoding="utf-8")), page.name, tmp_path, monkeypatch)


def run_blocks(blocks, page, folder, monkeypatch):
    """Run the blocks of a page in a folder; a text block is what the one above it printed."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MAUC_CACHE", str(folder / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    names, printed = {}, ""
    for number, (kind, text) in enumerate(blocks):
        if kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, f"block {number} of {page}", "exec"), names)
            printed = out.getvalue()
        elif kind == "text":
            assert [line.rstrip() for line in printed.splitlines()] == text.splitlines()
        elif kind == "toml":
            Path(f"{tomllib.loads(text)['name']}.toml").write_text(text, encoding="utf-8")
        elif kind == "console":
            check_shown(text)
        elif kind == "sh":
            for words in commands_of(text):
                run(words)


def test_make_targets_exist():
    for words in (words for text in blocks_of("make") for words in commands_of(text)):
        assert words[0] == "make"
        subprocess.run([*words, "--dry-run"], cwd=ROOT, check=True, capture_output=True)


def test_links_of_the_readme_lead_somewhere():
    """Links are absolute, for package indexes; those to the project are files of it."""
    for link in re.findall(r"\]\(([^)#]+)", README):
        if link.startswith(RAW):
            assert (ROOT / link.removeprefix(RAW)).is_file(), link
        elif link.startswith(URLS["Documentation"]):
            page = link.removeprefix(URLS["Documentation"]).removesuffix(".html")
            home = ROOT if page.startswith("reproduction/") else ROOT / "docs"
            is_built = page.startswith("gallery/")
            assert is_built or (home / f"{page}.md").is_file(), link
        else:
            assert (ROOT / link.split("/blob/main/")[1]).is_file(), link
