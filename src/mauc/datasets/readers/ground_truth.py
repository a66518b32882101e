"""Read the ground truth of an image cube: which class each pixel has, if any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mauc.datasets.readers.envi import image_stem, open_envi
from mauc.datasets.readers.mat_variables import load_variables, plain_texts
from mauc.exceptions import MaucError

#: how the file of the ground truth is called beside that of the cube
SUFFIX = "_gt"
_ENDINGS = (".mat", ".hdr")
# Names of classes that are none.
_NO_CLASS = {"unclassified", "unlabelled", "unlabeled", "background"}
_CLASS_NAMES = ("classes", "class_names", "classNames", "names")


@dataclass(frozen=True)
class GroundTruth:
    """The pixels that have a label, and these labels.

    Parameters
    ----------
    pixels : ndarray of int of shape (n_pixels,)
        Their numbers, counted along the lines of the image.
    labels : ndarray of shape (n_pixels,)
        Names of classes where they are known, otherwise whole numbers.
    notes : list of str
    """

    pixels: np.ndarray[Any, Any]
    labels: np.ndarray[Any, Any]
    notes: list[str]


def find_truth(cube: Path) -> Path | None:
    """Return the file of the ground truth beside a cube: ``NAME_gt.mat`` or ``NAME_gt.hdr``.

    A cube ``NAME_corrected`` belongs to ``NAME_gt`` as well, as collections of such images have it.
    """
    stem = image_stem(cube)
    wanted = [stem + SUFFIX, stem.removesuffix("_corrected") + SUFFIX]
    found = sorted(
        path
        for path in cube.parent.iterdir()
        if path.suffix.lower() in _ENDINGS and image_stem(path) in wanted and path.is_file()
    )
    if len(found) > 1:
        listed = ", ".join(path.name for path in found)
        raise MaucError(f"{cube} has more than one ground truth beside it: {listed}; remove one.")
    return found[0] if found else None


def read_truth(path: Path, cube: Path, shape: tuple[int, int]) -> GroundTruth:
    """Read a file of ground truth.

    Parameters
    ----------
    path : Path
        A .mat file with one variable of two dimensions, or the header of an ENVI image of one band.
    cube : Path
        For errors.
    shape : tuple of (int, int)
        Lines and columns of the cube.
    """
    if path.suffix.lower() == ".mat":
        variables = load_variables(path, "the ground truth as a variable of two dimensions")
        return truth_of_variables(path, variables, cube, shape)
    image = open_envi(path)
    if image.shape[2] != 1:
        raise MaucError(
            f"{image.path}: the ground truth of {cube.name} must have 1 band with the number of "
            f"the class, got {image.shape[2]} bands."
        )
    _check_shape(image.path, "it", image.shape[:2], cube, shape)
    codes = image.read_pixels(np.arange(shape[0] * shape[1]))[:, 0]
    ignored = image.ignored()
    if ignored is not None:
        codes = np.where(codes == ignored, 0, codes)
    return label_pixels(image.path, codes, image.class_names())


def truth_of_variables(
    path: Path, variables: Mapping[str, Any], cube: Path, shape: tuple[int, int]
) -> GroundTruth:
    """Return the ground truth that is one of the variables of a .mat file."""
    flat = {
        name: value for name, value in variables.items()
        if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "fiub"
    }  # fmt: skip
    fitting = [name for name, value in flat.items() if value.shape == shape]
    if not flat:
        raise MaucError(
            f"{path} must hold the ground truth of {cube.name} as a numeric variable of two "
            f"dimensions, {shape[0]} x {shape[1]}; it holds {', '.join(variables) or 'nothing'}."
        )
    if len(fitting) > 1:
        raise MaucError(
            f"{path} holds several variables of {shape[0]} x {shape[1]} that may be the ground "
            f"truth: {', '.join(fitting)}; save the right one alone, as "
            f"{image_stem(cube)}{SUFFIX}.mat."
        )
    if not fitting:
        name, value = max(flat.items(), key=lambda item: item[1].size)
        _check_shape(path, f"its variable {name!r}", value.shape, cube, shape)
    names = next((variables[name] for name in _CLASS_NAMES if name in variables), None)
    texts = [] if names is None else [str(name) for name in np.ravel(plain_texts(names))]
    return label_pixels(path, np.ravel(flat[fitting[0]]), texts)


def _check_shape(
    path: Path, what: str, got: Sequence[int], cube: Path, wanted: tuple[int, int]
) -> None:
    if tuple(got) != wanted:
        turned = tuple(got) == wanted[::-1]
        raise MaucError(
            f"{path}: {what} is {got[0]} x {got[1]} pixels, but the cube {cube.name} is "
            f"{wanted[0]} x {wanted[1]} (lines x columns). The two must be of the same scene"
            f"{'; one of them is transposed.' if turned else ', cut alike.'}"
        )


def label_pixels(path: Path, codes: np.ndarray[Any, Any], names: list[str]) -> GroundTruth:
    """Return the labelled pixels of an image whose values are numbers of classes.

    Parameters
    ----------
    path : Path
        For errors.
    codes : ndarray of shape (n_pixels,)
        0 and NaN are no label.
    names : list of str
        Of the classes 0, 1, ..., as ENVI has them, or of 1, 2, ... without a name for 0; empty if
        there are none.
    """
    if codes.dtype.kind == "f":
        codes = np.where(np.isnan(codes), 0, codes)
    is_wrong = (codes < 0) | (codes != np.round(codes))
    if is_wrong.any():
        raise MaucError(
            f"{path}: the ground truth must hold whole numbers, 0 for pixels without a label, got "
            f"{codes[is_wrong][0]}. Is it the image itself?"
        )
    codes = codes.astype(np.int64)
    pixels = np.flatnonzero(codes)
    if len(pixels) == 0:
        raise MaucError(f"{path}: no pixel has a label; all are 0.")
    notes: list[str] = []
    labels = codes[pixels]
    if names:
        highest = int(labels.max())
        if len(names) == highest and names[0].lower() not in _NO_CLASS:
            names = ["Unclassified", *names]  # MATLAB counts from 1
        if len(names) <= highest:
            raise MaucError(
                f"{path}: it has {len(names)} names of classes, but a pixel of class {highest}; "
                f"give each class its name, the first for 0 (Unclassified)."
            )
        if names[0].lower() not in _NO_CLASS and len(pixels) < len(codes):
            n_zero = len(codes) - len(pixels)
            notes.append(f"{n_zero} pixels of class 0 ({names[0]!r}) left out as unlabelled")
        used = np.unique(labels).tolist()
        _check_names(path, [names[code] for code in used])
        unnamed = [code for code in used if names[code].lower() in _NO_CLASS]
        pixels, labels = (part[~np.isin(labels, unnamed)] for part in (pixels, labels))
        labels = np.array(names)[labels]
    notes.insert(0, f"{len(pixels)} of {len(codes)} pixels have a label ({path.name})")
    return GroundTruth(pixels, labels, notes)


def _check_names(path: Path, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise MaucError(f"{path}: two classes have the name {name!r}; rename one of them.")
