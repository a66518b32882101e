"""Write an expression matrix, genes in lines and samples in columns, as a table that mauc reads.

    python -m reproduction.thyroid matrix.tsv thyroid.npz --labels labels.tsv

The first line has the names of the samples, every further line a gene: its name, then its values.
The classes are a line called class, or a file with one line per sample: its name, its class. A row
of the table is a sample, a column a gene.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd


def read_matrix(path: Path, labels: Path | None = None) -> tuple[pd.DataFrame, pd.Series]:
    """Return one row per sample and one column per gene, and the class of each sample.

    Parameters
    ----------
    path : Path
        A text file, compressed or not; tabs, commas or semicolons separate values.
    labels : Path, optional
        Without it, the matrix has a line called class.
    """
    samples = read_text(path).T
    if labels is None:
        if "class" not in samples:
            raise SystemExit(
                f"{path} must have a line called class, or labels a file of their own."
            )
        y = samples.pop("class")
    else:
        known = read_text(labels, header=None).iloc[:, 0]
        missing = [name for name in samples.index if name not in known.index]
        if missing:
            raise SystemExit(
                f"{labels} must have the class of every sample of {path}, got none for "
                f"{', '.join(missing[:3])}."
            )
        y = known[samples.index]
    if y.isna().any():
        raise SystemExit(f"every sample must have a class, got none for {y.index[y.isna()][0]}.")
    try:
        return samples.astype(np.float64), y.astype(str)
    except ValueError as error:
        raise SystemExit(f"{path} must hold numbers from the second line on: {error}.") from error


def read_text(path: Path, **options: object) -> pd.DataFrame:
    """Return a table of text, its first column as index."""
    table = pd.read_csv(path, sep=None, engine="python", index_col=0, dtype=str, **options)
    table.index = table.index.astype(str).str.strip()
    return table.rename(columns=lambda name: str(name).strip())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("matrix", type=Path, help="Genes in lines, samples in columns.")
    parser.add_argument("output", type=Path, help="The .npz file to write.")
    parser.add_argument("--labels", type=Path, help="One line per sample: its name, its class.")
    options = parser.parse_args(arguments)
    X, y = read_matrix(options.matrix, options.labels)
    genes = X.columns.to_numpy(dtype=str)
    np.savez_compressed(
        options.output, X=X.to_numpy(), y=y.to_numpy(dtype=str), feature_names=genes
    )
    print(f"{X.shape[0]} samples and {X.shape[1]} genes; the paper has 168 and 2000, in 4 classes.")
    print("Here:")
    for name, count in y.value_counts().sort_index().items():
        print(f"  {name}: {count}")


if __name__ == "__main__":
    main()
