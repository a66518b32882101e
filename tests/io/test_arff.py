"""ARFF files: nominal attributes, sparse rows, quotes, missing values, and errors by line."""

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from mauc.datasets import Dataset, load_dataset, write_table
from mauc.exceptions import LeftOutWarning, MaucError

HEAD = "@relation r\n@attribute a numeric\n@attribute class {u,v}\n@data\n"


@pytest.fixture
def load(write):
    def load(text, target=None, name="data.arff", **options):
        return load_dataset(write(text, name), target, **options)

    return load


def test_dense_rows(load):
    dataset = load(
        "% a comment\n@RELATION 'some data'\n\n@Attribute a REAL\n@attribute\tb\tInteger\n"
        "@ATTRIBUTE color { red, 'light blue' ,green}\n@attribute class {u,v}\n"
        "@DATA\n'1.5', 2, \"red\", u\n% another\n?,3,'light blue',v\n"
    )
    assert dataset.feature_names == ["a", "b", "color"]
    assert dataset.y.tolist() == ["u", "v"]
    assert dataset.target_name == "class"
    assert dataset.categories == {"color": ("red", "light blue", "green")}
    assert_array_equal(dataset.X[["a", "b"]], [[1.5, 2], [np.nan, 3]])
    assert dataset.X["color"].tolist() == ["red", "light blue"]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("'two words'", "two words"),
        ('"it\'s"', "it's"),
        (r"'it\'s'", "it's"),
        ("'100%'", "100%"),
        (r"'a\\b'", "a\\b"),
    ],
)
def test_quoted_names(load, written, name):
    text = f"@relation r\n@attribute {written} numeric\n@attribute class {{u,v}}\n@data\n1,u\n"
    assert load(text).feature_names == [name]


def test_quoted_values_may_hold_commas_and_question_marks(load):
    dataset = load(
        "@relation r\n@attribute a {'x, y','?'}\n@attribute class {u}\n@data\n"
        "'x, y',u\n'?',u\n?,u\n"
    )
    assert dataset.X["a"].tolist() == ["x, y", "?", np.nan]


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
        min_size=1,
        max_size=5,
        unique=True,
    )
)
def test_any_text_comes_back(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("any") / "data.arff"
    frame = pd.DataFrame({"a": pd.Categorical(texts)})
    dataset = Dataset("some", frame, np.array(["u"] * len(texts)), [texts[0]])
    frame.columns = [texts[0]]
    back = load_dataset(write_table(dataset, path), keep_ids=True)
    assert back.feature_names == [texts[0]]
    assert back.X.iloc[:, 0].tolist() == texts


def test_sparse_rows_stay_sparse(load):
    dataset = load(
        "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute class {u,v}\n@data\n"
        "{0 1.5, 2 v}\n{}\n{1 ?}\n{1 -2,0 3,2 'v'}\n"
    )
    assert sparse.issparse(dataset.X)
    assert_array_equal(dataset.X.toarray(), [[1.5, 0], [0, 0], [0, np.nan], [3, -2]])
    assert dataset.y.tolist() == ["v", "u", "u", "v"]


def test_sparse_nominal_columns_begin_with_their_first_value(load):
    dataset = load(
        "@relation r\n@attribute a {red,green}\n@attribute b numeric\n@attribute class {u,v}\n"
        "@data\n{0 green, 2 v}\n{1 7}\n{0 ?}\n"
    )
    assert dataset.X["a"].cat.codes.tolist() == [1, 0, -1]
    assert dataset.X["b"].tolist() == [0, 7, 0]


def test_packed_and_encoded(load):
    text = HEAD.replace("a num", "\xe4 num").encode("latin-1") + b"1,u\n"
    dataset = load(gzip.compress(text), name="data.arff.gz", encoding="latin-1")
    assert dataset.feature_names == ["\xe4"]


def test_string_attributes_are_nominal(load):
    text = "@relation r\n@attribute s string\n@attribute class {u}\n@data\n'some text',u\nb,u\n"
    assert load(text).categories == {"s": ("b", "some text")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation r\n@attribute a numeric\n", "has no @data line"),
        ("@relation r\n@data\n1\n", "line 2: @data comes before any @attribute"),
        ("a,b\n1,2\n", r"line 1: @relation, @attribute, @data or a comment .* got 'a,b'"),
        (HEAD, "has a header but no rows after @data"),
        (
            HEAD + "1,u\n1,2,u\n",
            "line 6: a row of 2 values separated by commas is wanted.* got '1,2,u'",
        ),
        (HEAD + "1\n", "line 5: a row of 2 values"),
        (HEAD + "1,u\nx,v\n", "line 6: attribute 'a' wants a number or .* got 'x'"),
        (HEAD + "1,w\n", r"line 5: attribute 'class' wants one of its declared values \(u, v\)"),
        (HEAD + "1,'u\n", "line 5: a row of 2 values.*quote values that hold blanks"),
        (HEAD + "1,u,{5}\n", "line 5: a row of 2 values.*weights of rows are not read"),
        (HEAD + "1,u\n{0 1}\n", "line 6: a row of 2 values.*dense and sparse rows are not mixed"),
        (HEAD + "{0 1}\n1,u\n", r"line 6: a sparse row .* is wanted"),
        (
            HEAD + "{2 1}\n",
            r"line 5: a sparse row .* with places in \[0, 1\] is wanted.*got '{2 1}'",
        ),
        (HEAD + "{0 x}\n", "line 5: attribute 'a' wants a number"),
        (HEAD + "{0 1, 1 'v'}\n{0 1, 1 v, 0 2}\n", "line 6: .* names the place 0 twice"),
        (HEAD + "{1 'v}\n", "line 5: a sparse row"),
        (HEAD + "1,?\n", "column 'class' has no label in line 5"),
        (
            HEAD.replace("a numeric", "class numeric") + "1,u\n",
            "1 and 2 both have the name 'class'",
        ),
        (HEAD.replace("numeric", "relational") + "1,u\n", "line 2: the type of 'a' must be"),
        (HEAD.replace("numeric", "{x,x}") + "x,u\n", "line 2: the values of 'a' must be different"),
        (HEAD.replace("{u,v}", "{u,v") + "1,u\n", "line 3: the values of 'class' must end"),
        (HEAD.replace(" a numeric", "") + "1,u\n", "line 2: an attribute is written"),
        (HEAD.replace("numeric", "date") + "2001-01-01,u\n", "left out: 'a', dates.*keep_ids"),
        (
            HEAD + "9007199254740993,u\n9007199254740995,v\n",
            r"column 'a' holds integers beyond 2\*\*53",
        ),
        (
            HEAD + "{0 9007199254740993}\n{0 9007199254740995}\n",
            r"column 'a' holds integers beyond 2\*\*53",
        ),
    ],
)
def test_bad_files(load, text, message):
    with pytest.raises(MaucError, match=message) as caught:
        load(text)
    assert "data.arff" in str(caught.value)


def test_comments_may_follow_on_any_line(load):
    dataset = load(
        "@relation r % what\n@attribute 'a % b' numeric % how\n@attribute c {x, 'y % z'} % brace\n"
        "@attribute class {u,\n  v} % goes on\n@data % here\n1,'y % z',u % row\n% all\n2,x,v\n"
    )
    assert dataset.feature_names == ["a % b", "c"]
    assert dataset.categories["c"] == ("x", "y % z")
    assert dataset.X["c"].tolist() == ["y % z", "x"]
    assert dataset.y.tolist() == ["u", "v"]


def test_dates_are_left_out_or_kept_as_text(load):
    text = HEAD.replace("@attribute class", "@attribute day date\n@attribute class")
    text += "1,2001-01-01,u\n2,2001-01-02,v\n"
    with pytest.warns(LeftOutWarning, match="left out: 'day', dates; keep_ids=True keeps it"):
        assert load(text).feature_names == ["a"]
    assert load(text, keep_ids=True).nominal_features == ["day"]
    assert load(text, target="a", drop="day").y.tolist() == [1, 2]
