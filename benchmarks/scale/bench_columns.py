"""MDFS and GreedyMAUC on a Parquet file larger than the memory that they may take.

Compared with the slower of two: the engine on an array in memory, and reading all columns with
pyarrow alone. Everything is counted in cells (values) per second, in wall time, on all cores.
"""

import numpy as np
import pyarrow.parquet as pq
from _scale import GIGABYTE, arguments, cache_file, make_parquet, measured, read_all

import mauc
from _common import print_header, print_row

N_SELECTED = 50


def warm_up():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 20_000)
    X = np.asfortranarray(rng.standard_normal((20_000, 60), dtype=np.float32))
    for selector in (mauc.MDFS(5, n_jobs=-1), mauc.GreedyMAUC(5, n_jobs=-1)):
        selector.fit(X, y)


def fit_stream(name, path, memory):
    source, y = mauc.open_columns(path, target="label", memory=memory)
    return getattr(mauc, name)(N_SELECTED, n_jobs=-1).fit(source, y).ranking_.tolist()


def fit_array(path, n_columns):
    """Fit on some columns in memory; return the seconds of the fit alone."""
    from time import perf_counter

    table = pq.read_table(path, columns=["label", *(f"x{j:04}" for j in range(n_columns))])
    y = table["label"].to_numpy()
    X = np.empty((n_columns, len(y)), np.float32)
    for j in range(n_columns):
        X[j] = table[f"x{j:04}"].to_numpy()
    del table
    start = perf_counter()
    mauc.MDFS(N_SELECTED, n_jobs=-1).fit(X.T, y)
    return perf_counter() - start


fit_stream.warm = fit_array.warm = warm_up


def main():
    given = arguments(
        __doc__,
        rows=1_000_000,
        columns=2_500,
        memory="1GB",
        rows_per_group=100_000,
        part=250,
        encoding="plain",
    )
    n_cells = given.rows * given.columns
    shape = f"{given.rows}x{given.columns}-{given.rows_per_group}"
    path = given.folder / f"normal-{shape}-{given.encoding}.parquet"
    is_plain = given.encoding == "plain"
    make_parquet(path, given.rows, given.columns, given.rows_per_group, is_plain=is_plain)
    size = path.stat().st_size
    print_header(
        f"{given.rows:,} x {given.columns:,} float32, {size / GIGABYTE:.1f} GB of Parquet in row "
        f"groups of {given.rows_per_group:,}, {given.encoding} encoding, memory={given.memory}"
    )
    cache_file(path)
    _, reading, cpu, peak = measured(read_all, path)
    print_row("pyarrow alone: million cells / s", n_cells / reading / 1e6, unit="")
    print_row("  CPU seconds, peak GB", cpu, "", peak / GIGABYTE, unit="")
    engine = measured(fit_array, path, min(given.part, given.columns))[0]
    rate = given.rows * min(given.part, given.columns) / engine
    print_row(f"MDFS on {given.part} columns in memory", rate / 1e6, unit="")
    slower = min(rate, n_cells / reading)
    for name in ("MDFS", "GreedyMAUC"):
        _, seconds, cpu, peak = measured(fit_stream, name, path, given.memory)
        print_row(
            f"{name}: million cells / s against the slower",
            slower / 1e6,
            "stream",
            n_cells / seconds / 1e6,
            ">= 0.6" if name == "MDFS" else "",
            "",
        )
        print_row(f"  seconds; CPU seconds {cpu:.0f}", seconds)
        kept = 2048 * given.columns if name == "GreedyMAUC" else 0
        print_row("  peak resident GB", (peak - kept) / GIGABYTE, "1.5 GB", 1.5, "<= 1", "GB")


if __name__ == "__main__":
    main()
