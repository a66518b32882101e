"""Read ENVI images: a text header and a flat binary file in, values of chosen pixels out."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mauc.datasets.readers.files import check_file, content_error
from mauc.exceptions import MaucError

#: how the flat file beside a header may end; "" is its name without ``.hdr``
DATA_ENDINGS = ("", ".img", ".dat", ".bsq", ".bil", ".bip", ".raw", ".bin")
# By the numbers of ENVI's field "data type"; the types between are complex or texts.
_TYPES = {
    1: "u1", 2: "i2", 3: "i4", 4: "f4", 5: "f8", 12: "u2", 13: "u4", 14: "i8", 15: "u8",
}  # fmt: skip
# The axes of the flat file, the slowest first.
_AXES = {
    "bsq": ("bands", "lines", "samples"),
    "bil": ("lines", "bands", "samples"),
    "bip": ("lines", "samples", "bands"),
}
_UNITS = {"micrometers": "um", "microns": "um", "nanometers": "nm"}


@dataclass(frozen=True)
class Image:
    """An image of ENVI, its values still on disk.

    Parameters
    ----------
    path : Path
        The header.
    data : Path
        The flat file.
    fields : mapping of str to str or list of str
        The header, its keys in lower case; a list where values stand in braces.
    shape : tuple of (int, int, int)
        Lines, samples (columns) and bands.
    dtype : numpy.dtype
        With the byte order of the file.
    interleave : {"bsq", "bil", "bip"}
    offset : int
        Bytes before the first value.
    """

    path: Path
    data: Path
    fields: Mapping[str, Any]
    shape: tuple[int, int, int]
    dtype: np.dtype[Any]
    interleave: str
    offset: int

    def read_pixels(self, pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the values of some pixels, of shape (n_pixels, n_bands); only these are read.

        Parameters
        ----------
        pixels : ndarray of int of shape (n_pixels,)
            Numbers of the pixels, counted along the lines: line * samples + sample.
        """
        n_lines, n_samples, n_bands = self.shape
        sizes = {"lines": n_lines, "samples": n_samples, "bands": n_bands}
        stored = np.memmap(
            self.data, self.dtype, "r", self.offset,
            shape=tuple(sizes[axis] for axis in _AXES[self.interleave]),
        )  # fmt: skip
        native = self.dtype.newbyteorder("=")
        if self.interleave == "bip":
            return np.asarray(stored.reshape(-1, n_bands)[pixels]).astype(native)
        values = np.empty((n_bands, len(pixels)), native)
        lines, samples = np.divmod(pixels, n_samples)
        for band in range(n_bands):
            plane = stored[band] if self.interleave == "bsq" else stored[:, band]
            values[band] = plane[lines, samples]
        return values.T

    def ignored(self) -> float | None:
        """Return the value that stands for no data, if the header names one."""
        text = self.fields.get("data ignore value")
        if text is None:
            return None
        try:
            return float(text)
        except (TypeError, ValueError) as error:
            raise MaucError(
                f"{self.path}: 'data ignore value' must be a number, got {text!r}."
            ) from error

    def band_names(self) -> list[str] | None:
        """Return the names of the bands, or their wavelengths, if there is a different one each."""
        names = _listed(self.fields.get("band names"))
        if len(set(names)) == self.shape[2] == len(names):
            return names
        unit = str(self.fields.get("wavelength units", "")).lower()
        unit = "" if unit == "unknown" else _UNITS.get(unit, unit)
        names = [f"{value} {unit}".strip() for value in _listed(self.fields.get("wavelength"))]
        return names if len(set(names)) == self.shape[2] == len(names) else None

    def class_names(self) -> list[str]:
        """Return the names of the classes 0, 1, ... of a classification; empty without any."""
        return _listed(self.fields.get("class names"))

    def bad_bands(self) -> list[int]:
        """Return the bands, counted from 0, that the header marks as bad (bbl)."""
        marks = _listed(self.fields.get("bbl"))
        if len(marks) != self.shape[2]:
            return []
        return [band for band, mark in enumerate(marks) if mark in ("0", "0.0")]


def open_envi(path: Path) -> Image:
    """Open an image by its header or its flat file, and compare the two.

    Parameters
    ----------
    path : Path
        The header ``NAME.hdr`` (or ``NAME.img.hdr``), or the flat file beside it.

    Returns
    -------
    image : Image
    """
    header = find_header(path)
    fields = read_header(header)
    n_lines, n_samples, n_bands = (
        _whole(header, fields, key, least=1) for key in ("lines", "samples", "bands")
    )
    interleave = str(fields.get("interleave", "bsq")).lower()
    if interleave not in _AXES:
        raise MaucError(f"{header}: 'interleave' must be bsq, bil or bip, got {interleave!r}.")
    code = _whole(header, fields, "data type")
    if code not in _TYPES:
        raise MaucError(
            f"{header}: 'data type' must be one of {', '.join(map(str, _TYPES))} (real numbers), "
            f"got {code}; convert the image to another type."
        )
    order = _whole(header, fields, "byte order", 0)
    if order not in (0, 1):
        raise MaucError(f"{header}: 'byte order' must be 0 (Intel) or 1 (IEEE), got {order}.")
    if _whole(header, fields, "file compression", 0):
        raise MaucError(f"{header}: the image is compressed; save it without compression.")
    dtype = np.dtype(("<", ">")[order] + _TYPES[code])
    offset = _whole(header, fields, "header offset", 0)
    wanted = offset + dtype.itemsize * n_lines * n_samples * n_bands
    data = _find_data(header, path, wanted)
    size = data.stat().st_size
    if size != wanted:
        raise MaucError(
            f"{data} has {size} bytes, but its header {header.name} wants {wanted}: {n_lines} "
            f"lines x {n_samples} samples x {n_bands} bands of {dtype.itemsize} bytes after an "
            f"offset of {offset}. Copy the file again, or correct the header."
        )
    shape = (n_lines, n_samples, n_bands)
    return Image(header, data, fields, shape, dtype, interleave, offset)


def find_header(path: Path) -> Path:
    """Return the header of an image that is given by its header or its flat file."""
    if path.suffix.lower() == ".hdr":
        return path
    names = [f"{path.name}.hdr", f"{path.stem}.hdr"]
    for name in names:
        if path.with_name(name).is_file():
            return path.with_name(name)
    raise MaucError(
        f"{path} needs its header beside it, {' or '.join(dict.fromkeys(names))}, a text with "
        f"samples, lines, bands, data type and interleave."
    )


def image_stem(path: Path) -> str:
    """Return the name of an image without the endings of its header, flat file or .mat file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mauc.datasets.readers.envi import image_stem
    >>> [image_stem(Path(name)) for name in ("a.hdr", "a.img.hdr", "a.bsq", "a.mat")]
    ['a', 'a', 'a', 'a']
    """
    name = path.name[:-4] if path.suffix.lower() in (".hdr", ".mat") else path.name
    stem, dot, ending = name.rpartition(".")
    return stem if dot and f".{ending.lower()}" in DATA_ENDINGS else name


def read_header(path: Path) -> dict[str, Any]:
    """Return the fields of a header, their keys in lower case; lists for values in braces."""
    check_file(path)
    raw = path.read_bytes()
    if not raw.lstrip(b"\xef\xbb\xbf").startswith(b"ENVI"):
        raise content_error(path, "a header of ENVI (its first line is 'ENVI')", raw[:4096])
    lines = raw.decode("utf-8-sig", "replace").splitlines()[1:]
    fields: dict[str, Any] = {}
    rest = iter(lines)
    for line in rest:
        key, equals, value = line.partition("=")
        if not equals or line.lstrip().startswith(";"):
            continue
        value = value.strip()
        if value.startswith("{"):
            while "}" not in value:
                more = next(rest, None)
                if more is None:
                    raise MaucError(f"{path}: the list of {key.strip()!r} has no closing brace.")
                value += " " + more.strip()
            inner = value[1 : value.index("}")]
            fields[_key(key)] = [item.strip() for item in inner.split(",")]
        else:
            fields[_key(key)] = value
    return fields


def _key(text: str) -> str:
    return " ".join(text.lower().split())


def _listed(value: Any) -> list[str]:
    """Return the values of a list that is not empty; one value may stand without braces."""
    if value in (None, "", [""]):
        return []
    return list(value) if isinstance(value, list) else [str(value)]


def _whole(
    path: Path, fields: Mapping[str, Any], key: str, default: int | None = None, least: int = 0
) -> int:
    value = fields.get(key, default)
    if value is None:
        raise MaucError(f"{path} has no field {key!r}, which tells how the image is stored.")
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = -1
    if number < least:
        raise MaucError(f"{path}: {key!r} must be a whole number from {least}, got {value!r}.")
    return number


def _find_data(header: Path, given: Path, n_bytes: int) -> Path:
    """Return the flat file of a header: the one given, or the one beside it."""
    if given != header:
        return given
    stem = image_stem(header)
    names = dict.fromkeys([header.name[:-4], *(stem + ending for ending in DATA_ENDINGS)])
    beside = {path.name.lower(): path for path in header.parent.iterdir() if path.is_file()}
    found = [beside[name.lower()] for name in names if name.lower() in beside]
    fitting = [path for path in found if path.stat().st_size == n_bytes]
    if len(fitting) == 1:
        return fitting[0]
    if not found:
        raise MaucError(
            f"{header} needs the flat file with the values beside it; looked for "
            f"{', '.join(names)}."
        )
    if len(found) > 1:
        listed = ", ".join(path.name for path in found)
        raise MaucError(
            f"{header} has several files beside it that may hold the values: {listed}; "
            f"{len(fitting)} of them have the {n_bytes} bytes that it wants. Remove the others."
        )
    return found[0]
