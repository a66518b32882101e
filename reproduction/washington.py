"""Write the labelled pixels of a hyperspectral image as a table that mauc reads.

    python -m reproduction.washington dc.hdr dc_gt.hdr washington.npz

The image is an ENVI file (its header, or a .mat file with one variable of lines x columns x bands);
the ground truth has the same lines and columns and holds the number of a class, 0 for none. A row
is a pixel with a class, a column a band.
"""

import argparse
from pathlib import Path

import numpy as np


def read_array(path: Path, n_dimensions: int) -> tuple[np.ndarray, list[str]]:
    """Return the array of an ENVI header or .mat file, and its class names if it has any.

    Parameters
    ----------
    path : Path
    n_dimensions : {2, 3}
        2 for a ground truth, lines x columns; 3 for an image, lines x columns x bands.
    """
    if path.suffix.lower() == ".mat":
        from scipy.io import loadmat

        found = {
            name: value
            for name, value in loadmat(path).items()
            if isinstance(value, np.ndarray) and value.ndim == n_dimensions and value.size > 1
        }
        if len(found) != 1:
            names = ", ".join(found) or "none"
            raise SystemExit(
                f"{path} must have one array of {n_dimensions} dimensions, got {names}."
            )
        return next(iter(found.values())), []
    from spectral import envi

    image = envi.open(path)
    array = np.asarray(image.open_memmap(interleave="bip"))
    if n_dimensions == 2:
        if array.shape[2] != 1:
            raise SystemExit(f"{path} must have one band, got {array.shape[2]}.")
        array = array[:, :, 0]
    return array, [name.strip() for name in image.metadata.get("class names", [])]


def labelled_pixels(
    image: np.ndarray, truth: np.ndarray, names: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pixels that have a class, one per row, and their classes.

    `names` are those of the classes from number 0, which is no class; without names, or with too
    few, the numbers are the classes.
    """
    if image.shape[:2] != truth.shape:
        raise SystemExit(
            f"the ground truth must have the {image.shape[0]} x {image.shape[1]} pixels of the "
            f"image, got {truth.shape[0]} x {truth.shape[1]}."
        )
    codes = truth.astype(np.int64)
    has_class = codes > 0
    if not has_class.any():
        raise SystemExit("the ground truth must give a class to some pixel, got 0 everywhere.")
    y = codes[has_class]
    X = image[has_class].astype(image.dtype.newbyteorder("="))
    return X, np.array(names)[y] if len(names) > y.max() else y


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("image", type=Path, help="ENVI header or .mat file.")
    parser.add_argument("truth", type=Path, help="Classes of its pixels; likewise.")
    parser.add_argument("output", type=Path, help="The .npz file to write.")
    options = parser.parse_args(arguments)
    image, _ = read_array(options.image, 3)
    truth, names = read_array(options.truth, 2)
    X, y = labelled_pixels(image, truth, names)
    bands = np.array([f"band_{number}" for number in range(1, X.shape[1] + 1)])
    np.savez_compressed(options.output, X=X, y=y, feature_names=bands)
    classes, counts = np.unique(y, return_counts=True)
    print(f"{len(y)} of {truth.size} pixels have a class; {X.shape[1]} bands; the paper has 11200")
    print("and 210, in 7 classes. Here:")
    for name, count in zip(classes, counts, strict=True):
        print(f"  {name}: {count}")


if __name__ == "__main__":
    main()
