"""choose_way: exact where that is affordable, and a sentence that says why."""

import pytest

from mauc.sketch import choose_way


@pytest.mark.parametrize(
    ("options", "name", "words"),
    [
        ({}, "columns", "exact; 800 MB read once"),
        ({"is_columnar": False}, "columns", "exact; 800 MB written by columns first"),
        ({"is_columnar": False, "disk": 10**8}, "rows", "take 800 MB of disk, 100 MB are free"),
        ({"is_columnar": False, "memory": 10**10}, "columns", "800 MB fit into memory"),
        ({"n_rows": 10**9}, "rows", "its sort would take 60.0 GB of memory, 1.0 GB may be used"),
        ({"n_parts": 50_000, "waits": True}, "rows", "10,000,000 reads, about 198 times as long"),
        # from a file the same reads take microseconds: slower than a sketch, but not that much
        ({"n_parts": 1000, "waits": True}, "rows", "200,000 reads, about 143 times as long"),
        ({"n_parts": 1000}, "columns", "exact; 800 MB read once"),
        ({"n_parts": 50_000}, "rows", "10,000,000 reads, about 112 times as long"),
        # many reads of small parts, but done in a minute: exact all the same
        ({"n_rows": 10_000, "n_parts": 100, "waits": True}, "columns", "exact; 8 MB read once"),
        # the sketch itself would not fit either: exact then
        ({"n_parts": 50_000, "n_classes": 1000}, "columns", "read once"),
    ],
)
def test_ways(options, name, words):
    given = {"n_rows": 10**6, "n_columns": 200, "bytes_per_cell": 4, "memory": 10**9} | options
    way = choose_way(**given)
    assert way.name == name
    assert words in way.sentence
    assert way.sentence.startswith({"columns": "read by columns", "rows": "sketched by rows"}[name])
