"""Files that users have."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

HOSTILE = [
    "[red]x",
    "<img src=x onerror=alert(1)>",
    "naïve ☃ 漢字",
    "L" * 300,
    "new\nline",
    "\x1b[31mesc",
]


@pytest.fixture
def wine_file(tmp_path):
    frame = load_wine(as_frame=True).frame.rename(columns={"target": "label"})
    frame["label"] = frame["label"].map({0: "red", 1: "rose", 2: "white"})
    frame.to_csv(tmp_path / "wine.csv", index=False)
    return tmp_path / "wine.csv"


@pytest.fixture
def nominal_file(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=60), "label": ["u", "v", "w"] * 20})
    frame["size"] += frame["label"].map({"u": 0, "v": 1, "w": 2})
    frame.insert(0, "colour", rng.choice(["red", "green"], 60))
    frame.to_csv(tmp_path / "nominal.csv", index=False)
    return tmp_path / "nominal.csv"


@pytest.fixture
def hostile_file(tmp_path):
    codes = np.arange(60) % 3
    values = np.random.default_rng(0).normal(size=(60, 6)) + codes[:, None] * np.arange(6)
    frame = pd.DataFrame(values, columns=HOSTILE)
    frame["label"] = np.array(["[bold]A", "B\nb", "\x1b[31m" + "z" * 80])[codes]
    frame.to_csv(tmp_path / "hostile.csv", index=False)
    return tmp_path / "hostile.csv"


@pytest.fixture(scope="session")
def rows_file(tmp_path_factory):
    """Numbers, whole numbers and words in small row groups, as a Parquet file."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 6000)
    frame = pd.DataFrame(rng.normal(size=(6000, 8)) + codes[:, None] * np.linspace(0, 1, 8))
    frame = frame.add_prefix("f")
    frame["level"] = rng.integers(0, 5, 6000) + codes
    frame["colour"] = rng.choice(["red", "green", "blue"], 6000)
    frame["label"] = np.array(["u", "v", "w"])[codes]
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    frame.to_parquet(path, index=False, row_group_size=500)
    return path
