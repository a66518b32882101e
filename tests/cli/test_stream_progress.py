"""What a terminal shows while columns are read in blocks: bytes, blocks and the time left."""

import re

import numpy as np
import pandas as pd

from tests.helpers.pseudo_terminal import run_on_terminal

PROGRAM = """
import time
from mauc import progress
from mauc.cli.app import app
from mauc.io.parquet import ParquetSource

progress.DELAY_SECONDS, progress._MIN_SECONDS = 0.05, 0.1
read = ParquetSource.read


def slow(self, places):
    time.sleep(0.05 * len(places))
    return read(self, places)


ParquetSource.read = slow
words = "select {} --target label -m mdfs -k 2 --memory 3MB"
app(words.format({!r}).split())
"""


def test_a_terminal_shows_bytes_and_time_left(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20_000, 40))).add_prefix("f")
    frame["label"] = rng.integers(0, 3, len(frame))
    path = tmp_path / "wide.parquet"
    frame.to_parquet(path, index=False)
    code, output, _ = run_on_terminal(PROGRAM.replace("{!r}", repr(str(path))))
    assert code == 0, output
    shown = re.search(
        r"MDFS 0:00:\d\d, \d\.\d/6\.4 MB, \d+/\d+ blocks of columns, 0:00:\d\d left", output
    )
    assert shown, output
