"""Files of all formats, and what bytes cut out, flipped and put in make of them."""

import io
import sqlite3
import zipfile
from contextlib import closing

import numpy as np
import pandas as pd
import pyarrow
from scipy.io import savemat

from mauc.datasets import load_dataset, write_table

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 60)
ARRAYS = {"X": RNG.normal(size=(60, 3)) + Y[:, np.newaxis], "y": Y}
FRAME = pd.DataFrame(ARRAYS["X"], columns=["a", "b", "c"]).assign(
    whole=pd.array(np.where(Y, Y, None), "Int32"),
    words=np.array(["red", "green", "blue"])[Y],
    kind=pd.Categorical(np.array(["x", "y", "z"])[Y - 1]),
    label=np.array(["u", "v", "w"])[Y],
)


def _hdf5(compression=None):
    def write(path):
        import h5py

        with h5py.File(path, "w") as file:
            X = np.column_stack([*ARRAYS.values()])
            file.create_dataset("X", data=X, compression=compression)

    return write


def _sqlite(path):
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as base:
        FRAME.to_sql("t", base, index=False)


def _spss(path):
    import pyreadstat

    frame = FRAME.astype({"whole": float, "kind": str})
    if path.suffix == ".sav":
        pyreadstat.write_sav(frame, str(path))
    else:
        pyreadstat.write_xport(frame, str(path), file_format_version=5)


def _zst(path):
    with pyarrow.CompressedOutputStream(str(path), "zstd") as file:
        file.write(FRAME.to_csv().encode())


def _table(path):
    write_table(load_dataset("wine"), path, force=True)


WRITERS = {
    "plain.feather": lambda path: FRAME.to_feather(path, compression="uncompressed"),
    "packed.feather": FRAME.to_feather,
    "a.parquet": FRAME.to_parquet,
    "a.dta": FRAME.to_stata,
    "a.xlsx": lambda path: FRAME.to_excel(path, index=False),
    "a.npy": lambda path: np.save(path, np.column_stack(list(ARRAYS.values()))),
    "plain.h5": _hdf5(),
    "packed.h5": _hdf5("gzip"),
    "plain.mat": lambda path: savemat(path, ARRAYS),
    "plain.npz": lambda p: np.savez(p, **ARRAYS),
    "packed.mat": lambda path: savemat(path, ARRAYS, do_compression=True),
    "packed.npz": lambda path: np.savez_compressed(path, **ARRAYS),
    "a.sqlite": _sqlite,
    "a.sav": _spss,
    "a.xpt": _spss,
    "a.arff": _table,
    "a.svm": _table,
    "a.csv": FRAME.to_csv,
    "a.tsv": lambda path: FRAME.to_csv(path, sep="\t"),
    "a.txt": lambda path: FRAME.to_csv(path, sep=";", decimal=",", index=False),
    "a.json": lambda path: FRAME.to_json(path, orient="records"),
    "a.jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True),
    "a.csv.gz": FRAME.to_csv,
    "a.csv.bz2": FRAME.to_csv,
    "a.csv.xz": FRAME.to_csv,
    "a.csv.zst": _zst,
    "a.csv.zip": FRAME.to_csv,
}
# What texts are made of, with meaning in some format.
WORDS = (
    *(letter.encode() for letter in "\n\r\0\"',;\t:#%{}[]\\?-"),
    b"nan",
    b"inf",
    b"1e999",
    b"null",
    b"9" * 400,
    b" " * 300,
    b"@data\n",
    b"@attribute x {a,b}\n",
    b"4000000000:1 ",
    b"# mauc {}\n",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"_id",
)


def zipped(parts):
    """Return a zip archive of named contents."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return written.getvalue()


def unzipped(content):
    """Return the contents of a zip archive by their names."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def mutate(content, seed):
    """Cut a file, flip bits, overwrite or insert bytes; in half of the zip files of a part."""
    rng = np.random.default_rng(seed)
    if content.startswith(b"PK") and seed % 8 > 3:
        parts = unzipped(content)
        name = str(rng.choice(sorted(parts)))
        return zipped(parts | {name: mutate(parts[name], seed)})
    place, noise = int(rng.integers(len(content))), rng.bytes(int(rng.integers(1, 17)))
    if b"\0" not in content:
        noise = WORDS[int(rng.integers(len(WORDS)))] * int(rng.choice([1, 1, 2, 50]))
        place = place if seed % 3 else place // 40  # a third of them near the beginning
    if seed % 4 == 0:
        return content[:place]
    if seed % 4 == 1:
        held = bytearray(content)
        for at in rng.integers(len(held), size=rng.integers(1, 9)):
            held[at] ^= 1 << int(rng.integers(8))
        return bytes(held)
    return content[:place] + noise + content[place + len(noise) * (seed % 4 - 2) :]
