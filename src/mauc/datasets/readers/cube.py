"""Read image cubes: an image with many bands and its ground truth in, a row per pixel out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mauc.datasets.readers.envi import image_stem, open_envi
from mauc.datasets.readers.ground_truth import (
    SUFFIX,
    GroundTruth,
    find_truth,
    read_truth,
    truth_of_variables,
)
from mauc.datasets.readers.table import Table, first_few
from mauc.exceptions import MaucError


def read_envi(path: Path) -> Table:
    """Read an ENVI image and the ground truth beside it; only labelled pixels are read.

    Parameters
    ----------
    path : Path
        The header ``NAME.hdr`` or its flat file. The ground truth is ``NAME_gt.hdr``, an image of
        one band, or ``NAME_gt.mat``.

    Returns
    -------
    table : Table
        One row per labelled pixel, along the lines of the image, and one column per band.
    """
    image = open_envi(path)
    place = find_truth(image.path)
    if place is None:
        raise _no_truth(image.path, image.shape)
    truth = read_truth(place, image.path, image.shape[:2])
    notes = list(truth.notes)
    labels, values = truth.labels, image.read_pixels(truth.pixels)
    ignored = image.ignored()
    if ignored is not None:
        values, labels, more = _leave_out_ignored(image.path, values, labels, ignored)
        notes += more
    bad = image.bad_bands()
    if bad:
        listed = first_few([str(band + 1) for band in bad])
        notes.append(f"bands marked as bad in the header (bbl), kept all the same: {listed}")
    names = image.band_names() or number_bands(image.shape[2])
    return Table(image.path, values, names, labels=labels, notes=notes)


def is_cube(value: Any) -> bool:
    """Whether a variable is an image with bands: numbers in three dimensions."""
    return isinstance(value, np.ndarray) and value.ndim == 3 and value.dtype.kind in "fiub"


def table_of_cube(path: Path, variables: Mapping[str, Any]) -> Table:
    """Make a table of the image cube of a .mat file and of its ground truth.

    Parameters
    ----------
    path : Path
        The ground truth is ``NAME_gt.mat`` or ``NAME_gt.hdr`` beside it; without these, a
        variable of two dimensions in the same file.
    variables : mapping of str to array
        One of them has three dimensions: lines, columns, bands.
    """
    cubes = {name: value for name, value in variables.items() if is_cube(value)}
    if len(cubes) != 1:
        raise MaucError(
            f"{path} must hold one image cube (a variable of lines x columns x bands), it holds "
            f"{', '.join(cubes)}; save the right one alone."
        )
    name, cube = next(iter(cubes.items()))
    shape = (cube.shape[0], cube.shape[1])
    others = {other: value for other, value in variables.items() if other != name}
    truth = _truth_beside_or_within(path, cube.shape, shape, others)
    lines, columns = np.divmod(truth.pixels, shape[1])
    names = number_bands(cube.shape[2])
    return Table(path, cube[lines, columns], names, labels=truth.labels, notes=truth.notes)


def number_bands(n_bands: int) -> list[str]:
    """Return band_1, band_2, ... for bands without names."""
    return [f"band_{band + 1}" for band in range(n_bands)]


def _truth_beside_or_within(
    path: Path, cube_shape: tuple[int, ...], shape: tuple[int, int], others: Mapping[str, Any]
) -> GroundTruth:
    place = find_truth(path)
    if place is not None:
        return read_truth(place, path, shape)
    if any(np.shape(value) == shape for value in others.values()):
        return truth_of_variables(path, others, path, shape)
    raise _no_truth(path, cube_shape)


def _no_truth(path: Path, shape: tuple[int, ...]) -> MaucError:
    stem = image_stem(path) + SUFFIX
    within = f", or as a second variable of {path.name}" if path.suffix.lower() == ".mat" else ""
    return MaucError(
        f"{path} is an image of {shape[0]} x {shape[1]} pixels and {shape[2]} bands without the "
        f"classes of its pixels: put its ground truth, {shape[0]} x {shape[1]} numbers of classes "
        f"(0 for none), beside it as {stem}.mat or {stem}.hdr{within}."
    )


def _leave_out_ignored(
    path: Path, values: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], ignored: float
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], list[str]]:
    """Leave out pixels without data; where only some bands have none, their values are missing."""
    is_ignored = np.isnan(values) if np.isnan(ignored) else values == ignored
    is_empty = is_ignored.all(axis=1)
    notes = []
    if is_empty.all():
        raise MaucError(
            f"{path}: all labelled pixels hold the 'data ignore value' {ignored:g}; correct the "
            f"header, or the ground truth."
        )
    if is_empty.any():
        notes.append(f"{is_empty.sum()} labelled pixels without data ({ignored:g}) left out")
        values, labels, is_ignored = (part[~is_empty] for part in (values, labels, is_ignored))
    if is_ignored.any():
        notes.append(f"{is_ignored.sum()} values of {ignored:g} (data ignore value) are missing")
        values = np.where(is_ignored, np.nan, values)
    return values, labels, notes
