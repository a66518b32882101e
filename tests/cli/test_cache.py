"""`mauc cache list | clear`."""

import os
import time

import pytest

from mauc import open_columns
from mauc.io.cache import list_caches
from tests.helpers.cli_helpers import refusal, run, run_json


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "columns"


@pytest.fixture
def table(wine_file, cache):
    open_columns(wine_file, "label", memory=2**16)
    return cache / f"{list_caches()[0].name}.arrow"


def test_empty(cache):
    assert run("cache", "list").stdout == f"{cache} holds no columns.\n"
    assert run_json("cache", "list")["tables"] == []
    assert run("cache", "clear", "--all").stdout == "freed nothing.\n"


def test_list(wine_file, table, cache):
    output = run("cache", "list").stdout
    assert all(word in output for word in (table.stem, "178", "14", "current", str(wine_file)))
    assert f"22 kB in {cache}; mauc cache clear NAME removes one" in output
    (shown,) = run_json("cache", "list")["tables"]
    assert (shown["name"], shown["source"]) == (table.stem, str(wine_file))
    assert (shown["n_samples"], shown["n_features"], shown["state"]) == (178, 14, "current")
    assert shown["n_bytes"] > 178 * 13 * 8
    assert shown["last_used"][:10] == time.strftime("%Y-%m-%d")
    wine_file.unlink()
    assert "gone" in run("cache", "list").stdout


@pytest.mark.parametrize("how", ["name", "path", "all"])
def test_clear(wine_file, table, how):
    word = {"name": table.stem, "path": wine_file, "all": "--all"}[how]
    output = run("cache", "clear", word).stdout
    assert output == f"removed {table.stem} ({wine_file}), 22 kB\nfreed 22 kB.\n"
    assert not table.exists()
    assert run_json("cache", "list")["tables"] == []


def test_clear_what_is_old(table):
    assert run("cache", "clear", "--all", "--older-than", "1").stdout == "freed nothing.\n"
    os.utime(table, (time.time() - 2 * 86_400,) * 2)
    removed = run_json("cache", "clear", "--all", "--older-than", "1")["tables"]
    assert [shown["name"] for shown in removed] == [table.stem]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name the tables to remove (see mauc cache list), or say --all."),
        (("x", "--all"), "or say --all, not both."),
        (("nothing",), "has no table 'nothing'"),
        (("--all", "--older-than", "-1"), "--older-than must be a number of days, 0 or more"),
    ],
)
def test_errors(table, words, message):
    assert message in refusal("cache", "clear", *words)
    assert table.exists()
