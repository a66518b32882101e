"""One Parquet shard per cell: rows in, a file out, and back only if nothing is damaged."""

import io
import json
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from mauc.exceptions import DamagedShardError
from mauc.experiments.origin import Stamp, keys_of
from mauc.experiments.plan import Cell
from mauc.experiments.rows import import_pyarrow, schema
from mauc.files import write_atomic

if TYPE_CHECKING:
    import pyarrow as pa

_DIGEST, _ORIGIN = b"mauc.digest", b"mauc.origin"


def shard_path(folder: Path, cell: Cell) -> Path:
    """Return where the shard of a cell is, in the folder of all shards."""
    name = f"r{cell.repeat:03d}_f{cell.fold:03d}.parquet"
    return folder / quote(cell.dataset, safe=" ") / name


def write_shard(path: Path, table: "pa.Table", origin: Stamp) -> None:
    """Write the rows of a cell, with their digest and origin, whole or not at all."""
    import_pyarrow()
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    stamp = {key: origin[key] for key in sorted(_keys(table))}
    table = table.replace_schema_metadata(
        {_DIGEST: table_digest(table).encode(), _ORIGIN: json.dumps(stamp).encode()}
    )
    pq.write_table(table, buffer, compression="zstd", write_page_checksum=True)
    write_atomic(path, buffer.getvalue(), force=True)


def read_shard(path: Path, cell: Cell, origin: Stamp) -> "pa.Table":
    """Read the rows of a cell.

    Parameters
    ----------
    path : Path
    cell : Cell
        Whose rows they should be.
    origin : dict of str to str
        What `origin_of` gives for the run and the data set.

    Returns
    -------
    table : pyarrow.Table

    Raises
    ------
    DamagedShardError
        If the file cannot be read, its digest is not that of its rows, or these are of another
        cell or another experiment. It names the file.
    """
    pa = import_pyarrow()
    import pyarrow.parquet as pq

    try:
        # Read through Python: a path could be taken for a data set of partitions.
        content = pa.BufferReader(path.read_bytes())
        table = pq.ParquetFile(content, page_checksum_verification=True).read()
        metadata = table.schema.metadata or {}
        wanted = metadata.get(_DIGEST, b"").decode(errors="replace")
        stamp = json.loads(metadata.get(_ORIGIN, b"{}"))
        table = table.replace_schema_metadata(None).cast(schema())
        got = table_digest(table)
    except Exception as error:  # pyarrow raises all kinds on damaged bytes
        raise DamagedShardError(f"the shard {path} cannot be read: {_first_line(error)}") from error
    if wanted != got:
        raise DamagedShardError(f"the shard {path} was altered: its rows do not have its digest.")
    keys = {key: set(table[key].unique().to_pylist()) for key in ("dataset", "repeat", "fold")}
    if keys != {"dataset": {cell.dataset}, "repeat": {cell.repeat}, "fold": {cell.fold}}:
        raise DamagedShardError(f"the shard {path} must hold rows of {cell} alone, got {keys}.")
    for key in sorted(_keys(table) | set(stamp)):
        if key not in origin or stamp.get(key, origin[key]) != origin[key]:
            raise DamagedShardError(f"the shard {path} is of another run: its {key} differs.")
    return table


def table_digest(table: "pa.Table") -> str:
    """Return a digest of the values of a table, whatever its chunks."""
    pa = import_pyarrow()
    digest = blake2b(digest_size=16)
    for name in table.column_names:
        column = table[name].combine_chunks()
        digest.update(f"{name}:{len(column)}:".encode())
        if pa.types.is_list(column.type):
            digest.update(column.value_lengths().to_numpy(zero_copy_only=False).tobytes())
            column = column.flatten()
        if pa.types.is_string(column.type):
            digest.update(json.dumps(column.to_pylist()).encode())
        else:
            digest.update(column.to_numpy(zero_copy_only=False).tobytes())
    return digest.hexdigest()


def _keys(table: "pa.Table") -> set[str]:
    selectors, classifiers = (table[key].unique() for key in ("selector", "classifier"))
    return keys_of(set(selectors.to_pylist()), set(classifiers.to_pylist()))


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
