"""Files with cut, flipped and inserted bytes are read, or refused by an error that names them.

As a script, with a folder and seconds, it reads files of many seeds: `make fuzz`.
"""

import faulthandler
import io
import os
import resource
import subprocess
import sys
import time
import warnings
import zipfile
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from mauc import open_columns
from mauc.datasets import load_dataset
from mauc.exceptions import MaucError

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 60)
ARRAYS = {"X": RNG.normal(size=(60, 3)) + Y[:, np.newaxis], "y": Y}
FRAME = pd.DataFrame(ARRAYS["X"], columns=["a", "b", "c"]).assign(
    whole=pd.array(np.where(Y, Y, None), "Int32"), words=np.array(["red", "green", "blue"])[Y],
    kind=pd.Categorical(np.array(["x", "y", "z"])[Y - 1]), label=np.array(["u", "v", "w"])[Y],
)  # fmt: skip
WRITERS = {
    "plain.feather": lambda path: FRAME.to_feather(path, compression="uncompressed"),
    "packed.feather": FRAME.to_feather, "a.parquet": FRAME.to_parquet, "a.dta": FRAME.to_stata,
    "a.xlsx": lambda path: FRAME.to_excel(path, index=False), "a.csv.gz": FRAME.to_csv,
    "a.npy": lambda path: np.save(path, np.column_stack(list(ARRAYS.values()))),
    "plain.h5": lambda path: write_hdf5(path), "packed.h5": lambda path: write_hdf5(path, "gzip"),
    "plain.mat": lambda path: savemat(path, ARRAYS), "plain.npz": lambda p: np.savez(p, **ARRAYS),
    "packed.mat": lambda path: savemat(path, ARRAYS, do_compression=True),
    "packed.npz": lambda path: np.savez_compressed(path, **ARRAYS),
}  # fmt: skip


def write_hdf5(path, compression=None):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=np.column_stack([*ARRAYS.values()]), compression=compression)


def zipped(parts):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return written.getvalue()


def unzipped(content):
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
    if seed % 4 == 0:
        return content[:place]
    if seed % 4 == 1:
        held = bytearray(content)
        for at in rng.integers(len(held), size=rng.integers(1, 9)):
            held[at] ^= 1 << int(rng.integers(8))
        return bytes(held)
    return content[:place] + noise + content[place + len(noise) * (seed % 4 - 2) :]


def read_broken(folder, seconds):
    """Read mutations of every format until the time is over, in both ways."""
    whole, began = {}, time.monotonic()
    for name, write in WRITERS.items():
        write(folder / name)
        whole[name] = (folder / name).read_bytes()
    for seed in count():
        for name, content in whole.items():
            path, target = folder / name, None if name.endswith(("mat", "npz")) else -1
            path.write_bytes(mutate(content, seed))
            print(name, seed, flush=True)
            faulthandler.dump_traceback_later(30, exit=True)
            for load in (load_dataset, lambda *a: open_columns(*a)[0].read(np.arange(2))):
                try:
                    load(path, target)
                except MaucError as error:
                    if name not in str(error):
                        raise AssertionError("the error does not name the file") from error
        if seed >= 40 and time.monotonic() - began > seconds:
            break
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2 * 2**20  # kB


@pytest.mark.processes
def test_broken_files_neither_crash_nor_hang_nor_go_unnamed(tmp_path):
    seconds = os.environ.get("MAUC_FUZZ", "0")  # another process: a crash would end this one
    command = [sys.executable, __file__, str(tmp_path), seconds]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-30:] + ended.stderr[-3000:]


HEADER = "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}"
ENTITIES = '<!DOCTYPE a [<!ENTITY b "{}"><!ENTITY c SYSTEM "file:///etc/passwd">]><sst>&b;&c;</sst>'


@pytest.mark.parametrize(
    ("kind", "shape", "message"),
    [("<f8", (10**9, 10**9), r"X\.npy should be float64 of"), ("|O", (3, 3), "Python objects"),
     ("<f8", (0, 10**15), "not empty"), ("<f8", (10**15, 0), "not empty")],
)  # fmt: skip
def test_npz_of_absurd_shapes_is_refused_before_it_is_read(write, kind, shape, message):
    header = HEADER.format(kind, shape).encode().ljust(117) + b"\n"
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with pytest.raises(MaucError, match=rf"data\.npz.*{message}"):
        load_dataset(write(zipped({"X.npy": array}), "data.npz"))


@pytest.mark.parametrize("text", [ENTITIES.format("b" * 99), "<sst><si>", "<worksheet>&c;", ""])
def test_xlsx_of_hostile_or_broken_xml_is_named(tmp_path, write, text):
    FRAME.to_excel(tmp_path / "a.xlsx", index=False)
    parts = unzipped((tmp_path / "a.xlsx").read_bytes())
    broken = {name: text.encode() for name in parts if "sheet1" in name or "shared" in name}
    with pytest.raises(MaucError, match=r"data\.xlsx"):
        load_dataset(write(zipped(parts | broken), "data.xlsx"), -1)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    read_broken(Path(sys.argv[1]), float(sys.argv[2]))
