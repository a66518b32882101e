"""Files that are broken or made to do harm are read, or refused by an error that names them."""

import pytest

from mauc import open_columns
from mauc.datasets import load_dataset
from mauc.exceptions import MaucError
from tests.fuzz.mutations import FRAME, unzipped, zipped
from tests.fuzz.run import hostile, hostile_files, mutations, run

HEADER = "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}"
ENTITIES = '<!DOCTYPE a [<!ENTITY b "{}"><!ENTITY c SYSTEM "file:///etc/passwd">]><sst>&b;&c;</sst>'


@pytest.mark.processes
def test_broken_files_neither_crash_nor_hang_nor_go_unnamed():
    assert run(mutations(270)) == []


@pytest.mark.processes
def test_hostile_files_neither_crash_nor_hang_nor_take_all_memory():
    assert run(hostile(list(hostile_files())[::16])) == []


@pytest.mark.parametrize(
    ("kind", "shape", "message"),
    [
        ("<f8", (10**9, 10**9), r"X\.npy should be float64 of"),
        ("|O", (3, 3), "Python objects"),
        ("<f8", (0, 10**15), "not empty"),
        ("<f8", (10**15, 0), "not empty"),
    ],
)
def test_npz_of_absurd_shapes_is_refused_before_it_is_read(tmp_path, kind, shape, message):
    header = HEADER.format(kind, shape).encode().ljust(117) + b"\n"
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    (tmp_path / "data.npz").write_bytes(zipped({"X.npy": array}))
    with pytest.raises(MaucError, match=rf"data\.npz.*{message}"):
        load_dataset(tmp_path / "data.npz")


@pytest.mark.parametrize("text", [ENTITIES.format("b" * 99), "<sst><si>", "<worksheet>&c;", ""])
def test_xlsx_of_hostile_or_broken_xml_is_named(tmp_path, text):
    path = tmp_path / "data.xlsx"
    FRAME.to_excel(path, index=False)
    parts = unzipped(path.read_bytes())
    broken = {name: text.encode() for name in parts if "sheet1" in name or "shared" in name}
    path.write_bytes(zipped(parts | broken))
    with pytest.raises(MaucError, match=r"data\.xlsx"):
        load_dataset(path, -1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("far_1048576_XFD.xlsx", "sheet1.xml spans 1,048,576 rows and 16,384 columns in"),
        ("nameless.xlsx", "spans 1,048,576 rows and 10,000 columns"),
        ("repeated_100000_1000.ods", "content.xml spans 100,000 rows and 1,000 columns"),
        ("endless.sqlite", "has 0 tables"),
        ("rows_1e+07.parquet", "labels of 10,000,000 rows take about 400 MB, but memory is 1 MB"),
    ],
)
def test_little_that_stands_for_much_is_refused(tmp_path, name, message):
    hostile_files()[name](tmp_path / name)
    with pytest.raises(MaucError, match=message):
        open_columns(tmp_path / name, -1, memory="1MB")
