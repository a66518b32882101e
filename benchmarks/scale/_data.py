"""Data of any size for the benchmarks of scale, written a row group at a time."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_GROUP_BYTES = 2**27


def write_parquet(path, n_rows, n_columns, n_classes, seed=0):
    """Write float32 columns ``f0, f1, ...`` and an integer column ``label``.

    Normal values; the classes of every fourth column differ in their means.
    """
    rng = np.random.default_rng(seed)
    names = [f"f{j}" for j in range(n_columns)]
    shifts = rng.normal(0, 0.3, (n_columns, n_classes)).astype(np.float32)
    shifts[np.arange(n_columns) % 4 > 0] = 0
    schema = pa.schema([(name, pa.float32()) for name in names] + [("label", pa.int32())])
    n_group = max(1, _GROUP_BYTES // (4 * n_columns))
    with pq.ParquetWriter(path, schema, compression="snappy", use_dictionary=False) as writer:
        for start in range(0, n_rows, n_group):
            n = min(n_group, n_rows - start)
            y = rng.integers(0, n_classes, n)
            columns = [
                rng.standard_normal(n, dtype=np.float32) + shifts[j, y] for j in range(n_columns)
            ]
            writer.write_table(pa.table([*columns, y.astype(np.int32)], schema=schema))
