"""Data from a pipe: the format is found, and errors call it standard input."""

import gzip
import io
import os
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mauc.datasets import load_dataset
from mauc.exceptions import MaucError

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "label": ["u", "v", "u"]})


class Stdin:
    """A standard input that holds bytes."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)

    def isatty(self):
        return False


def as_bytes(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


CONTENTS = {
    "csv": b"a,label\n1,u\n2,v\n3,u\n",
    "gzip": gzip.compress(b"a;label\n1;u\n2;v\n3;u\n", mtime=0),
    "blanks": b"a label\n1 u\n2 v\n3 u\n",
    "arff": b"% c\n@relation r\n@attribute a numeric\n@attribute label {u,v}\n"
    b"@data\n1,u\n2,v\n3,u\n",
    "parquet": as_bytes(FRAME.to_parquet),
    "feather": as_bytes(FRAME.to_feather),
    "npz": as_bytes(lambda file: np.savez(file, X=FRAME[["a"]], y=[0, 1, 0], classes=["u", "v"])),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_the_format_is_found(monkeypatch, kind):
    monkeypatch.setattr(sys, "stdin", Stdin(CONTENTS[kind]))
    target = None if kind in ("npz", "arff") else "label"
    dataset = load_dataset("-", target)
    assert_array_equal(dataset.X, [[1], [2], [3]])
    assert dataset.y.tolist() == ["u", "v", "u"]
    assert dataset.name == "stdin"


def test_options_and_errors(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdin(b"1,u\n2,v\n"))
    assert load_dataset("-", header=False, format="csv").y.tolist() == ["u", "v"]
    monkeypatch.setattr(sys, "stdin", Stdin(b"a,label\n1,u\n2\n"))
    with pytest.raises(MaucError, match=r"^standard input, line 3: the row has 1 value"):
        load_dataset("-", "label")
    monkeypatch.setattr(sys, "stdin", Stdin(b""))
    with pytest.raises(MaucError, match=r"^standard input is empty"):
        load_dataset("-", "label")


def test_a_terminal_is_no_file(monkeypatch):
    stdin = Stdin(b"")
    stdin.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(MaucError, match="which is a terminal here; pipe a file into it"):
        load_dataset("-", "label")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_named_pipes_and_devices_are_refused(tmp_path):
    # Nobody may ever write to a pipe, and some devices never end.
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    for source in (path, "/dev/zero"):
        with pytest.raises(MaucError, match="is a pipe or a device, not a file; pass - "):
            load_dataset(source, "label")


def test_a_stream_that_is_not_there():
    with pytest.raises(MaucError, match="/dev/fd/999 cannot be read"):
        load_dataset("/dev/fd/999", "label")
