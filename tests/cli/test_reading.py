"""Files as they are: every command reads them, says how, and hints at options that exist."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from mauc.cli.reading import Reading
from mauc.datasets import load_dataset
from mauc.io.options import COMMAND_LINE
from mauc.selectors import SELECTORS
from tests.helpers.cli_helpers import refusal, run, run_json

N = 60


@pytest.fixture
def birds(tmp_path):
    rng = np.random.default_rng(0)
    species = np.array(["adelie", "gentoo", "chinstrap"])[np.arange(N) % 3]
    frame = pd.DataFrame(
        {
            "id": np.arange(1, N + 1),
            "species": species,
            "mass": 10 * (np.arange(N) % 3) + rng.normal(0, 3, N),
            "bill": 5 * (np.arange(N) % 3 == 1) + rng.normal(0, 2, N),
            "island": np.where(species == "gentoo", "biscoe", rng.choice(["dream", "torg"], N)),
            "sex": rng.choice(["m", "f"], N),
        }
    )
    frame.loc[3, "sex"] = None
    frame.to_csv(tmp_path / "birds.csv", index=False, na_rep="NA")
    return tmp_path / "birds.csv"


@pytest.mark.parametrize("method", SELECTORS)
def test_every_method_takes_a_mixed_table_and_says_how(birds, method):
    result = run("select", birds, "-t", "species", "-m", method)
    assert "2 numbers, 2 nominal" in result.stderr
    assert "left out: 'id', numbers the rows (--keep-ids keeps it)" in result.stderr
    takes = SELECTORS[method].accepts.nominal
    assert (f"as {method} takes numbers only" in result.stderr) is not takes
    assert ("as 6 indicators (0 or 1)" in result.stderr) is not takes


def test_json_has_the_columns(birds):
    got = run_json("select", birds, "-t", "species", "-m", "su")
    line = "2 numbers, 2 nominal; left out: 'id', numbers the rows"
    assert got["columns"] == [line]
    assert run_json("rank", birds, "-t", "species", "-m", "su")["columns"] == [line]
    got = run_json(
        "compare",
        birds,
        "-t",
        "species",
        "-m",
        "su,fsdd",
        "-c",
        "nb",
        "--sizes",
        "2",
        "--repeats",
        1,
        "--folds",
        2,
        "-j",
        1,
        "--progress",
        "quiet",
    )
    assert got["columns"] == [
        line,
        "2 nominal columns as such for su, nb; as codes 0, 1, ... for fsdd",
    ]


def test_columns_says_how_every_column_is_taken(birds):
    result = run("columns", birds, "-t", "species", "--drop", "bill")
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in result.stdout.splitlines()}
    assert lines["id"] == "number 60 - left out numbers the rows"
    assert lines["species"] == "nominal 3 - target"
    assert lines["bill"] == "number 60 - left out --drop"
    assert lines["sex"] == "nominal 2 1.7% feature"
    got = run_json("columns", birds)
    assert got["notes"] == ["no column is the target; --target names it"]
    assert [row["taken"] for row in got["columns"]] == ["left out"] + ["feature"] * 5
    kept = run_json("columns", birds, "-t", "mass", "--keep-ids", "--nominal", "drop")["columns"]
    assert [row["taken"] for row in kept] == [
        "feature",
        "left out",
        "target",
        "feature",
        "left out",
        "left out",
    ]
    assert kept[2]["why"].startswith("column 'mass' holds ")
    assert run_json("columns", "wine")["columns"][-1]["taken"] == "target"


def test_ids_are_kept_if_the_user_says_so(birds):
    result = run("rank", birds, "-t", "species", "-m", "su", "--keep-ids")
    assert "3 numbers, 2 nominal" in result.stderr
    assert "left out" not in result.stderr
    assert " id " in result.stdout


def test_nominal_still_forces(birds):
    words = ("select", birds, "-t", "species", "-m", "su", "-k", "all")
    assert run_json(*words, "--nominal", "onehot")["n_features"] == 8
    assert run_json(*words, "--nominal", "drop")["n_features"] == 2
    assert run_json(*words, "--drop", "sex")["n_features"] == 3
    assert "2 nominal as codes" in run(*words, "--nominal", "ordinal").stderr
    error = refusal(*words, "--nominal", "hot")
    assert "--nominal must be one of auto, keep, ordinal, onehot, drop, got 'hot'" in error


def test_columns_of_many_values_become_codes_for_methods_of_numbers(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"city": rng.integers(0, 150, 600).astype(str), "a": rng.normal(size=600)})
    frame["city"] = "c" + frame["city"]
    frame["y"] = rng.choice(["u", "v"], 600)
    frame.to_csv(tmp_path / "d.csv", index=False)
    result = run("rank", tmp_path / "d.csv", "-t", "y", "-m", "fisher")
    assert "1 number, 1 nominal as codes, as fisher takes numbers only" in result.stderr


def test_pairs_of_a_mixed_table(birds, tmp_path):
    run("rank", birds, "-t", "species", "-m", "su", "--pairs", tmp_path / "auc.csv")
    frame = pd.read_csv(tmp_path / "auc.csv", index_col="feature")
    assert frame.shape[1] == 3
    assert frame.loc["mass"].between(0.5, 1).all()
    assert any(name.startswith("island") for name in frame.index)


def test_score_leaves_out_what_is_no_score(tmp_path):
    frame = pd.DataFrame(
        {
            "id": [1, 2, 3, 4],
            "name": list("wxyz"),
            "u": [0.9, 0.2, 0.8, 0.4],
            "v": [0.1, 0.8, 0.2, 0.6],
            "label": list("uvuv"),
        }
    )
    frame.to_csv(tmp_path / "s.csv", index=False)
    result = run("score", tmp_path / "s.csv", "--bootstrap", 0)
    assert "2 columns of scores; left out: 'id', 'name', no scores" in result.stderr
    assert "AUC 1.0000" in result.stdout


def test_a_file_from_a_pipe(birds):
    code = "from mauc.cli import main; main()"
    command = [
        sys.executable,
        "-c",
        code,
        "rank",
        "-",
        "-t",
        "species",
        "--drop",
        "island",
        "--drop",
        "sex",
    ]
    result = subprocess.run(command, input=birds.read_bytes(), capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    assert b"mauc: warning: stdin: 2 numbers; left out: 'id'" in result.stderr


@pytest.mark.parametrize("command", ["select", "rank", "compare", "score"])
def test_every_command_has_the_options_that_hints_name(command):
    text = run(command, "--help").stdout
    for known in COMMAND_LINE.values():
        assert known.flag.replace("/", " / ") in text, known.flag


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ('a,label\n"1,5",u\n"2,25",v\n', "--decimal ','"),
        ('a,label\n"3,070",u\n"2,250",v\n', "--thousands ','"),
        ("a,label\n1,u\n2,v\n3,u\nlots,v\n", "--missing lots"),
        ("a b,label\n1,u\n2,v\n3,u\nlots,v\n", "--categorical 'a b'"),
        ("5.1,3.5,x\n4,3,y\n", "--no-header"),
        ("a,label\n1,u\n2,\n3,v\n", "--skip-unlabelled"),
        ("my id,label\n9007199254740993,u\n9007199254740995,v\n", "--drop 'my id'"),
        ("day,label\n2020-01-01,u\n2020-01-02,v\n", "--keep-ids"),
        ("a,label\n" + "".join(f"{i},{i % 30}\n" for i in range(50)), "--many-classes"),
    ],
)
def test_hints_are_options_and_following_them_helps(tmp_path, content, hint):
    (tmp_path / "d.csv").write_text(content)
    error = refusal("select", tmp_path / "d.csv", "-t", "label")
    assert hint in error
    # No parameter of Python is left in the message.
    assert not re.search(r"\b(drop|missing|decimal|header|keep_ids|separator|format)=", error)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a;label\n1,5;u\n2,5;v\n3;u\n4;v\n", ["--separator", ";", "--decimal", ","]),
        ('a,label\n"3,070",u\n"2,250",v\n4,u\n5,v\n', ["--thousands", ","]),
        ("a,label\n1,u\n2,v\n3,u\nlots,v\n", ["--missing", "lots"]),
        ("a,label\n1,u\n2,\n3,v\n4,u\n5,v\n", ["--skip-unlabelled"]),
        ("a,label\n1,u\n1,v\n2,v\n2,u\n", ["--categorical", "a", "-m", "su"]),
        ("a;label\n1;ä\n2;b\n3;ä\n4;b\n", ["--encoding", "latin-1", "--separator", ";"]),
    ],
)
def test_the_options_work(tmp_path, content, words):
    (tmp_path / "d.csv").write_text(content, encoding="latin-1")
    got = run_json("select", tmp_path / "d.csv", "-t", "label", *words)
    assert [row["feature"] for row in got["features"]] == ["a"]


def test_a_file_without_names(tmp_path):
    (tmp_path / "d.csv").write_text("1,5,u\n2,6,v\n3,5,u\n4,7,v\n")
    assert run_json("select", tmp_path / "d.csv", "--no-header")["n_features"] == 2


def test_formats_and_bundled_names():
    error = refusal("select", "iris", "--format", "xls")
    assert "--format must be one of" in error
    assert "got 'xls'; did you mean 'xlsx'?" in error
    error = refusal("select", "iris", "--format", "csv")
    assert "--format goes with files, not with the bundled data set 'iris'" in error


def test_a_target_that_is_no_class(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=1200), "price": rng.permutation(1200)})
    frame.to_csv(tmp_path / "d.csv", index=False)
    for command in ("select", "compare"):
        error = refusal(command, tmp_path / "d.csv", "-t", "price")
        assert "column 'price' has 1,200 classes in 1,200 rows" in error
        assert "pass --many-classes" in error
    frame["price"] //= 30
    frame.head(60).to_csv(tmp_path / "d.csv", index=False)
    words = ("select", tmp_path / "d.csv", "-t", "price", "-m", "maucd")
    run(*words, code=2)
    run(*words, "--many-classes")


def make_reading(**given):
    """Return what commands make of their options."""
    words = dict.fromkeys(COMMAND_LINE) | {"nominal": "auto"} | given
    return Reading(words)


def test_messages_in_the_language_of_the_command_line(birds):
    words = ("select", birds, "-t", "species")
    assert "--drop has 'species', which is the target" in refusal(*words, "--drop", "species")
    assert "--separator and --decimal must differ" in refusal(
        *words, "--separator", ";", "--decimal", ";"
    )


def test_reading_gives_the_options_of_the_library():
    assert make_reading().options == {}
    reading = make_reading(
        separator="\\t", header=False, categorical_features=("a",), keep_ids=True
    )
    assert reading.options == {
        "separator": "\t",
        "header": False,
        "categorical_features": ["a"],
        "keep_ids": True,
    }
    assert reading.words("x.csv") == [
        "x.csv",
        "--categorical",
        "a",
        "--keep-ids",
        "--separator",
        "\\t",
        "--no-header",
    ]


def test_defaults_are_the_best_method_and_say_how_to_get_the_papers(birds):
    for command in ("select", "rank"):
        result = run(command, birds, "-t", "species")
        assert "the method is greedy (GreedyMAUC); --method mdfs takes the paper's" in result.stderr
        assert "the method is" not in run(command, birds, "-t", "species", "-m", "mdfs").stderr
    assert run_json("select", birds, "-t", "species")["method"] == "greedy"
    assert run_json("rank", birds, "-t", "species")["method"] == "greedy"
    result = run(
        "compare", "iris", "-c", "nb", "--sizes", "2", "--repeats", 1, "--folds", 2, "-j", 1
    )
    assert "the baseline is greedy (GreedyMAUC); --reference mdfs" in result.stderr
    assert "greedy wins" in result.stdout
    assert "mdfs" in result.stdout


def test_the_page_says_how_columns_were_taken(birds, tmp_path):
    run("select", birds, "-t", "species", "-m", "su", "--report", tmp_path / "p.json")
    page = pd.read_json(tmp_path / "p.json", typ="series")
    assert page["data"]["notes"] == ["2 numbers, 2 nominal; left out: 'id', numbers the rows"]
    assert f"load_dataset({str(birds)!r}, 'species')" in page["reproduce"]["code"]
    run("select", birds, "-t", "species", "-m", "su", "--report", tmp_path / "p.html")
    assert "left out: &#39;id&#39;" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_indicators_of_a_page_can_be_made_again(birds):
    from mauc.cli.fitting import suited
    from mauc.datasets import encode_dataset
    from mauc.selectors import FSDD

    with pytest.warns(UserWarning, match="left out"):
        loaded = make_reading(target="species").load(str(birds))
    dataset = suited(FSDD(2), loaded, "fsdd")
    with pytest.warns(UserWarning, match="left out"):
        again = eval(
            dataset.source, {"load_dataset": load_dataset, "encode_dataset": encode_dataset}
        )
    assert again.fingerprint() == dataset.fingerprint()
