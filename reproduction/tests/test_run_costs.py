"""What a run took, from rows that can be counted by hand."""

from types import SimpleNamespace

import pandas as pd

from reproduction.paper import make


def test_table_10_beside_seconds():
    seconds = pd.DataFrame({"selector": ["su"], "dataset": ["usps"], "seconds": [0.0534]})
    lines = make.seconds_table(seconds).splitlines()
    assert lines[0] == "| selector | USPS |"
    assert lines[2] == r"| SU | 0.053 \| 2.964 |"


def test_tuning_by_hand():
    found = SimpleNamespace(C=8.0, gamma=0.125, mauc=0.9321)
    lines = make.tuning_table({"usps": {10: found, 20: found}, "wine": {10: found}})
    assert lines.splitlines()[2:] == [
        "| USPS | 2^3, 2^-3; 0.932 | 2^3, 2^-3; 0.932 |",
        "| wine | 2^3, 2^-3; 0.932 | - |",
    ]


def test_seconds_by_hand():
    rows = pd.DataFrame(
        {
            "dataset": "usps",
            "repeat": 0,
            "fold": [0, 0, 0, 1],
            "selector": "mdfs",
            "classifier": ["nb", "nb", "1nn", "1nn"],
            "select_seconds": [2.0, 2.0, 2.0, 4.0],
            "fit_seconds": 1.0,
            "score_seconds": 0.5,
        }
    )
    # Selecting once per fold and selector: 2 + 4; two seconds each; MAUC four times a half.
    line = make.time_table(rows).splitlines()[-1]
    assert line == "| USPS | 6 (50%) | 2 (17%) | 2 (17%) | 2 (17%) | 12 |"
