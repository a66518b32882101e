"""Writers of hostile text files and archives: small on disk, made to hang, crash or fill memory.

`FILES` has a writer for each file name; it takes the path.
"""
# ruff: noqa: E501 (tables of files)

import bz2
import gzip
import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow
from scipy.io import savemat

BLOCK = 2**20  # bytes that are compressed once and then repeated
GB = 2**30
ARFF = b"@relation r\n@attribute a numeric\n@attribute c {0,1}\n@data\n"
ROWS = b"a,b,c\n1,2,u\n2,1,v\n3,2,u\n4,1,v\n"


def arguments(path: Path) -> list[str]:
    """Return the arguments that name the target of a file; some formats keep labels apart."""
    apart = (".svm", ".libsvm", ".npz", ".mat", ".arff")
    return [] if any(end in path.name for end in apart) else ["--target", "-1"]


# Archives of `start`, then `block` as often as it goes into `size` bytes.


def _times(block: bytes, size: int) -> tuple[bytes, int]:
    repeated = block * max(1, min(BLOCK, size) // len(block))
    return repeated, max(1, size // len(repeated))


def _streams(compress: Callable[[bytes], bytes], start: bytes, block: bytes, size: int) -> bytes:
    """Return streams of a format in which they may follow one another."""
    repeated, n = _times(block, size)
    return compress(start) + compress(repeated) * n


def _deflated(start: bytes, block: bytes, size: int, *, wbits: int = -15) -> bytes:
    """Return one stream of zlib; what is behind a full flush can be repeated."""
    repeated, n = _times(block, size)
    coder = zlib.compressobj(9, wbits=wbits)
    first = coder.compress(start) + coder.flush(zlib.Z_FULL_FLUSH)
    part = coder.compress(repeated) + coder.flush(zlib.Z_FULL_FLUSH)
    check = zlib.adler32(start)
    for _ in range(n if wbits > 0 else 0):
        check = zlib.adler32(repeated, check)
    return first + part * n + b"\x03\x00" + check.to_bytes(4) * (wbits > 0)


def zip_of(members: dict[str, tuple[bytes, int, int]]) -> bytes:
    """Return a zip archive of deflated members, each with the size and checksum it claims."""
    body, directory = b"", b""
    for name, (data, size, crc) in members.items():
        same = struct.pack("<5H3I2H", 20, 0, 8, 0, 0, crc, len(data), size, len(name), 0)
        directory += b"PK\1\2\x14\0" + same + struct.pack("<3H2I", 0, 0, 0, 0, len(body))
        directory += name.encode()
        body += b"PK\3\4" + same + name.encode() + data
    n = len(members)
    return (
        body
        + directory
        + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, n, n, len(directory), len(body), 0)
    )


def _zip(
    start: bytes, block: bytes, size: int, *, name: str = "data.csv", claims: int = 0
) -> bytes:
    """Return a zip archive of one file, which claims its size or another one."""
    claimed = claims or min(size, 2**32 - 2)
    crc = zlib.crc32((start + block * (claimed // len(block) + 1))[:claims]) if claims else 0
    return zip_of({name: (_deflated(start, block, size), claimed, crc)})


def _zst(data: bytes) -> bytes:
    return bytes(pyarrow.compress(data, "zstd", asbytes=True))


PACKERS: dict[str, Callable[[bytes, bytes, int], bytes]] = {
    "gz": partial(_streams, gzip.compress),
    "bz2": partial(_streams, bz2.compress),
    "xz": partial(_streams, partial(lzma.compress, preset=0)),
    "zst": partial(_streams, _zst),
    "zip": _zip,
}
#: how files of formats begin, and what is repeated then
BOMBS = {
    "rows.csv": (b"a,b,c\n", b"1,2,u\n2,1,v\n"),
    "ones.csv": (b"a,b\n", b"1,2\n"),
    "line.csv": (b"a,b\n", b"0"),
    "commas.csv": (b"", b","),
    "blank.csv": (b"a,b\n1,2\n", b"\n"),
    "cells.csv": (b"", b"1,"),
    "quote.csv": (b'a,b\n1,2\n1,"', b"x\n"),
    "zeros.csv": (b"", b"\0"),
    "rows.tsv": (b"a\tb\n", b"1\t2\n2\t1\n"),
    "blanks.txt": (b"a b\n1 2\n", b" "),
    "rows.txt": (b"a b\n", b"1 2\n2 1\n"),
    "words.csv": (b"a,b\n", b"red,u\nblue,v\n"),
    "rows.arff": (ARFF, b"1,0\n2,1\n"),
    "line.arff": (ARFF, b"1,"),
    "head.arff": (b"@relation r\n", b"%\n"),
    "values.arff": (b"@relation r\n@attribute a {", b"x,"),
    "sparse.arff": (ARFF, b"{0 1}\n{1 1}\n"),
    "rows.svm": (b"", b"1 1:1 2:3\n2 1:2\n"),
    "line.svm": (b"1 1:1\n2 ", b"1:1 "),
    "note.svm": (b"# mauc ", b"["),
    "list.json": (b"[", b"0,"),
    "dicts.json": (b"[", b"{},"),
    "text.json": (b'["', b"x"),
    "deep.json": (b"", b"["),
    "lines.jsonl": (b"", b'{"a":1,"b":2}\n'),
    "zeros.dta": (b"<stata_dta>", b"\0"),
    "zeros.xpt": (b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!", b" "),
    "zeros.sas7bdat": (bytes(32), b"\0"),
}


def _lines(n: int, line: str) -> str:
    return "".join(line.format(j=j) for j in range(n))


def _header(n: int, kind: str = "numeric") -> str:
    lines = "".join(f"@attribute a{j} {kind}\n" for j in range(n))
    return f"@relation r\n{lines}@attribute c {{u,v}}\n@data\n"


def _row(n: int, value: str = "1", separator: str = ",") -> str:
    return (value + separator) * n


def _table(n: int, separator: str = ",", n_rows: int = 3) -> str:
    rows = (_row(n, str(j), separator) + "uv"[j % 2] for j in range(n_rows))
    return "\n".join([separator.join(f"f{j}" for j in range(n)) + f"{separator}c", *rows, ""])


def _svm(*rows: str) -> str:
    return "".join(f"{j % 2} {row}\n" for j, row in enumerate([*rows, "1:1 2:1", "1:2 2:2"]))


def _note(text: str) -> str:
    return f"# mauc {text}\n" + "0 1:1 2:3\n1 1:2 2:1\n0 1:3\n1 2:4\n"


_OPEN = r"'" + r"\'" * 100_000
NOTES = {
    "broken": "{",
    "empty": "",
    "list": "[1, 2]",
    "number": "7",
    "null": "null",
    "text": '"x"',
    "none": "{}",
    "no-classes": '{"features": ["a", "b"]}',
    "no-features": '{"classes": ["u", "v"]}',
    "types": '{"features": 3, "classes": 4}',
    "string": '{"features": "ab", "classes": "uv"}',
    "few": '{"features": ["a"], "classes": ["u", "v"]}',
    "twice": '{"features": ["a", "a"], "classes": ["u", "v"]}',
    "one-class": '{"features": ["a", "b"], "classes": ["u"]}',
    "no-class": '{"features": ["a", "b"], "classes": []}',
    "nested": '{"features": [["a"], {"b": 1}], "classes": [["u"], ["v"]]}',
    "mixed": '{"features": [1, null], "classes": [1, "v"]}',
    "ragged": '{"features": ["a", "b"], "classes": [[1], [1, 2]]}',
    "deep": "[" * 100_000,
    "digits": "9" * 100_000,
    "surrogate": r'{"features": ["\ud800", "b"], "classes": null}',
    "many": json.dumps({"features": [f"f{j}" for j in range(10**6)], "classes": None}),
    "dict": '{"features": {"a": 1, "b": 2}, "classes": {"0": 1}}',
    "nan": '{"features": [NaN, Infinity], "classes": null}',
}
TEXTS: dict[str, Callable[[], str | bytes]] = {
    **{f"note-{name}.svm": partial(_note, text) for name, text in NOTES.items()},
    **{
        f"index-{place}.svm": partial(_svm, f"1:1 {place}:1")
        for place in (
            "0",
            "1000000",
            "10000000",
            "999999999",
            "2000000000",
            "2147483647",
            "2147483648",
            "4000000000",
            "9" * 18,
            "9" * 19,
            "9" * 30,
            "-1",
            "1.5",
            "1e9",
            "x",
        )
    },
    "index.svm": lambda: _svm(f"1:1 {'9' * 5000}:1"),
    "digits.svm": lambda: _svm("1:" + "1" * 10**6 + "x"),
    "label-digits.svm": lambda: "1" * 10**6 + "x 1:1\n",
    "colons.svm": lambda: _svm("1" + ":1" * 10**6),
    "blanks.svm": lambda: _svm("1:1" + " " * 10**6 + "x"),
    "dots.svm": lambda: _svm("1:" + "1." * 10**6),
    "hashes.svm": lambda: _svm("1:1 " + "#" * 10**6),
    "signs.svm": lambda: _svm("1:" + "+-" * 10**6),
    "pairs.svm": lambda: _svm(_row(3 * 10**5, "3:1", " ")),
    "exponents.svm": lambda: _svm("1:1" + "e1" * 10**6),
    "qid.svm": lambda: _svm("qid:" + "9" * 10**6),
    "label-only.svm": lambda: _lines(10**5, "1\n"),
    "infinite.svm": lambda: _svm("1:inf 2:nan", "1:1e999"),
    "wide.svm": lambda: _svm(" ".join(f"{j}:1" for j in range(1, 2 * 10**5))),
    "digits.txt": lambda: ("1" * 60_000 + "x 1:1\n") * 3,
    "long-digits.txt": lambda: "1 1:" + "1" * 60_000 + "x\n2 1:3\n",
    "flags.csv": lambda: "a,b\nc,d\n" + "x=" * 5000 + "  y,class\n1,u\n2,v\n3,u\n",
    "kinds.csv": lambda: "a,b\n" + "x " * 5000 + " y,d\n,class\n1,u\n2,v\n3,u\n",
    "points.csv": lambda: "a,b\n" + "".join(f"{'1.111' * 5000}x,{j % 2}\n" for j in range(6)),
    "commas.csv": lambda: "a;b\n" + "".join(f"{'1,111' * 5000}x;{j % 2}\n" for j in range(6)),
    "units.csv": lambda: "a,b\n" + "".join(f"{' 1' * 20000}{j} kg-,{j % 2}\n" for j in range(30)),
    "attributes.arff": lambda: (
        _header(200_000) + "".join(_row(200_000, str(j)) + "uv"[j % 2] + "\n" for j in range(3))
    ),
    "nominal.arff": lambda: (
        _header(15_000, "{x,y}") + "".join(_row(15_000, "xy"[j % 2]) + "u\n" for j in range(3))
    ),
    "sparse-wide.arff": lambda: _header(200_000) + "{0 1}\n{1 1, 200000 v}\n{5 2}\n",
    "value-lines.arff": lambda: (
        "@relation r\n@attribute a {\n"
        + _lines(50_000, "v{j},\n")
        + "w}\n@attribute c {u,v}\n@data\nv1,u\nv2,v\n"
    ),
    "brace-lines.arff": lambda: "@relation r\n@attribute a {\n" + "{\n" * 10**5,
    "values.arff": lambda: (
        "@relation r\n@attribute a {"
        + _lines(200_000, "v{j},")
        + "w}\n@attribute c {u,v}\n@data\nv1,u\nv2,v\n"
    ),
    "value-twice.arff": lambda: "@relation r\n@attribute a {" + "v," * 200_000 + "w}\n@data\nv\n",
    "quoted-head.arff": lambda: f"@relation r\n@attribute {_OPEN} numeric\n@data\n1\n",
    "quoted-values.arff": lambda: f"@relation r\n@attribute a {{{_OPEN}\n" * 2,
    "quoted-row.arff": lambda: _header(1) + f"1,{_OPEN}\n",
    "quoted-comment.arff": lambda: _header(1) + f"1,{_OPEN}%\n",
    "both-quotes.arff": lambda: _header(1) + "1," + "'\\\"\\'\"" * 50_000 + "%\n",
    "apostrophes.arff": lambda: _header(1) + "1," + "\"'" * 100_000 + " % x\n",
    "blank-row.arff": lambda: _header(1) + "1," + " " * 10**6 + "{\n",
    "blank-cells.arff": lambda: _header(1) + " 1 " * 3 * 10**5 + "'\n",
    "blank-middle.arff": lambda: _header(1) + "1" + " " * 10**5 + "1,'u'\n",
    "braces.arff": lambda: _header(1) + "{" * 10**6 + "\n",
    "percents.arff": lambda: _header(1) + "'" + "%" * 10**6 + "\n1,u\n",
    "brace-row.arff": lambda: _header(1) + "{" + "0 " * 10**6 + "}\n",
    "place-digits.arff": lambda: _header(1) + "{" + "9" * 10**5 + " 1}\n",
    "places.arff": lambda: _header(10**5) + "{" + _lines(10**5, "{j} 1,") + "99999 1}\n",
    "relation.arff": lambda: "@relation" + " " * 10**6 + "\n@data\n",
    "spaces.arff": lambda: "@relation r\n@attribute" + " " * 10**6 + "{\n",
    "unknown.arff": lambda: _header(1) + "x" * 10**6 + ",u\n",
    "type.arff": lambda: "@attribute a " + "x" * 10**6 + "\n@data\n1\n",
    **{
        f"columns-{n}{tail}.csv": partial(_table, n, ",", n_rows)
        for n in (10**5, 2 * 10**5, 10**6)
        for tail, n_rows in (("", 3), ("-one", 1), ("-header", 0))
    },
    "columns.tsv": lambda: _table(10**6, "\t"),
    "columns.txt": lambda: _table(10**6, " "),
    "columns.json": lambda: json.dumps([{f"f{j}": i for j in range(2 * 10**4)} for i in range(3)]),
    "unnamed.csv": lambda: (_row(10**6) + "1\n") * 3,
    "separators.csv": lambda: ("," * 1000 + "\n") * 1000,
    "separator-line.csv": lambda: "," * (2 * 10**7) + "\n",
    "empty-lines.csv": lambda: "\n" * 10**6,
    "empty-between.csv": lambda: "a,b\n1,u\n" + "\n" * 10**6 + "2,v\n",
    "returns.csv": lambda: "a,b\r" + "1,u\r2,v\r" * 10**5,
    "only-returns.csv": lambda: "\r" * 10**6,
    "blanks.csv": lambda: " " * 10**7,
    "tabs.tsv": lambda: "\t" * 10**6 + "\n",
    "cell.csv": lambda: "a,b\n1,u\n" + "x" * 4 * 10**7 + ",v\n",
    "cell-quoted.csv": lambda: 'a,b\n1,u\n"' + "x" * 10**7 + '",v\n',
    "number.csv": lambda: "a,b\n1,u\n" + "9" * 10**6 + ",v\n3,u\n",
    "numbers.csv": lambda: "a,b\n" + "".join(f"{'9' * 5000}{j},{j % 2}\n" for j in range(20)),
    "labels.csv": lambda: "a,b\n" + "".join(f"{j},{'9' * 5000}{j % 2}\n" for j in range(20)),
    "decimals.csv": lambda: "a,b\n1,u\n0." + "3" * 10**6 + ",v\n3,u\n",
    "exponent.csv": lambda: "a,b\n1,u\n1e999999,v\n-1e999999,u\n1e-999999,v\n",
    "exponents.csv": lambda: "a,b\n1,u\n1e" + "9" * 10**5 + ",v\n2,u\n",
    "name.csv": lambda: "a" * 10**6 + ",b\n1,u\n2,v\n",
    "open-quote.csv": lambda: 'a,b\n1,u\n"' + "x,y\n" * 10**7,
    "open-quotes.csv": lambda: "a,b\n1,u\n" + '2,"v\n' * 10**6,
    "quotes.csv": lambda: "a,b\n1," + '"' * (10**7 + 1) + "\n",
    "blank-quotes.csv": lambda: "a,b\n" + '1, "u"\n2, "v"\n' * 10**5 + '1, "',
    "late-quotes.csv": lambda: "a,b\n1,u\n" + " " * 10**7 + '"x",v\n',
    "quote-cells.txt": lambda: 'a b\n1 "' + "\n" * 10**5,
    "nul.csv": lambda: b"a,b\n1,u\n" + b"x" * 5000 + b"\0,v\n2,u\n",
    "nul-late.csv": lambda: b"a,b\n" + b"1,u\n2,v\n" * 2000 + b"\0,v\n",
    "surrogate.csv": lambda: b"a,b\n1,u\n\xed\xa0\x80,v\n",
    "surrogate-late.csv": lambda: b"a,b\n" + b"1,u\n2,v\n" * 10**5 + b"\xed\xa0\x80,v\n",
    "mixed.csv": lambda: "a,b\n1,ü\n".encode() + "2,ü\n".encode("latin-1"),
    "half.csv": lambda: b"a,b\n1,u\n2,v\n3,\xc3",
    "utf16-late.csv": lambda: ROWS + "1,2,u\n".encode("utf-16"),
    "odd-utf16.csv": lambda: "a,b\n1,2\n".encode("utf-16")[:-1],
    "marks.csv": lambda: "\ufeff" * 3 + "a,b\n1,u\n2,v\n",
    "mark-inside.csv": lambda: "a,b\n1,u\n\ufeff2,v\n3,u\n4,v\n",
    "controls.csv": lambda: "a\x1b[31m,b\x07\n1,u\x1b]0;x\x07\n2,v\n",
    "separator-28.csv": lambda: "a,b\x1c\n1,u\x85\n2,v\u2028x\n",
    "ragged.csv": lambda: (
        "a,b\n" + "".join(",".join("1" * (j % 7 + 1)) + "\n" for j in range(10**5))
    ),
    "growing.csv": lambda: "".join("1," * j + "u\n" for j in range(1, 2000)),
    "one-name.csv": lambda: "a\n" * 10**6,
    "same.csv": lambda: _row(10**5, "a") + "a\n" + _row(10**5) + "u\n",
    "late-words.csv": lambda: (
        _table(3000, ",", 300)
        + "".join(
            ",".join("x" if k == j else "1" for k in range(3000)) + ",u\n"
            for j in range(0, 3000, 30)
        )
    ),
    "deep.json": lambda: "[" * 10**6,
    "deep-closed.json": lambda: "[" * 10**5 + "]" * 10**5,
    "deep-dicts.json": lambda: '{"a":' * 10**5 + "1" + "}" * 10**5,
    "deep-cell.json": lambda: '[{"a":' + "[" * 900 + "]" * 900 + ',"b":1},{"a":2,"b":2}]',
    "integer.json": lambda: '[{"a":' + "9" * 10**6 + ',"b":1},{"a":1,"b":2}]',
    "float.json": lambda: '[{"a":1e999999,"b":1},{"a":1,"b":2}]',
    "digits.json": lambda: '[{"a":' + "9" * 4000 + ',"b":1},{"a":1,"b":2},{"a":3,"b":1}]',
    "keys.json": lambda: '[{"a":1,"a":2,"b":1},{"a":2,"b":2}]',
    "open.json": lambda: '[{"a":"' + "x" * 10**7,
    "escapes.json": lambda: '[{"a":"' + "\\\\" * 10**6,
    "nan.json": lambda: '[{"a":NaN,"b":1},{"a":-Infinity,"b":2}]',
    "surrogate.json": lambda: r'[{"\ud800":1,"b":"\udfff"},{"\ud800":2,"b":"v"}]',
    "new-keys.json": lambda: json.dumps([{f"k{j}": j, "b": j % 2} for j in range(3000)]),
    "nested-keys.json": lambda: json.dumps(
        [{"a": {f"k{j}": {"x": j}}, "b": j % 2} for j in range(500)]
    ),
    "scalar.json": lambda: "1",
    "texts.json": lambda: '["a","b"]',
    "empty.json": lambda: "[]",
    "empty-dict.json": lambda: "{}",
    "data.json": lambda: '{"data":[{}],"columns":7}',
    "rows.json": lambda: '{"data":[[1,2],[1]],"columns":["a"]}',
    "braces.jsonl": lambda: "{" * 10**6,
    "lines.jsonl": lambda: "{}\n" * 10**5,
    "mixed.jsonl": lambda: '{"a":1}\n[1]\n"x"\n',
}


def _zip_parts(parts: dict[str, tuple[bytes, bytes, int]], claims: int = 0) -> bytes:
    return zip_of(
        {
            name: (
                _deflated(*part),
                claims or min(part[2], 2**32 - 2),
                zlib.crc32(part[0] + part[1]),
            )
            for name, part in parts.items()
        }
    )


def _npy(n: int) -> bytes:
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, 8), }}".encode().ljust(117)
    return b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + head + b"\n"


def _mat(size: int, n: int = 1) -> bytes:
    """Return a MATLAB file of compressed elements, each with a matrix X of zeros."""
    held = io.BytesIO()
    savemat(held, {"X": np.zeros((1, 1))})
    content = bytearray(held.getvalue())
    content[128 + 8 + 16 :][:0] = b""
    matrix = struct.pack("<2I", 14, size + 48) + bytes(content[136:168]) + b"X\0\0\0\0\0\0\0"
    matrix = matrix[:48] + struct.pack("<2I", 9, size)
    data = _deflated(matrix, b"\0", size, wbits=15)
    return bytes(content[:128]) + (struct.pack("<2I", 15, len(data)) + data) * n


def _xlsx(
    sheet: tuple[bytes, bytes, int], claims: int = 0, shared: tuple[bytes, bytes, int] | None = None
) -> bytes:
    """Return a workbook with a sheet and shared texts, given as start, block and size."""
    import pandas as pd

    held = io.BytesIO()
    pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}).to_excel(held, index=False)
    with zipfile.ZipFile(held) as archive:
        parts = {name: (archive.read(name), b"\n", 1) for name in archive.namelist()}
    parts["xl/worksheets/sheet1.xml"] = sheet
    parts |= {"xl/sharedStrings.xml": shared} if shared else {}
    return _zip_parts(parts, claims)


_SHEET = b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
ARCHIVES: dict[str, Callable[[], bytes]] = {
    "rows.xlsx": lambda: _xlsx((_SHEET, b'<row><c t="n"><v>1</v></c></row>', 4 * GB)),
    "blank.xlsx": lambda: _xlsx((_SHEET, b" ", 4 * GB)),
    "claims.xlsx": lambda: _xlsx((_SHEET, b" ", 4 * GB), 1000),
    "far.xlsx": lambda: _xlsx(
        (
            _SHEET
            + b'<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>',
            b"\n",
            1,
        )
    ),
    "beyond.xlsx": lambda: _xlsx(
        (
            _SHEET
            + b'<row r="4000000000"><c r="ZZZZZZZ4000000000"><v>1</v></c></row></sheetData></worksheet>',
            b"\n",
            1,
        )
    ),
    "deep.xlsx": lambda: _xlsx((_SHEET + b"<row>" * 10**5, b"\n", 1)),
    "texts.xlsx": lambda: _xlsx((_SHEET, b"\n", 1), 0, (b"<sst>", b"<si><t>x</t></si>", 4 * GB)),
    "count.xlsx": lambda: _xlsx(
        (_SHEET, b"\n", 1), 0, (b'<sst count="4000000000" uniqueCount="4000000000">', b"\n", 1)
    ),
    "cells.ods": lambda: _zip_parts(
        {
            "mimetype": (b"application/vnd.oasis.opendocument.spreadsheet", b"\n", 1),
            "content.xml": (b"<office:document-content>", b" ", 4 * GB),
        }
    ),
    "zeros.npz": lambda: _zip_parts({"X.npy": (_npy(2**26), b"\0", 4 * GB)}),
    "claims.npz": lambda: _zip_parts({"X.npy": (_npy(2**26), b"\0", 4 * GB)}, 1000),
    "many.npz": lambda: _zip_parts({f"a{j}.npy": (_npy(2**21), b"\0", 2**27) for j in range(60)}),
    "more.npz": lambda: _zip_parts({"X.npy": (_npy(4), b"\0", 4 * GB)}),
    "lies.csv.zip": lambda: _zip(b"a,b\n", b"1,2\n2,1\n", 4 * GB, claims=1000),
    "many.csv.zip": lambda: zip_of({f"{j}.csv": (b"\x03\0", 0, 0) for j in range(20_000)}),
    "zeros.mat": lambda: _mat(2**31),
    "many.mat": lambda: _mat(2**27, 20),
    "small.mat": lambda: _mat(2**20),
    "twice.csv.gz": lambda: gzip.compress(PACKERS["gz"](b"", b"1,2\n", GB)),
    "cut.csv.gz": lambda: gzip.compress(ROWS)[:-9],
    "late.csv.gz": lambda: (
        gzip.compress(ROWS + np.random.default_rng(0).bytes(10**6))
        + PACKERS["gz"](b"", b"1,2,u\n", 4 * GB)
    ),
    "members.csv.gz": lambda: gzip.compress(b"") * 200_000,
    "name.csv.gz": lambda: b"\x1f\x8b\x08\x08" + bytes(6) + b"x" * 10**7,
}


def _write(make: Callable[[], str | bytes], path: Path) -> None:
    content = make()
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def _all() -> Iterator[tuple[str, Callable[[], str | bytes]]]:
    yield from TEXTS.items()
    yield from ARCHIVES.items()
    for name, (start, block) in BOMBS.items():
        for kind, pack in PACKERS.items():
            yield f"bomb-{name}.{kind}", partial(pack, start, block, 10 * GB)
        yield f"bomb-small-{name}.gz", partial(PACKERS["gz"], start, block, 2**25)


FILES = {name: partial(_write, make) for name, make in _all()}
