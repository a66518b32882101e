"""The door: what parameters and generators say of the data, and what it makes of a frame."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from mauc import MDFS, MRMR, ConsensusSelector, GreedyMAUC, ReliefF
from mauc.data.door import AUCS, ORDERED, FitOptions, check_generator, make_problem
from mauc.data.wishes import WishOptions
from mauc.datasets import make_control_charts
from mauc.lab import tune_rbf_svm


def test_a_seed_sequence_is_a_seed_and_a_generator_goes_on():
    sequence, generator = np.random.SeedSequence(1), np.random.default_rng(1)
    draws = [check_generator(sequence).randint(10**9) for _ in range(2)]
    assert draws[0] == draws[1] != check_generator(np.random.SeedSequence(2)).randint(10**9)
    check_generator(generator)  # a check draws nothing
    assert generator.random() == np.random.default_rng(1).random()
    draws = [check_generator(generator).randint(10**9) for _ in range(2)]
    assert draws[0] != draws[1]


@pytest.mark.parametrize("make", [np.random.SeedSequence, np.random.default_rng])
@pytest.mark.parametrize("kind", [MDFS, ReliefF])
def test_selectors_take_generators_of_numpy(rng, kind, make):
    X, y = rng.normal(size=(50, 30)), np.arange(50) % 5
    options = {"n_iterations": 7} if kind is ReliefF else {}
    selectors = [kind(10, random_state=make(seed), **options) for seed in (0, 0, 1)]
    copies = clone(selectors[0]), pickle.loads(pickle.dumps(selectors[0]))
    wanted, same, other = (one.fit(X, y).ranking_.tolist() for one in selectors)
    assert wanted == same != other
    for copy in copies:
        assert copy.fit(X, y).ranking_.tolist() == wanted


@pytest.mark.parametrize("make", [np.random.SeedSequence, np.random.default_rng])
def test_functions_take_generators_of_numpy(rng, make):
    one, same = (make_control_charts(2, 12, make(3)).X for _ in range(2))
    assert_array_equal(one, same)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    grid = {"C_values": [1, 8], "gamma_values": [0.1]}
    scores = [tune_rbf_svm(X, y, random_state=make(3), **grid).scores for _ in range(2)]
    assert_array_equal(*scores)


def test_what_parameters_say_of_the_data():
    plain = FitOptions.of(MDFS(missing="side", categorical_features=[1]), AUCS)
    assert plain == FitOptions(AUCS, "MDFS", [1], "side", dates="warn")
    assert plain.wishes is None
    assert FitOptions.of(MRMR(), ORDERED) == FitOptions(ORDERED, "MRMR", dates="warn")
    wished = FitOptions.of(GreedyMAUC(keep=["a"], pair_weight="prior"), AUCS)
    assert wished.wishes == WishOptions(keep=["a"])
    assert wished.pair_weight == "prior"


def test_consensus_says_what_its_selector_says():
    inner = MDFS(missing="side", pair_weight="prior")
    found = ConsensusSelector(inner, categorical_features=[0]).fit_options
    assert found == replace(inner.fit_options, name="ConsensusSelector", categorical_features=[0])


def table(rng):
    """Return a frame with a date, words, wishes that say so, labels, and weights with zeros."""
    y = np.arange(90) % 3
    frame = pd.DataFrame(rng.normal(size=(90, 5)) + y[:, np.newaxis] / 2, columns=list("abcde"))
    frame.insert(1, "when", pd.Timestamp("2024-05-01") + pd.to_timedelta(np.arange(90), "D"))
    frame["word"] = pd.Categorical.from_codes((y + rng.integers(0, 2, 90)) % 3, list("uvw"))
    return frame, y, rng.integers(0, 3, 90).astype(float)


@pytest.mark.filterwarnings("ignore::mauc.exceptions.LeftOutWarning")
def test_dates_of_a_frame_are_columns_of_the_problem(rng):
    frame, y, _ = table(rng)
    selector = MDFS()
    problem = make_problem(frame, y, selector.fit_options)
    assert problem.dated.tolist() == [1]
    assert problem.is_nominal.tolist() == [False] * 6 + [True]
    assert problem.categories[6].tolist() == ["u", "v", "w"]
    assert_array_equal(problem.columns.column(1), 0)
    assert problem.take_rows(np.arange(30)).dated.tolist() == [1]
    assert make_problem(frame, y, FitOptions(AUCS)).dated.tolist() == []  # AUCs read them


@pytest.mark.filterwarnings("ignore::mauc.exceptions.LeftOutWarning")
@pytest.mark.parametrize(
    "selector", [MDFS(random_state=0), GreedyMAUC(keep=["c"]), MRMR()], ids=str
)
def test_ranking_rows_of_a_problem_is_a_fit_on_them(rng, selector):
    frame, y, weights = table(rng)
    frame = frame if selector.accepts.nominal else frame.drop(columns="word")
    rows = np.sort(rng.permutation(90)[:60])
    problem = make_problem(frame, y, selector.fit_options, weights).take_rows(rows)
    ranked = selector.rank_problem(problem, 4)
    fitted = clone(selector).set_params(n_features_to_select=4)
    fitted.fit(frame.iloc[rows], y[rows], sample_weight=weights[rows])
    assert 1 not in ranked.selection.features
    assert_array_equal(ranked.selection.features, fitted.ranking_)
    assert not hasattr(selector, "ranking_")
