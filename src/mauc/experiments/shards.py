"""One Parquet shard per cell: rows in, a file out, and back only if nothing is damaged."""

import io
import json
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mauc.exceptions import DamagedShardError
from mauc.experiments.plan import Cell, is_tuned
from mauc.experiments.rows import first_line, schema
from mauc.files import write_atomic

if TYPE_CHECKING:
    import pyarrow as pa

Stamp = dict[str, str]
_DIGEST, _STAMP = b"mauc.digest", b"mauc.origin"


def make_stamp(plan: dict[str, Any], fingerprint: str) -> Stamp:
    """Return the digest of every definition that a cell of a data set may depend on.

    Two runs whose stamps agree on a selector, a classifier and the split have the same rows of
    them, so a shard may come from another folder, but not from another experiment.

    Parameters
    ----------
    plan : dict
        What `plan_to_dict` returned.
    fingerprint : str
        Of the data set.

    Returns
    -------
    stamp : dict of str to str
        Under "split" the data, seed, folds and sizes; under "selector NAME" and
        "classifier NAME" their methods and options, with the tuning where there is one.
    """
    stamp = {"split": digest([fingerprint, plan["seed"], plan["folds"], plan["sizes"]])}
    for spec in plan["selectors"]:
        stamp[f"selector {spec['name']}"] = digest([spec["method"], spec["options"]])
    tuning = [plan["tuning"]]
    if plan["tuning"]["scope"].startswith("dataset"):
        tuning.append(plan["selectors"][0])  # the one on whose features the SVM is tuned
    for spec in plan["classifiers"]:
        extra = tuning if is_tuned(spec["method"], spec["options"]) else []
        stamp[f"classifier {spec['name']}"] = digest([spec["method"], spec["options"], *extra])
    return stamp


def digest(value: Any, n_bytes: int = 8) -> str:
    """Return a digest of what JSON can hold."""
    text = json.dumps(value, sort_keys=True)
    return blake2b(text.encode(), digest_size=n_bytes).hexdigest()


def shard_path(folder: Path, cell: Cell) -> Path:
    """Return where the shard of a cell is, in the folder of all shards."""
    name = f"r{cell.repeat:03d}_f{cell.fold:03d}.parquet"
    return folder / quote(cell.dataset, safe=" ") / name


def write_shard(path: Path, table: "pa.Table", stamp: Stamp) -> None:
    """Write the rows of a cell, with their digest and stamp, whole or not at all."""
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    needed = {key: stamp[key] for key in sorted(_stamp_keys(table))}
    table = table.replace_schema_metadata(
        {_DIGEST: table_digest(table).encode(), _STAMP: json.dumps(needed).encode()}
    )
    pq.write_table(table, buffer, compression="zstd", write_page_checksum=True)
    write_atomic(path, buffer.getvalue(), force=True)


def read_shard(path: Path, cell: Cell, stamp: Stamp) -> "pa.Table":
    """Read the rows of a cell, written in a run and for data with this stamp.

    Raises
    ------
    DamagedShardError
        If the file cannot be read, its digest is not that of its rows, or these are of another
        cell or another experiment. It names the file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Read through Python: pyarrow could take a path for a partitioned data set.
        content = pa.BufferReader(path.read_bytes())
        table = pq.ParquetFile(content, page_checksum_verification=True).read()
        metadata = table.schema.metadata or {}
        wanted = metadata.get(_DIGEST, b"").decode(errors="replace")
        found = json.loads(metadata.get(_STAMP, b"{}"))
        table = table.replace_schema_metadata(None).cast(schema())
        got = table_digest(table)
    except Exception as error:  # pyarrow raises all kinds on damaged bytes
        raise DamagedShardError(f"the shard {path} cannot be read: {first_line(error)}") from error
    if wanted != got:
        raise DamagedShardError(f"the shard {path} was altered: its rows do not have its digest.")
    keys = {key: set(table[key].unique().to_pylist()) for key in ("dataset", "repeat", "fold")}
    if keys != {"dataset": {cell.dataset}, "repeat": {cell.repeat}, "fold": {cell.fold}}:
        raise DamagedShardError(f"the shard {path} must hold rows of {cell} alone, got {keys}.")
    for key in sorted(_stamp_keys(table) | set(found)):
        if key not in stamp or found.get(key, stamp[key]) != stamp[key]:
            raise DamagedShardError(f"the shard {path} is of another run: its {key} differs.")
    return table


def table_digest(table: "pa.Table") -> str:
    """Return a digest of the values of a table, whatever its chunks."""
    import pyarrow as pa

    made = blake2b(digest_size=16)
    for name in table.column_names:
        column = table[name].combine_chunks()
        made.update(f"{name}:{len(column)}:".encode())
        if pa.types.is_list(column.type):
            made.update(column.value_lengths().to_numpy(zero_copy_only=False).tobytes())
            column = column.flatten()
        if pa.types.is_string(column.type):
            made.update(json.dumps(column.to_pylist()).encode())
        else:
            made.update(column.to_numpy(zero_copy_only=False).tobytes())
    return made.hexdigest()


def _stamp_keys(table: "pa.Table") -> set[str]:
    """Return the keys of a stamp that the rows depend on."""
    names = {
        f"{key} {name}"
        for key in ("selector", "classifier")
        for name in table[key].unique().to_pylist()
    }
    return {"split"} | names
