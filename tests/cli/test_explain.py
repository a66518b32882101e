"""`mauc explain`: the sentences are those of the library."""

from mauc import GreedyMAUC
from mauc.datasets import load_dataset
from tests.helpers.cli_helpers import refusal, run, run_json


def test_sentences_are_those_of_the_method(wine_file):
    dataset = load_dataset(wine_file, "label")
    selector = GreedyMAUC(3).fit(dataset.X, dataset.y)
    column = dataset.feature_names.index("hue")
    printed = run("explain", wine_file, "hue", "-t", "label", "-k", "3").stdout
    expected = str(selector.explain(column, dataset.X, dataset.y))
    assert printed.splitlines()[0] == "hue was not chosen."
    assert printed.splitlines()[-1] == expected.splitlines()[-1]


def test_json_names_its_schema(wine_file):
    got = run_json("explain", wine_file, "proline", "-t", "label", "-k", "3", "-m", "mdfs")
    assert got["schema"] == "mauc/explain-1"
    assert got["feature"] == "proline"
    assert got["sentences"][0].startswith("proline was ")


def test_an_unknown_feature_is_refused_with_the_nearest(wine_file):
    assert "did you mean 'proline'?" in refusal("explain", wine_file, "prolin", "-t", "label")


def test_columns_that_were_left_out_are_called_so(tmp_path):
    rows = [f"{i},{i % 7 + 3 * (i % 3)},{'abc'[i % 3]}" for i in range(60)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["id,size,label", *rows]))
    assert "left out when the data were read" in refusal("explain", path, "id", "-t", "label")
