"""ENVI images: all layouts give the same pixels, and headers that do not fit are named."""

import numpy as np
import pytest

from mauc.datasets.readers.envi import open_envi, read_header
from mauc.exceptions import MaucError
from tests.helpers.image_files import AXES, CODES, CUBE, write_envi

PIXELS = np.array([0, 2, 7, 11])
WANTED = CUBE.reshape(12, 5)[PIXELS]


def test_a_pixel_counted_by_hand(tmp_path):
    # Pixel 7 of 4 columns is line 1, column 3: the values 36 to 40.
    image = open_envi(write_envi(tmp_path / "a", CUBE))
    assert image.shape == (3, 4, 5)
    assert image.read_pixels(np.array([7])).tolist() == [[36, 37, 38, 39, 40]]


@pytest.mark.parametrize("interleave", AXES)
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("dtype", CODES)
def test_layouts_byte_orders_and_types_give_the_same_values(tmp_path, interleave, order, dtype):
    path = write_envi(
        tmp_path / "a", CUBE, interleave=interleave, order=order, dtype=dtype, offset=7
    )
    values = open_envi(path).read_pixels(PIXELS)
    np.testing.assert_array_equal(values, WANTED)
    assert values.dtype == np.dtype(dtype)
    assert values.dtype.isnative
    assert not isinstance(values, np.memmap)  # the file may go


@pytest.mark.parametrize("ending", ["", ".img", ".dat", ".bsq", ".raw", ".IMG"])
def test_the_flat_file_beside_the_header(tmp_path, ending):
    header = write_envi(tmp_path / "a", CUBE, ending=ending)
    np.testing.assert_array_equal(open_envi(header).read_pixels(PIXELS), WANTED)
    if ending != ".IMG":
        flat = tmp_path / f"a{ending}"
        np.testing.assert_array_equal(open_envi(flat).read_pixels(PIXELS), WANTED)


def test_a_header_called_after_its_flat_file(tmp_path):
    write_envi(tmp_path / "a", CUBE).rename(tmp_path / "a.img.hdr")
    for name in ("a.img.hdr", "a.img"):
        np.testing.assert_array_equal(open_envi(tmp_path / name).read_pixels(PIXELS), WANTED)


def test_of_several_flat_files_the_one_of_the_right_size(tmp_path):
    header = write_envi(tmp_path / "a", CUBE)
    (tmp_path / "a.dat").write_bytes(b"notes")
    assert open_envi(header).data.name == "a.img"
    (tmp_path / "a.dat").write_bytes((tmp_path / "a.img").read_bytes())
    with pytest.raises(MaucError, match=r"several files beside it .*: a\.img, a\.dat; 2 of them"):
        open_envi(header)


def test_headers_have_lists_over_lines_comments_and_any_case(tmp_path):
    path = tmp_path / "a.hdr"
    text = "ENVI\nSamples=4\r\n Band  Names = {\n one,\n two }\nempty = {}\n;x = 1\nnothing\n"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_header(path) == {"samples": "4", "band names": ["one", "two"], "empty": [""]}


def test_names_of_bands_are_names_or_wavelengths(tmp_path):
    five = "{1.5, 2.5, 3.5, 4.5, 5.5}"
    names = "band names = {a, b, c, d, e}"
    waves = [f"wavelength = {five}", "wavelength units = Micrometers"]

    def read(*extra):
        return open_envi(write_envi(tmp_path / "a", CUBE, extra=extra)).band_names()

    assert read(names, *waves) == ["a", "b", "c", "d", "e"]
    assert read(*waves)[:2] == ["1.5 um", "2.5 um"]
    assert read(waves[0], "wavelength units = Unknown")[:2] == ["1.5", "2.5"]
    assert read("band names = {a, a, a, a, a}", waves[0])[0] == "1.5"
    assert read("band names = {a, b}") is None
    assert read() is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("samples = 4\n", "", r"a\.hdr has no field 'samples'"),
        ("bands = 5", "bands = five", r"'bands' must be a whole number from 1, got 'five'"),
        ("bands = 5", "bands = 0", r"'bands' must be a whole number from 1, got '0'"),
        ("bands = 5", "bands = 4", r"a\.img has 120 bytes, but its header a\.hdr wants 96: 3 "),
        ("bands = 5", "bands = 50", "has 120 bytes, but its header a.hdr wants 1200"),
        ("= bsq", "= bbq", "'interleave' must be bsq, bil or bip, got 'bbq'"),
        ("data type = 2", "data type = 6", r"'data type' must be one of 1, .*, got 6; convert"),
        ("byte order = 0", "byte order = 2", "'byte order' must be 0"),
        ("byte order = 0", "file compression = 1", "is compressed; save it without"),
        ("byte order = 0", "bbl = {1, 0", "the list of 'bbl' has no closing brace"),
        ("ENVI\n", "NROWS 3\n", "is not a header of ENVI .*: by its first bytes it is text"),
    ],
)
def test_headers_that_do_not_fit(tmp_path, old, new, message):
    path = write_envi(tmp_path / "a", CUBE)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(MaucError, match=message):
        open_envi(path)


def test_files_that_are_missing(tmp_path):
    header = write_envi(tmp_path / "a", CUBE)
    (tmp_path / "a.img").rename(tmp_path / "b.img")
    with pytest.raises(MaucError, match=r"needs the flat file .* looked for a, a\.img, a\.dat, "):
        open_envi(header)
    with pytest.raises(MaucError, match=r"needs its header beside it, b\.img\.hdr or b\.hdr"):
        open_envi(tmp_path / "b.img")
    with pytest.raises(MaucError, match="does not exist"):
        open_envi(tmp_path / "c.hdr")


def test_what_the_header_says_of_values(tmp_path):
    extra = ["data ignore value = -9999", "bbl = {1, 0, 1, 1, 0}", "class names = {u, v}"]
    image = open_envi(write_envi(tmp_path / "a", CUBE, extra=extra))
    assert (image.ignored(), image.bad_bands()) == (-9999.0, [1, 4])
    assert image.class_names() == ["u", "v"]
    image = open_envi(write_envi(tmp_path / "a", CUBE, extra=["data ignore value = none"]))
    with pytest.raises(MaucError, match="'data ignore value' must be a number, got 'none'"):
        image.ignored()
