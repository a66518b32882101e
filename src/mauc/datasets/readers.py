"""Read data files: a path in, a Dataset out, or an error that names file and column."""

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mauc.datasets.bundled import BUNDLED
from mauc.datasets.dataset import Dataset
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    import pandas as pd


def read_csv(path: str | Path, target: str | None) -> Dataset:
    """Read a CSV file with a header line.

    Parameters
    ----------
    path : str or Path
    target : str
        The column with the labels. All others must be numeric; empty cells are missing
        values.

    Returns
    -------
    dataset : Dataset
    """
    import pandas as pd

    path = Path(path)
    if not path.is_file():
        raise MaucError(f"{path} is neither a file nor a bundled data set ({', '.join(BUNDLED)}).")
    try:
        frame = pd.read_csv(path)
    except pd.errors.EmptyDataError as error:
        raise MaucError(f"{path} is empty; a header line and rows are wanted.") from error
    except pd.errors.ParserError as error:
        raise MaucError(f"{path} cannot be read as CSV: {error}") from error
    except UnicodeDecodeError as error:
        raise MaucError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); "
            f"save it as UTF-8 CSV first."
        ) from error
    return _split_target(frame, path, target)


def _split_target(frame: "pd.DataFrame", path: Path, target: str | None) -> Dataset:
    columns = [str(column) for column in frame.columns]
    frame = frame.set_axis(columns, axis=1)
    if target is None or target not in columns:
        near = get_close_matches(target or "", columns, n=1)
        wanted = (
            "needs a target column (--target)" if target is None else f"has no column {target!r}"
        )
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise MaucError(f"{path} {wanted}{hint} Its columns: {_some(columns)}.")
    if len(frame) == 0:
        raise MaucError(f"{path} has a header line but no rows.")
    if frame[target].isna().any():
        row = int(np.argmax(frame[target].isna().to_numpy()))
        raise MaucError(f"{path}: column {target!r} has no label in data row {row + 1}.")
    features = frame.drop(columns=target)
    for column in features.columns:
        if features[column].dtype.kind not in "iufb":
            raise MaucError(
                f"{path}: column {column!r} is not numeric (such as {features[column].iloc[0]!r}); "
                f"encode it or leave it out."
            )
    return Dataset(path.stem, features.to_numpy(), frame[target].to_numpy(), list(features.columns))


def _some(names: list[str]) -> str:
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
