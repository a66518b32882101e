"""Write tables with columns: csv, tsv, parquet and feather, the labels last."""

from typing import IO, TYPE_CHECKING, Any

from scipy import sparse

from mauc.data.columns import is_frame
from mauc.datasets.dataset import MAX_DENSE_CELLS, Dataset
from mauc.datasets.readers.lines import is_number
from mauc.datasets.readers.missing import MISSING, MISSING_LABELS
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    import pandas as pd


def as_frame(dataset: Dataset) -> "pd.DataFrame":
    """Return features and labels as one data frame."""
    import pandas

    X = dataset.X
    if sparse.issparse(X):
        if X.shape[0] * X.shape[1] > MAX_DENSE_CELLS:
            raise MaucError(
                f"{dataset.name}: a sparse table of {X.shape[0]} x {X.shape[1]} is too large to be "
                f"made dense; write svmlight (.svm) or arff, which leave out zeros."
            )
        X = X.toarray()
    if not is_frame(X):
        if X.dtype.kind == "b":  # numbers 0 and 1 here, but a nominal column when read
            X = X.astype("uint8")
        X = pandas.DataFrame(X, columns=dataset.feature_names)
    labels = pandas.Series(dataset.y, index=X.index, name=dataset.target_name)
    frame: pd.DataFrame = pandas.concat([X, labels], axis=1)
    return frame


def write_csv(dataset: Dataset, file: IO[bytes], separator: str = ",") -> None:
    """Write a csv file: UTF-8, a header line, nothing for a missing value."""
    frame = as_frame(dataset)
    check_texts(dataset, frame)
    write_text_part(frame, file, separator)


def write_text_part(
    frame: "pd.DataFrame", file: IO[bytes], separator: str, *, has_header: bool = True
) -> None:
    """Write rows of a csv or tsv file, behind those that are there."""
    # The shortest text of a float32 stands for another float64, and text is read as float64.
    narrow = {name: "float64" for name in frame.columns if str(frame[name].dtype) == "float32"}
    frame.astype(narrow).to_csv(
        file, index=False, sep=separator, lineterminator="\n", encoding="utf-8", header=has_header
    )


def write_tsv(dataset: Dataset, file: IO[bytes]) -> None:
    """Write a tsv file."""
    write_csv(dataset, file, "\t")


def write_parquet(dataset: Dataset, file: IO[bytes]) -> None:
    """Write a Parquet file."""
    import pyarrow.parquet as parquet

    parquet.write_table(_as_arrow(dataset), file)


def write_feather(dataset: Dataset, file: IO[bytes]) -> None:
    """Write a Feather (Arrow IPC) file."""
    import pyarrow.ipc as ipc

    columns = _as_arrow(dataset)
    with ipc.new_file(file, columns.schema) as writer:
        writer.write_table(columns)


def _as_arrow(dataset: Dataset) -> Any:
    import pyarrow as arrow

    return arrow.Table.from_pandas(as_frame(dataset), preserve_index=False)


def check_texts(dataset: Dataset, frame: "pd.DataFrame") -> None:
    """Raise if a text of a csv file would be read as a missing value."""
    for name in [*dataset.nominal_features, dataset.target_name]:
        texts = {str(value).strip() for value in frame[name].dropna().unique()}
        gaps = texts & set(MISSING)
        if name == dataset.target_name and not all(map(is_number, texts - gaps)):
            gaps = texts & set(MISSING_LABELS)  # the other words are names among names
        if gaps:
            raise MaucError(
                f"{dataset.name}: column {name!r} has the value {min(gaps)!r}, "
                f"which stands for a missing value in a csv file; write parquet or arff."
            )
