"""What the benchmarks of large data share: Parquet files of any size, peak memory, processes."""

import resource
import sys
import time
from argparse import ArgumentParser
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _common import run_in_fresh_process

N_CLASSES = 5
GIGABYTE = 1e9


def arguments(description, **defaults):
    """Return the command line: a folder for the data, and numbers with their defaults."""
    parser = ArgumentParser(description=description)
    parser.add_argument("--folder", type=Path, default=Path("scale-data"))
    for name, default in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    found = parser.parse_args()
    found.folder.mkdir(parents=True, exist_ok=True)
    return found


def make_parquet(path, n_rows, n_columns, rows_per_group=100_000, *, is_plain=False):
    """Write normal float32 columns, most of them shifted by class, and the labels, once.

    Parameters
    ----------
    path : Path
        Nothing is done if it exists.
    n_rows, n_columns, rows_per_group : int
    is_plain : bool, default=False
        Whether numbers are stored as they are. By default pyarrow makes dictionaries of columns
        of up to some 260,000 values per row group: files are larger and slower to read.

    Returns
    -------
    path : Path
    """
    if path.exists():
        return path
    names = [f"x{j:04}" for j in range(n_columns)]
    schema = pa.schema([("label", pa.string()), *((name, pa.float32()) for name in names)])
    part = path.with_suffix(".part")
    coded = {"use_dictionary": ["label"]} if is_plain else {}
    with pq.ParquetWriter(part, schema, **coded) as writer:
        for start in range(0, n_rows, rows_per_group):
            n = min(rows_per_group, n_rows - start)
            rng = np.random.default_rng([0, start])
            y = rng.integers(0, N_CLASSES, n)
            arrays = [pa.array(np.array(list("abcde"))[y])]
            for j in range(n_columns):
                column = rng.standard_normal(n, dtype=np.float32)
                column += np.float32(0.3 * (j % 7) / 7) * ((y + j) % N_CLASSES).astype(np.float32)
                arrays.append(pa.array(column))
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema), rows_per_group)
    part.rename(path)
    return path


def peak_bytes():
    """Return the largest resident set of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def measured(function, *args):
    """Return what a function returns, its seconds, CPU seconds and peak memory.

    It runs in a new interpreter and is called with small data first if it has `warm`.
    """
    return run_in_fresh_process(_measure, function, args)


def _measure(function, args):
    warm = getattr(function, "warm", None)
    if warm is not None:
        warm()
    start, cpu = time.perf_counter(), time.process_time()
    found = function(*args)
    return found, time.perf_counter() - start, time.process_time() - cpu, peak_bytes()


def cache_file(path):
    """Read the bytes of a file, so that all that follow find it in the page cache, if it fits."""
    with path.open("rb", buffering=0) as file:
        while file.read(2**24):
            pass


def read_all(path):
    """Read all columns with pyarrow alone, a row group at a time, on all cores."""
    file = pq.ParquetFile(path)
    for group in range(file.num_row_groups):
        file.read_row_group(group)
    return file.metadata.num_rows
