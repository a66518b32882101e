"""Rows below the data, such as totals and sources, are left out; rows of data never are."""

import gzip
import io
import re
import zipfile

import pytest

from mauc import open_columns
from mauc.datasets import load_dataset
from mauc.exceptions import MaucError
from mauc.io.footers import MAX_FOOTERS

N = 12
ROWS = [["ab"[i % 2], f"{i * 1.5}", str((5 * i) % 8), "uv"[i % 2]] for i in range(N)]
CODED = [[*row[:3], str(i % 2)] for i, row in enumerate(ROWS)]  # their sums: 99, 42 and 6
TOTAL = "Total,99,42,\n"


def text_of(footers, rows=ROWS, separator=","):
    lines = [["kind", "width", "count", "label"], *rows]
    return "".join(separator.join(row) + "\n" for row in lines) + footers


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        (text_of(TOTAL), "label", "line 14 'Total,99,42,'; skip_rows=0 keeps it"),
        (text_of("TOTAL:,5,5,?\n"), "label", "line 14 'TOTAL:,5,5,[?]'"),
        (text_of("Source: Ministry of Wine\n"), "label", "line 14 'Source: Ministry of Wine'"),
        (text_of('"Source: a, b",,,\n'), "label", "line 14"),
        (text_of("Source: a, b, 2020\n"), "label", "line 14"),  # three cells, not four
        (text_of("Source: a, b, c, d, 2020\n"), "label", "line 14"),
        (
            text_of("\n,,,\nTotal,9,9,\n\n,,,\nNote: rounded\n\n"),
            "label",
            "2 footer rows below the data left out: line 16 'Total,9,9,', line 19 'Note: rounded'",
        ),
        (text_of("Total,99,42.0,6\n", CODED), "label", "line 14"),
        (text_of("Mean,8.25,3.50,0.5\n", CODED), "label", "line 14"),
        (text_of("Total,99,42,\n"), "kind", "line 14"),  # "Total" where the labels are
        (text_of("Grand total,99,42,-\n"), "label", "line 14"),
        (text_of("Total;99;42;\n", separator=";"), "label", "line 14"),
        (text_of("Total 99 42\n", separator=" "), "label", "line 14"),
        ("Wines\n\n" + text_of(TOTAL), "label", "line 16"),
        (text_of(TOTAL).encode("utf-16"), "label", "line 14"),
        (gzip.compress(text_of(TOTAL).encode(), mtime=0), "label", "line 14"),
        (text_of(TOTAL * 2), "label", "line 14 .* line 15"),
    ],
)
@pytest.mark.parametrize("memory", [None, "100MB"])
def test_footers_are_left_out_with_a_note(write, text, target, said, memory):
    path = write(text)
    options = {"separator": "whitespace"} if "99 42" in str(text) else {}
    if memory is not None:
        source, y = open_columns(path, target, memory=memory, **options)
        assert source.shape[0] == len(y) == N
        return
    dataset = load_dataset(path, target, **options)
    assert dataset.X["width"].tolist() == [1.5 * i for i in range(N)]
    assert len(set(dataset.y)) == 2
    assert re.search(said, " ".join(dataset.notes))
    assert "warning" not in dataset.notes[1]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (text_of("Total,99,42,u\n"), "label"),  # a brand of this name
        (text_of("Total,98,42,6\n", CODED), "label"),  # does not add up
        (text_of("Total,99,42,5\n", CODED), "label"),
        (text_of("Total,98,42,u\n"), "kind"),  # a class of this name
        (
            text_of("u,9,9,v\n" * 60 + "Total,639,582,v\n", [["Total", "0", "0", "u"], *ROWS]),
            "kind",
        ),
        (text_of("Source: a,9,9,u\n"), "label"),
        (text_of("Totals of,9,9,u\n"), "label"),
    ],
)
def test_rows_of_data_are_kept(write, text, target):
    dataset = load_dataset(write(text), target)
    assert len(dataset.y) == text.count("\n") - 1
    assert "footer" not in " ".join(dataset.notes)


@pytest.mark.parametrize(
    ("footers", "message"),
    [
        ("Rome\n", "line 14: the row has 1 value"),  # perhaps cut off
        ("Rome,5,5,\n", "no label in line 14"),
        (",,,\n", "no label in line 14"),
        ("Total,9,9,\na,5,5,\n", r"no label in line 14 \(2 rows have none\)"),
        (TOTAL * MAX_FOOTERS, rf"no label in line 14 \({MAX_FOOTERS} rows"),
    ],
)
def test_rows_that_may_be_data_are_errors(write, footers, message):
    with pytest.raises(MaucError, match=message):
        load_dataset(write(text_of(footers)), "label")


def test_an_option_keeps_them(write):
    path = write(text_of(TOTAL))
    with pytest.raises(MaucError, match="no label in line 14"):
        load_dataset(path, "label", skip_rows=0)
    assert len(load_dataset(path, "label", skip_rows=0, skip_unlabelled=True).y) == N
    path = write("Wines\n" + text_of(TOTAL))
    assert len(load_dataset(path, "label", skip_rows=1).y) == N


def test_a_table_of_footers_is_data(write):
    with pytest.raises(MaucError, match="no label in line 2"):
        load_dataset(write("a,label\nTotal,\n"), "label")


def test_a_row_is_judged_by_the_labels_at_hand(write):
    """Tables in the cache are made anew where the target decides what a footer is."""
    path = write(text_of("Total,7,7,u\n"))
    assert open_columns(path, "label")[0].shape[0] == N + 1
    path = write(text_of("Total,7,,u\n"))
    for target, n_rows in (("label", N + 1), ("count", N), ("label", N + 1)):
        assert open_columns(path, target, missing="-")[0].shape[0] == n_rows


def test_long_files(tmp_path, write):
    rows = ROWS * 20_000  # more than a block
    path = write(text_of('"Total",1980000,840000,\nSource: é\n', rows))
    dataset = load_dataset(path, "label")
    assert len(dataset.y) == len(rows)
    assert f'line {len(rows) + 2} \'"Total",1980000' in dataset.notes[1]
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("wines.csv", path.read_bytes().decode().encode("utf-16"))
    zipped = load_dataset(write(held.getvalue(), "wines.csv.zip"), "label")
    assert zipped.notes[1] == dataset.notes[1]
    assert zipped.fingerprint() == dataset.fingerprint()


def test_wide_tables(write):
    names = [f"f{j}" for j in range(3000)]
    lines = [",".join([*(str((i * j) % 5) for j in range(3000)), "uv"[i % 2]]) for i in range(20)]
    text = "\n".join(
        [",".join([*names, "label"]), *lines, ",".join(["Total", *["9.5"] * 2999, ""])]
    )
    dataset = load_dataset(write(text), "label", keep_ids=True)
    assert dataset.X.shape == (20, 3000)
