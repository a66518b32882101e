"""Hostile files of binary formats: absurd shapes, types that are no numbers, repeated emptiness."""

import sqlite3
import struct
from contextlib import closing
from functools import partial

import numpy as np
import pyarrow as arrow
import pyarrow.feather
import pyarrow.parquet
from scipy.io import savemat

from tests.fuzz.mutations import ARRAYS, FRAME, unzipped, zipped

N = 30
LABELS = arrow.array(["u", "v", "w"] * (N // 3))


def _deep(depth):
    kind = arrow.int8()
    for _ in range(depth):
        kind = arrow.struct([("x", kind)])
    return arrow.nulls(N, kind)


#: columns of Arrow that are not plain numbers, or hardly
COLUMNS = {
    "list": lambda: arrow.array([[1, 2]] * N),
    "struct": lambda: arrow.array([{"x": 1}] * N),
    "map": lambda: arrow.array([[("k", 1)]] * N, arrow.map_(arrow.string(), arrow.int8())),
    "deep": lambda: _deep(60),
    "null": lambda: arrow.nulls(N),
    "bytes": lambda: arrow.array([b"\xff\xfe"] * N),
    "half": lambda: arrow.array(np.ones(N, "f2")),
    "bad_text": lambda: arrow.Array.from_buffers(
        arrow.string(),
        N,
        [None, arrow.py_buffer(np.arange(N + 1, dtype="i4")), arrow.py_buffer(b"\xff" * N)],
    ),
    "decimal": lambda: arrow.array([10**70] * N, arrow.decimal256(76)),
    "wide": lambda: arrow.array([2**64 - 1 - i for i in range(N)], arrow.uint64()),
    "infinite": lambda: arrow.array([np.inf, -np.inf, np.nan] * (N // 3)),
    "tiny": lambda: arrow.array([5e-324, -5e-324, 1.8e308] * (N // 3)),
    "date": lambda: arrow.array([2**31 - 1] * N, arrow.date32()),
    "time": lambda: arrow.array([2**52] * N, arrow.timestamp("s", "Europe/Rome")),
    "zone": lambda: arrow.array([1] * N, arrow.timestamp("ns", "No/Where")),
    "duration": lambda: arrow.array([2**62 + i for i in range(N)], arrow.duration("s")),
    "long_text": lambda: arrow.array(["x" * 10**6] * N),
    "words": lambda: arrow.array(["\0", "\x1b[2J", "\u202e"] * (N // 3)),
    "dictionary": lambda: arrow.DictionaryArray.from_arrays(
        np.zeros(N, "i4"), arrow.array(np.arange(10**6).astype(str))
    ),
    "view": lambda: LABELS.cast(arrow.string_view()),
    "all_missing": lambda: arrow.nulls(N, "f8"),
}


def _arrow_tables():
    plain = arrow.array(np.arange(N) * 1.5 % 7)
    for name, make in COLUMNS.items():
        yield name, lambda make=make: arrow.table({"a": plain, "x": make(), "label": LABELS})
        yield f"{name}_target", lambda make=make: arrow.table({"a": plain, "label": make()})
    yield "no_rows", lambda: arrow.table({"a": plain[:0], "label": LABELS[:0]})
    yield "no_columns", lambda: arrow.table({})
    yield "one_column", lambda: arrow.table({"label": LABELS})
    yield "same_names", lambda: arrow.Table.from_arrays([plain, plain, LABELS], ["a", "a", "label"])
    yield "no_names", lambda: arrow.Table.from_arrays([plain, plain, LABELS], ["", " ", "label"])
    yield (
        "bad_pandas",
        lambda: arrow.table({"a": plain, "label": LABELS}).replace_schema_metadata(
            {"pandas": '{"index_columns": [{"kind": "range"}, 7], "columns": 3}'}
        ),
    )
    yield (
        "null_entry",
        lambda: arrow.table(
            {"a": plain, "label": arrow.DictionaryArray.from_arrays(np.zeros(N, "i4"), [None, "a"])}
        ),
    )
    yield (
        "many_columns",
        lambda: arrow.Table.from_arrays(
            [arrow.array([i % 3, 1, 2]) for i in range(20_000)], [f"x{i}" for i in range(20_000)]
        ),
    )


def _repeated(n_rows, path):
    """Write equal rows, a few bytes for each million of them."""
    n = min(n_rows, 5 * 10**6)
    half = arrow.array(np.arange(n) >= n // 2)
    part = arrow.table({"a": half, "b": arrow.nulls(n, "f8"), "label": half})
    if path.suffix == ".feather":
        arrow.feather.write_feather(part, path, "zstd", compression_level=1)
        return
    with arrow.parquet.ParquetWriter(path, part.schema, compression="zstd") as file:
        for _ in range(n_rows // n):
            file.write_table(part, row_group_size=n)


def _empty_hdf5(shape, kind, path):
    """Write the shape of an array, none of whose values is stored."""
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("X", shape, kind, chunks=None if 0 in shape or not shape else True)


def _odd_hdf5(kind, path):
    import h5py

    with h5py.File(path, "w") as file:
        if kind == "loop":
            file.create_group("g")["up"] = h5py.SoftLink("/g")
            file["X"] = h5py.SoftLink("/X")
        elif kind == "elsewhere":
            file["X"] = h5py.ExternalLink("none.h5", "/X")
        elif kind == "texts":
            file["X"] = np.array([[b"a", b"b"]] * 3)
        elif kind == "fields":
            file["X"] = np.zeros((3, 3), [("a", "f8"), ("b", "i4")])
        elif kind == "many":
            for i in range(3000):
                file[f"g{i}/X"] = i


def _npy(header, path, size=0):
    text = str(header).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    with path.open("wb") as file:
        file.write(b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text)) + text)
        file.truncate(max(size, file.tell()))  # zeros that take no room on the disk


def _npz(parts, path):
    path.write_bytes(zipped(parts))


def _level_4(n_rows, n_columns, path):
    """Write a .mat file of version 4, which claims more values than it has."""
    path.write_bytes(struct.pack("<5I", 0, n_rows, n_columns, 0, 2) + b"X\0" + bytes(64))


def _nested_cells(depth, path):
    cell = np.zeros((1, 1))
    for _ in range(depth):
        held = np.empty((1, 1), object)
        held[0, 0] = cell
        cell = held
    savemat(path, {"X": cell, "y": ARRAYS["y"]})


def _database(statements, path):
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as base:
        base.executescript(statements)


def _patched(write, place, value, path):
    """Write a file, then other bytes over some of it: `place` in front of them, or an offset."""
    write(path)
    content = path.read_bytes()
    at = place if isinstance(place, int) else content.index(place) + len(place)
    path.write_bytes(content[:at] + value + content[at + len(value) :])


def _sheet(cells, path):
    """Write a workbook whose sheet has other cells, as XML."""
    FRAME.to_excel(path, index=False)
    parts = unzipped(path.read_bytes())
    sheet = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    parts["xl/worksheets/sheet1.xml"] = (
        f"{sheet}<sheetData>{cells}</sheetData></worksheet>".encode()
    )
    path.write_bytes(zipped(parts))


def _ods(n_rows, n_columns, path):
    """Write an ods table of one cell that is repeated."""
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    cell = f'<table:table-cell office:value="1" table:number-columns-repeated="{n_columns}">'
    text = (
        f"<office:document-content{names}><office:body><office:spreadsheet>"
        f'<table:table table:name="a"><table:table-row table:number-rows-repeated="{n_rows}">'
        f"{cell}<text:p>1</text:p></table:table-cell></table:table-row></table:table>"
        f"</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    path.write_bytes(
        zipped({"mimetype": kind, "META-INF/manifest.xml": "<a/>", "content.xml": text})
    )


def _spss(path):
    import pyreadstat

    pyreadstat.write_sav(FRAME[["a", "b", "label"]], str(path))


def _cell(row, name, value=1):
    return f'<row r="{row}"><c r="{name}{row}"><v>{value}</v></c></row>'


ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x, x % 2 l FROM r"
MEMBER = ARRAYS["X"].tobytes()
FILES = {
    **{
        f"{name}.{end}": partial(lambda make, write, path: write(make(), path), make, write)
        for name, make in _arrow_tables()
        for end, write in (
            ("parquet", arrow.parquet.write_table),
            ("feather", arrow.feather.write_feather),
        )
        if (name, end) != ("null_entry", "parquet")
    },
    **{f"rows_{n:.0e}.parquet": partial(_repeated, n) for n in (10**7, 10**8, 4 * 10**8)},
    "rows_2e7.feather": partial(_repeated, 2 * 10**7),
    **{
        f"shape_{'_'.join(f'{n:.0e}' for n in shape)}_{kind}.h5": partial(_empty_hdf5, shape, kind)
        for kind in ("f8", "i1")
        for shape in ((10**12, 3), (10**9, 10**6), (3, 10**9), (0, 3), (3, 0), (), (3, 3, 3))
    },
    **{
        f"{kind}.h5": partial(_odd_hdf5, kind)
        for kind in ("loop", "elsewhere", "texts", "fields", "many", "empty")
    },
    **{
        f"shape_{i}.npy": partial(
            _npy, {"descr": kind, "fortran_order": i % 2 == 0, "shape": shape}, size=size
        )
        for i, (kind, shape, size) in enumerate(
            [
                ("<f8", (10**10, 10), 8 * 10**11 + 128),
                ("<f8", (10, 10**10), 8 * 10**11 + 128),
                ("<f8", (10**10, 10), 0),
                ("<f8", (-3, -3), 200),
                ("|O", (3, 3), 200),
                ("<f8", (3,), 200),
                ("|V1000000000", (3, 3), 200),
                ("<U9", (3, 3), 2000),
                ([("a", "<f8")], (3, 3), 200),
                ("<f8", (10**30, 3), 0),
                ("<f8", ("a", 3), 0),
                ("<f2", (10**9, 100), 2 * 10**11 + 128),
                ("|b1", (9, 9), 209),
                ("<M8[s]", (9, 9), 776),
            ]
        )
    },
    "header.npy": partial(_npy, " " * 10**7),
    "code.npy": partial(_npy, "__import__('os')"),
    "nested.npy": partial(_npy, "(" * 5000),
    **{
        f"{name}.npz": partial(_npz, parts)
        for name, parts in {
            "empty": {},
            "no_array": {"X.npy": b"x"},
            "text": {"X.npy": b"", "y.txt": b"1"},
            "members": {f"{i}.npy": b"" for i in range(20_000)},
            "up": {"../X.npy": MEMBER},
        }.items()
    },
    **{
        f"claims_{n}_{m}.mat": partial(_level_4, n, m)
        for n, m in (
            (2**31 - 1, 2**31 - 1),
            (2**31 - 1, 1),
            (2**16, 2**16),
            (0, 0),
            (2**32 - 1, 2**32 - 1),
        )
    },
    **{f"cells_{depth}.mat": partial(_nested_cells, depth) for depth in (1, 50, 150)},
    **{
        f"{name}.sqlite": partial(_database, text)
        for name, text in {
            "endless": f"CREATE VIEW t AS {ENDLESS};",
            "none": "CREATE TABLE a(x); DROP TABLE a;",
            "rowless": "CREATE TABLE t(x, l);",
            "blobs": "CREATE TABLE t(x, l); INSERT INTO t VALUES "
            "(zeroblob(100000000), 1), (x'ff', 2), (9e999, NULL);",
            "quoted": 'CREATE TABLE "a""; DROP"(x, l); '
            'INSERT INTO "a""; DROP" VALUES (1, 2), (2, 3);',
            "wide": f"CREATE TABLE t({', '.join(f'x{i}' for i in range(2000))});",
        }.items()
    },
    **{
        f"rows_{2**bits}.dta": partial(_patched, FRAME.to_stata, 6, struct.pack("<i", 2**bits - 1))
        for bits in (20, 31)
    },
    **{
        f"rows_{2**bits}.sav": partial(_patched, _spss, 80, struct.pack("<i", 2**bits - 1))
        for bits in (20, 31)
    },
    **{
        f"far_{row}_{name}.xlsx": partial(_sheet, _cell(1, "A") + _cell(row, name))
        for row, name in (
            (1048576, "XFD"),
            (1048576, "A"),
            (2, "XFD"),
            (4294967295, "A"),
            (99999999999999999999, "A"),
            (2, "ZZZZZZZZ"),
            (0, "A"),
        )
    },
    **{
        f"repeated_{n}_{m}.ods": partial(_ods, n, m)
        for n, m in ((3, 4), (10**6, 10**4), (10**5, 10**3), (10**20, 1), (1, 10**9))
    },
    "nameless.xlsx": partial(_sheet, '<row r="1048576">' + "<c><v>1</v></c>" * 10**4 + "</row>"),
    "cells.xlsx": partial(
        _sheet, '<row><c t="s"><v>9999999</v></c><c t="e"><v>#REF!</v></c></row>'
    ),
    "numbers.xlsx": partial(_sheet, "".join(_cell(i, "A", "9" * 10**4) for i in range(1, 50))),
}
