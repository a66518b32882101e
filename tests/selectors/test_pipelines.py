"""What reaches the next step of a pipeline: columns of a frame with their types."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline

from mauc import MAUCD, MDFS, ConsensusSelector, GreedyMAUC, mauc_score
from mauc.classifiers import CLASSIFIERS, make_classifier
from mauc.data.frames import take_columns
from mauc.exceptions import MaucError

N = 240
RNG = np.random.default_rng(5)
Y = RNG.integers(0, 3, N)
# Nine categories, three of each class; their numbers and words say nothing by their order.
PLACE = 3 * Y + RNG.integers(0, 3, N)
NUMBERS = np.array([4, 0, 7, 2, 8, 5, 1, 6, 3])[PLACE]
WORDS = np.array(list("eahcifbgd"), dtype=object)[PLACE]
NOISE = RNG.normal(size=N)
DAYS = np.datetime64("2001-01-01", "us") + RNG.integers(0, 500, N).astype("m8[D]")
FRAMES = {
    "pandas words": pd.DataFrame({"x": NOISE, "k": WORDS}),
    "pandas word categories": pd.DataFrame({"x": NOISE, "k": pd.Categorical(WORDS)}),
    "pandas number categories": pd.DataFrame({"x": NOISE, "k": pd.Categorical(NUMBERS)}),
    "polars words": pl.DataFrame({"x": NOISE, "k": WORDS.tolist()}),
    "polars categories": pl.DataFrame(
        {"x": NOISE, "k": WORDS.tolist()}, schema_overrides={"k": pl.Categorical}
    ),
    "polars enum": pl.DataFrame(
        {"x": NOISE, "k": list(map(str, NUMBERS))},
        schema_overrides={"k": pl.Enum(list("9876543210"))},
    ),
}
SELECTORS = {"mdfs": MDFS("all", random_state=0), "greedy": GreedyMAUC("all")}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]


@pytest.fixture(params=SELECTORS)
def selector(request):
    return clone(SELECTORS[request.param])


def same(one, other):
    return type(one) is type(other) and one.equals(other)


@pytest.mark.parametrize("output", [None, "pandas", "polars"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_sees_the_types_of_columns(name, frame, output):
    train, test = frame[: N // 2], frame[N // 2 :]
    alone = make_classifier(name).fit(train, Y[: N // 2])
    wanted = alone.predict_proba(test)
    selector = MDFS("all", random_state=0).set_output(transform=output)
    steps = make_pipeline(selector, make_classifier(name))
    found = steps.fit(train, Y[: N // 2]).predict_proba(test)
    assert_array_equal(found, wanted)
    if "k" in frame.columns:
        assert mauc_score(Y[N // 2 :], found) > 0.95


def test_by_default_the_part_of_the_frame(selector, frame):
    fitted = selector.set_params(n_features_to_select=1).fit(frame, Y)
    kept = fitted.transform(frame)
    assert same(kept, frame[[frame.columns[fitted.ranking_[0]]]])
    assert same(kept, clone(fitted).fit_transform(frame, Y))


def test_numbers_alone_are_an_array(selector):
    for make in (pd.DataFrame, pl.DataFrame):
        frame = make({"x": NOISE, "k": NUMBERS})
        kept = selector.fit(frame, Y).transform(frame)
        assert isinstance(kept, np.ndarray)
        assert_array_equal(kept, np.column_stack([NOISE, NUMBERS]))


def test_other_columns_are_refused(selector, frame):
    fitted = selector.fit(frame, Y)
    other = frame[frame.columns[::-1]]
    with pytest.raises(MaucError, match="feature names"):
        fitted.transform(other)


def test_polars_to_pandas():
    words = [None, *WORDS[1:].tolist()]
    frame = pl.DataFrame(
        {
            "x": NOISE,
            "word": words,
            "category": pl.Series(words, dtype=pl.Categorical),
            "enum": pl.Series(words, dtype=pl.Enum([*"zihgfedcba"])),
            "count": pl.Series([None, *NUMBERS[1:].tolist()], dtype=pl.Int16),
            "flag": pl.Series([None, *(NOISE[1:] > 0).tolist()]),
            "whole": NUMBERS,
            "when": DAYS,
            "time": [datetime.time(int(hour)) for hour in NUMBERS],
        }
    )
    kept = take_columns(frame, np.arange(frame.shape[1]), "pandas")
    wanted = pd.DataFrame(
        {
            "x": NOISE,
            "word": words,
            "category": pd.Categorical(words),
            "enum": pd.Categorical(words, [*"zihgfedcba"]),
            "count": pd.array([None, *NUMBERS[1:].tolist()], "Int16"),
            "flag": pd.array([None, *(NOISE[1:] > 0).tolist()], "boolean"),
            "whole": NUMBERS,
            "when": DAYS,
            "time": NUMBERS.astype("m8[h]").astype("m8[ns]"),
        }
    )
    pd.testing.assert_frame_equal(kept, wanted)


def test_pandas_to_polars(selector):
    frame = FRAMES["pandas number categories"]
    kept = selector.set_output(transform="polars").fit(frame, Y).transform(frame)
    assert kept.dtypes == [pl.Float64, pl.Categorical]
    assert kept["k"].cast(str).to_list() == list(map(str, NUMBERS))


@pytest.mark.parametrize("selector", [MDFS("auto", random_state=0), ConsensusSelector(MAUCD(2))])
def test_groups_are_routed_to_selectors(selector, monkeypatch):
    """`set_fit_request` lets groups reach the selector and the splitter of cross_validate."""
    seen = []
    fit = type(selector).fit

    def watch(self, X, y, sample_weight=None, *, groups=None, **given):
        seen.append(groups)
        return fit(self, X, y, sample_weight, groups=groups, **given)

    X, y, groups = RNG.normal(size=(60, 4)), np.arange(60) // 10 % 2, np.arange(60) // 5
    with config_context(enable_metadata_routing=True):
        routed = clone(selector).set_fit_request(groups=True, sample_weight=False, cv=False)
        monkeypatch.setattr(type(selector), "fit", watch)
        model = make_pipeline(routed, make_classifier("nb"))
        cross_validate(model, X, y, cv=GroupKFold(2), params={"groups": groups})
    outer = [given for given in seen if given is not None and len(given) == 30]
    assert len(outer) == 2
    assert not set(outer[0]) & set(outer[1])
