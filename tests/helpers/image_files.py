"""Small image cubes, written as ENVI or MATLAB files have them."""

import numpy as np

# ENVI's numbers of data types.
CODES = {"u1": 1, "i2": 2, "i4": 3, "f4": 4, "f8": 5, "u2": 12, "u4": 13, "i8": 14, "u8": 15}
AXES = {"bsq": (2, 0, 1), "bil": (0, 2, 1), "bip": (0, 1, 2)}
CUBE = np.arange(1, 61).reshape(3, 4, 5)  # 3 lines, 4 columns, 5 bands
TRUTH = np.array([[1, 0, 2, 2], [0, 0, 1, 3], [3, 0, 0, 1]])
NAMES = "class names = {Unclassified, roof, grass, water}"


def write_envi(
    path, cube, *, interleave="bsq", dtype="i2", order="<", ending=".img", offset=0, extra=()
):
    """Write `path` with the ending .hdr, and its flat file."""
    header = path.with_name(f"{path.name}.hdr")
    if cube.ndim == 2:
        cube = cube[:, :, None]
    n_lines, n_samples, n_bands = cube.shape
    flat = np.ascontiguousarray(cube.transpose(AXES[interleave])).astype(order + dtype)
    path.with_name(path.name + ending).write_bytes(b"h" * offset + flat.tobytes())
    lines = [
        "ENVI", "description = {", "  made up, for tests}", "; a comment = none",
        f"samples = {n_samples}", f"lines   = {n_lines}", f"bands = {n_bands}",
        f"header offset = {offset}", "file type = ENVI Standard", f"data type = {CODES[dtype]}",
        f"interleave = {interleave}", f"byte order = {int(order == '>')}", *extra,
    ]  # fmt: skip
    header.write_text("\n".join(lines) + "\n")
    return header


def write_mall(folder, name="washington", n_bands=6, seed=0):
    """Write a made-up scene of 24 x 20 pixels and 3 classes that bands tell apart, as ENVI."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, (24, 20))
    means = np.outer(np.arange(4), np.arange(1, n_bands + 1))
    cube = 1000 + 10 * means[truth] + rng.normal(0, 15, (*truth.shape, n_bands))
    write_envi(folder / name, cube.round(), interleave="bil", ending="")
    write_envi(folder / f"{name}_gt", truth, dtype="u1", ending=".img", extra=[NAMES])
    return cube.round(), truth
