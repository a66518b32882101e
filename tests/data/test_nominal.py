"""Nominal columns: found by dtype or flag, replaced by codes, refused with a reason."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from mauc import MDFS, GreedyMAUC
from mauc.data.nominal import category_codes, encode_nominal
from mauc.exceptions import MaucError
from mauc.lab import C45

X = np.array([[3.0, 7.0, 1.5], [1.0, 5.0, 2.5], [3.0, np.nan, 0.5]])


@pytest.mark.parametrize(
    ("column", "codes"),
    [
        ([30, 10, 30, 20], [2, 0, 2, 1]),
        ([0.5, np.nan, -1.0], [1, 2, 0]),
        (["b", None, "a", "b"], [1, 2, 0, 1]),
        (["b", np.nan, "a"], [1, 2, 0]),
        ([True, False, True], [1, 0, 1]),
        ([None, None], [0, 0]),
        ([], []),
    ],
)
def test_codes_of_a_column(column, codes):
    kind = object if any(isinstance(v, str) or v is None for v in column) else None
    assert_array_equal(category_codes(np.array(column, dtype=kind))[1], codes)


@pytest.mark.parametrize(
    ("values", "categories", "codes"),
    [
        (["x", "y", None, "x"], ["y", "z", "x"], [0, 1, 2, 0]),  # by value, not by place
        (["b", "b"], ["b", "a"], [0, 0]),  # only categories that occur
        ([None, None], ["a"], [0, 0]),
        ([], ["a"], []),
    ],
)
def test_codes_of_a_categorical_column(values, categories, codes):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = (
        pd.Series(pd.Categorical(values, categories)),
        pl.Series(values, dtype=pl.Enum(categories)),
        pl.Series(values, dtype=pl.Categorical),
    )
    for column in columns:
        assert_array_equal(category_codes(column)[1], codes)


def test_categories_of_several_types():
    pd = pytest.importorskip("pandas")
    column = pd.Series(["b", "a", 1, 2.5, None], dtype=object)
    for found, wanted in zip(
        category_codes(column.astype("category")), category_codes(column), strict=True
    ):
        assert_array_equal(found, wanted)


def test_values_are_one_category_if_and_only_if_they_are_equal():
    assert_array_equal(category_codes(np.array([1, 1.0, 2], dtype=object))[1], [0, 0, 1])
    _, codes = category_codes(np.array([1, "1", 1], dtype=object))
    assert codes[0] == codes[2] != codes[1]


def test_nothing_nominal_leaves_the_data_alone():
    for flags in (None, [], np.zeros(3, bool)):
        encoded, is_nominal, categories = encode_nominal(X, flags)
        assert encoded is X
        assert categories == {}
        assert not is_nominal.any()


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float32])
def test_codes_are_not_cut_to_the_type_of_the_data(dtype):
    data = np.array([[200, 1], [7, 2], [200, 3]]).astype(dtype)
    encoded, _, categories = encode_nominal(data, [0])
    assert_array_equal(encoded, [[1, 1], [0, 2], [1, 3]])
    assert_array_equal(categories[0], [7, 200])


def test_categorical_columns_of_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "a": pd.Categorical(["v", None, "u"]),
            "b": [1.0, 2.0, 3.0],
            "c": pd.Categorical([3, 1, 3]),
            "d": pd.Categorical(["lo", "hi", "lo"], ["lo", "hi"], ordered=True),
            "e": ["x", "y", "x"],
        },
        index=[7, 8, 9],
    )
    before = frame.copy()
    encoded, is_nominal, _ = encode_nominal(frame, ["e"])
    assert_array_equal(is_nominal, [True, False, True, True, True])
    wanted = [[1, 1, 1, 1, 0], [2, 2, 0, 0, 1], [0, 3, 1, 1, 0]]
    assert_array_equal(encoded.to_numpy(float), wanted)
    assert list(encoded.columns) == list("abcde")
    assert encoded.index.equals(frame.index)
    pd.testing.assert_frame_equal(frame, before)


def test_columns_of_the_same_name_stay_apart():
    pd = pytest.importorskip("pandas")
    frame = pd.concat([pd.Series([3, 1, 3], dtype="category"), pd.Series([0.5, 1.5, 2.5])], axis=1)
    frame.columns = ["a", "a"]
    encoded, is_nominal, _ = encode_nominal(frame)
    assert_array_equal(is_nominal, [True, False])
    assert_array_equal(encoded.to_numpy(float), [[1, 0.5], [0, 1.5], [1, 2.5]])


def test_names_that_are_numbers():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({10: [3, 1], 20: [5, 6]})
    assert_array_equal(encode_nominal(frame, [1])[1], [False, True])


@pytest.mark.parametrize("size", [2, 4])
def test_a_mask_of_another_length(size):
    text = rf"categorical_features as a mask must have 3 entries .*, got {size}"
    with pytest.raises(MaucError, match=text):
        encode_nominal(X, np.zeros(size, bool))


@pytest.mark.parametrize("number", [3, -4, 99])
def test_a_number_out_of_range(number):
    text = rf"categorical_features must be column numbers below 3, got {number}"
    with pytest.raises(MaucError, match=text):
        encode_nominal(X, [0, number])


def test_a_name_without_names():
    with pytest.raises(MaucError, match="names 'a', but X has no column names"):
        encode_nominal(X, ["a"])


def test_an_unknown_name():
    pd = pytest.importorskip("pandas")
    with pytest.raises(MaucError, match="names 'z', but X has no such column"):
        encode_nominal(pd.DataFrame(X, columns=["a", "b", "c"]), ["a", "z"])


def test_one_dimension_is_left_to_the_validation():
    assert len(encode_nominal([1.0, 2.0], [0])[1]) == 0


def arrow_words(words, kind):
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    values = pa.array(words, pa.string())
    types = {
        "string": pa.string(),
        "large_string": pa.large_string(),
        "dictionary": pa.dictionary(pa.int32(), pa.string()),
        "large_dictionary": pa.dictionary(pa.int8(), pa.large_string()),
    }
    if "dictionary" in kind:
        values = values.dictionary_encode()
    return pd.Series(pd.arrays.ArrowExtensionArray(values.cast(types[kind])))


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary", "large_dictionary"])
def test_words_of_arrow_are_nominal(rng, kind):
    pd = pytest.importorskip("pandas")
    y = np.arange(90) % 3
    words = np.array(list("abcd"), dtype=object)[(y + rng.integers(0, 2, 90)) % 4]
    words[[0, 7]] = None
    plain = pd.DataFrame({"x": rng.normal(size=90), "w": pd.Series(words, dtype="category")})
    frame = plain.assign(w=arrow_words(words.tolist(), kind))
    assert str(frame.dtypes["w"]).endswith("[pyarrow]")
    encoded, is_nominal, _ = encode_nominal(frame)
    assert_array_equal(is_nominal, [False, True])
    assert_array_equal(encoded.to_numpy(float), encode_nominal(plain)[0].to_numpy(float))
    for selector in (MDFS("all"), GreedyMAUC("all")):
        wanted = clone(selector).fit(plain, y)
        assert_array_equal(selector.fit(frame, y).scores_, wanted.scores_)
    wanted = C45().fit(plain, y)
    found = C45().fit(frame, y)
    assert_array_equal(found.predict_proba(frame), wanted.predict_proba(plain))
