"""Plans: TOML and Python say the same, and every slip of the pen is named."""

import math
import tomllib

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mauc.exceptions import MaucError
from mauc.experiments import (
    Cell,
    DatasetSpec,
    MethodSpec,
    Plan,
    TuningSpec,
    parse_plan,
    plan_schema,
    plan_to_toml,
    read_plan,
    run_plan,
)
from tests.helpers.run_tools import make_plan


def small(**parts):
    """The text of a small plan, some lines of which are others."""
    known = {"datasets": '["wine"]', "selectors": '["mdfs"]', "classifiers": '["nb"]'}
    return "\n".join(f"{key} = {value}" for key, value in {**known, **parts}.items())


def test_a_small_plan_has_the_cells_one_can_count():
    plan = parse_plan(small(sizes="[2, 4]", repeats=2, folds=3))
    assert plan.cells()[:4] == [
        Cell("wine", 0, 0),
        Cell("wine", 0, 1),
        Cell("wine", 0, 2),
        Cell("wine", 1, 0),
    ]
    assert len(plan.cells()) == 2 * 3
    assert plan.name == "plan"
    assert plan.selectors == (MethodSpec("mdfs", "mdfs"),)


def test_words_and_tables_and_both_forms_of_sizes_say_the_same():
    plan = parse_plan(small(sizes="{from = 2, to = 8, step = 3}"))
    tables = parse_plan(
        'datasets = [{name = "wine", source = "wine"}]\nselectors = [{method = "mdfs"}]\n'
        'classifiers = [{name = "nb"}]\nsizes = [2, 5, 8]'
    )
    assert plan == tables


#: slips of the pen: the text, the end of the message, and whether the schema refuses it, too
SLIPS = [
    (small(fold=3), "a key of the plan .* did you mean 'folds'", True),
    (small(tuning="{scop = 'fold'}"), "a key of tuning .* did you mean 'scope'", True),
    (small(tuning="{scope = 'folds'}"), "tuning.scope .* did you mean 'fold'", True),
    (small(selectors="['mdsf']"), "selector .* did you mean 'mdfs'", True),
    (small(classifiers="['NB']"), "classifier .* did you mean 'nb'", True),
    (small(classifiers="['c4.5']"), "classifier .* did you mean 'c45'", False),
    (small(selectors="[{metod = 'mdfs'}]"), r"a key of selectors\[0\] .* 'method'", True),
    (small(datasets="[{name = 'w', sorce = 'w'}]"), r"key of datasets\[0\] .*'source'", True),
    (
        small(datasets="[{name = 'w', options = {seperator = ';'}}]"),
        "an option of a data set .* did you mean 'separator'",
        True,
    ),
    (
        small(selectors="[{method = 'mdfs', options = {shedule = 'random'}}]"),
        "option of selector mdfs .* did you mean 'schedule'",
        False,
    ),
    (
        small(selectors="[{method = 'mdfs', options = {schedule = 'hardst'}}]"),
        "mdfs: schedule .* did you mean 'hardest'",
        False,
    ),
    (
        small(classifiers="[{method = 'c45', options = {confidence = 2}}]"),
        r"c45: confidence must be a number in \(0, 0.5\]",
        False,
    ),
    (
        small(classifiers="[{method = 'sklearn.svm.SVC', options = {c = 1}}]"),
        "option of sklearn.svm.SVC .* did you mean 'C'",
        False,
    ),
    (small(sizes="{from = 1, two = 3}"), "a key of sizes .* did you mean 'to'", True),
    ('datasets = ["wine"]', "selectors is missing", True),
    (small(datasets="'wine'"), "datasets must be a valid tuple, got 'wine'", True),
    (small(datasets="[]"), "datasets must not be empty", True),
    (small(datasets="[3]"), r"datasets\[0\] must be a word, a table or a DatasetSpec, got 3", True),
    (small(datasets="[{name = 3}]"), r"datasets\[0\].name must be a valid string, got 3", True),
    (small(datasets="[{source = 'wine'}]"), r"datasets\[0\].name is missing", True),
    (small(datasets="['wine', 'wine']"), "different names, got 'wine' 2 times", False),
    (small(datasets="['..']"), r"short word without slashes, got '\.\.'", False),
    (small(datasets="['a/b']"), "short word without slashes", False),
    (small(datasets=f"[{{name = '{'é' * 80}', source = 'wine'}}]"), "short word", False),
    (small(selectors="[{options = {}}]"), r"selectors\[0\].name is missing", True),
    (
        small(selectors="[{name = 'mdfs', options = 3}]"),
        r"selectors\[0\].options must be a valid dictionary, got 3",
        True,
    ),
    (small(selectors="['no_module.Nothing']"), "No module named 'no_module'", False),
    (small(selectors="['os.getcwd']"), "must be the import path of an estimator", False),
    (
        small(selectors="['tests.helpers.crashing_methods.NeedyMethod']"),
        "parameters have defaults",
        False,
    ),
    (
        small(selectors="[{method = 'mdfs', options = {n_features_to_select = 3}}]"),
        "mdfs: the sizes of the plan say how many features to select",
        False,
    ),
    (small(sizes="[]"), "sizes must not be empty", True),
    (small(sizes="[2, 2]"), "sizes must ascend", False),
    (small(sizes="[0, 2]"), r"sizes\[0\] must be greater than or equal to 1, got 0", True),
    (small(sizes="[true]"), r"sizes\[0\] must be a valid integer, got True", True),
    (small(sizes="{from = 1, to = 9, step = 0}"), "sizes as a table must be", True),
    (small(sizes="4"), "sizes must be a valid tuple, got 4", True),
    (small(folds=1), "folds must be greater than or equal to 2, got 1", True),
    (small(max_rows=9), "max_rows must be greater than or equal to 10, got 9", True),
    (small(repeats="1.0"), "repeats must be a valid integer, got 1.0", False),
    (small(tuning=3), "tuning must be a table or a TuningSpec, got 3", True),
    (small(classifiers="[{method = 'nb', options = {x = 1979-05-27}}]"), "must hold texts", False),
]


@pytest.mark.parametrize(("text", "message", "is_in_schema"), SLIPS)
def test_every_slip_is_named_and_editors_see_what_the_schema_can_say(text, message, is_in_schema):
    with pytest.raises(MaucError, match=f"(?s)the plan: .*{message}"):
        parse_plan(text)
    errors = jsonschema.Draft7Validator(plan_schema()).iter_errors(tomllib.loads(text))
    assert any(errors) == is_in_schema


def test_what_is_no_toml_or_no_data_set_is_named(tmp_path):
    with pytest.raises(MaucError, match="the plan is not valid TOML"):
        parse_plan("datasets = [")
    with pytest.raises(MaucError, match=r"data set wnie: .* did you mean 'wine'"):
        run_plan(parse_plan(small(datasets="['wnie']")), tmp_path / "run", engine="serial")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_plan(datasets=(3,)), r"datasets\[0\] must be a word, a table or a Data.* 3"),
        (lambda: make_plan(folds=True), "folds must be a valid integer, got True"),
        (lambda: Plan("x", (DatasetSpec("wine"),), "mdfs", ()), "selectors must be a valid tuple"),
        (lambda: MethodSpec("a", "mdfs", {"schedule": None}), "MethodSpec.options .* got None"),
        (lambda: MethodSpec("a", "nb", {1: 2}), "MethodSpec.options.* be a valid string, got 1"),
        (lambda: DatasetSpec("a/b"), "DatasetSpec.name must be a short word .* got 'a/b'"),
        (lambda: DatasetSpec("a", sorce="b"), "a key of DatasetSpec .* did you mean 'source'"),
        (lambda: TuningSpec("folds"), "TuningSpec.scope .* did you mean 'fold'"),
        (DatasetSpec, "DatasetSpec.name is missing"),
    ],
)
def test_what_is_made_in_python_is_checked_as_well(make, message):
    with pytest.raises(MaucError, match=message):
        make()


def test_lists_ranges_and_numpy_numbers_make_the_same_plan():
    plan = make_plan(sizes=(2, 4, 6))
    for sizes in ([2, 4, 6], range(2, 7, 2), np.arange(2, 7, 2)):
        assert make_plan(sizes=sizes) == plan
    assert (
        Plan(
            plan.name,
            list(plan.datasets),
            list(plan.selectors),
            list(plan.classifiers),
            plan.sizes,
            plan.repeats,
            plan.folds,
        )
        == plan
    )


IMPORTED = "sklearn.feature_selection.SelectKBest"  # whose options may have any value
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = TEXT.filter(
    lambda name: (
        name.isprintable()
        and name == name.strip()
        and name not in ("", ".", "..")
        and "/" not in name
        and "\\" not in name
    )
)
VALUES = st.recursive(
    TEXT | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(
    names=st.lists(NAMES, min_size=2, max_size=2, unique=True),
    source=TEXT.filter(len),
    value=VALUES,
    target=st.none() | TEXT.filter(len),
    size=st.none() | st.integers(1, 9),
)
def test_a_plan_written_and_read_is_the_same_plan(names, source, value, target, size):
    plan = make_plan(
        name=names[0],
        datasets=(DatasetSpec(names[0], source, target, {"missing": value}), DatasetSpec(names[1])),
        selectors=(
            MethodSpec(names[1], IMPORTED, {"k": value}),
            MethodSpec('it\'s "q"', "su"),
        ),
        classifiers=(MethodSpec("中 文", "nb"), MethodSpec(names[0], "svm", {"C": 1e-300})),
        tuning=TuningSpec("fold_size", "full", 5, 10, size),
    )
    assert parse_plan(plan_to_toml(plan)) == plan


def test_the_schema_takes_what_plan_to_toml_writes():
    plan = make_plan(
        datasets=(DatasetSpec("mine", "mine.csv", "label", {"drop": ["id"]}),),
        selectors=(MethodSpec("f", "sklearn.feature_selection.SelectKBest"), MethodSpec("mdfs")),
        tuning=TuningSpec(size=3),
        max_rows=50,
    )
    written = tomllib.loads(plan_to_toml(plan))
    assert list(jsonschema.Draft7Validator(plan_schema()).iter_errors(written)) == []


def test_nan_survives_the_way_through_toml():
    plan = make_plan(selectors=(MethodSpec("a", IMPORTED, {"k": [math.nan, -math.inf]}),))
    nan, inf = parse_plan(plan_to_toml(plan)).selectors[0].options["k"]
    assert math.isnan(nan)
    assert inf == -math.inf


def test_a_source_beside_the_plan_is_found_from_there(tmp_path):
    (tmp_path / "calls.csv").write_text("a,label\n1,x\n")
    path = tmp_path / "mine.toml"
    text = small(datasets='[{name = "calls", source = "calls.csv", target = "label"}]')
    path.write_text(text)
    plan = read_plan(path)
    assert plan.name == "mine"
    assert plan.datasets[0].source == str((tmp_path / "calls.csv").resolve())
    assert parse_plan(text).datasets[0].source == "calls.csv"


def test_a_plan_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(MaucError, match=r"none\.toml cannot be read: No such file"):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(MaucError, match=r"latin\.toml is not UTF-8"):
        read_plan(tmp_path / "latin.toml")
