"""MDFS on many rows in Parquet, against polars and duckdb sorting one column of the same file."""

from time import perf_counter

import numpy as np
from _scale import GIGABYTE, arguments, make_parquet, measured

import mauc
from _common import print_header, print_row


def warm_up():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 300_000)
    mauc.MDFS(2, n_jobs=-1).fit(rng.standard_normal((300_000, 4), dtype=np.float32), y)


def fit_stream(path, memory):
    source, y = mauc.open_columns(path, target="label", memory=memory)
    start = perf_counter()
    mauc.MDFS(5, n_jobs=-1).fit(source, y)
    return perf_counter() - start


def sort_polars(path):
    import polars as pl

    return len(pl.read_parquet(path, columns=["x0003"]).sort("x0003"))


def sort_duckdb(path):
    import duckdb

    query = f"select count(*) from (select x0003 from '{path}' order by x0003 offset 1)"
    return duckdb.sql(query).fetchall()


fit_stream.warm = warm_up


def main():
    given = arguments(__doc__, rows=50_000_000, columns=20, memory="4GB")
    path = given.folder / f"tall-{given.rows}x{given.columns}.parquet"
    make_parquet(path, given.rows, given.columns, 1_000_000)
    n_cells = given.rows * given.columns
    print_header(f"{given.rows:,} x {given.columns} float32 in Parquet, memory={given.memory}")
    fit, seconds, cpu, peak = measured(fit_stream, path, given.memory)
    print_row("MDFS: seconds with opening and labels", seconds)
    print_row(f"  fit alone; all with {cpu:.0f} CPU seconds", fit)
    print_row("  ns per cell (wall)", 1e9 * fit / n_cells, unit="ns")
    print_row("  peak resident GB", peak / GIGABYTE, unit="GB")
    for name, function in (("polars", sort_polars), ("duckdb", sort_duckdb)):
        _, seconds, cpu, peak = measured(function, path)
        print_row(
            "MDFS: seconds per column", fit / given.columns, f"{name} sorts one column", seconds
        )
        print_row(f"  {name}: CPU seconds, peak GB", cpu, "", peak / GIGABYTE, unit="")


if __name__ == "__main__":
    main()
