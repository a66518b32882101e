"""The examples, the tutorial and the first pages of the site run, without a warning."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_readme import BLOCK, run_blocks

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted([*ROOT.glob("examples/*/*.py"), *ROOT.glob("tutorial/*.py")])


def test_examples_are_found():
    """The gallery runs what begins with plot_, and nothing else is in the folders."""
    assert len(SCRIPTS) >= 14
    assert all(script.name.startswith("plot_") for script in SCRIPTS)


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_runs(script, tmp_path):
    # plt.show warns where there is a screen.
    options = ["-W", "error", "-W", "ignore:FigureCanvasAgg"]
    subprocess.run(
        [sys.executable, *options, str(script)],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        check=True,
    )


@pytest.mark.parametrize("name", ["index.md", "start.md"])
def test_blocks_of_first_pages_run(name, tmp_path, monkeypatch):
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    run_blocks(BLOCK.findall(text), name, tmp_path, monkeypatch)
