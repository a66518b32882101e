"""Fits report themselves and their loops to scikit-learn's callbacks, from 1.9 on."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mauc import MAUCD, MRMR, GreedyMAUC, MDLDiscretizer
from mauc.exceptions import MaucError
from mauc.lab import C45
from mauc.progress import fits, track

callback = pytest.importorskip("sklearn.callback")


class Recorder:
    """Writes down what it is told; what a pipeline hands on to its steps."""

    max_propagation_depth = None

    def __init__(self):
        self.told, self.fitted = [], None

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(f"begin {context.estimator_name} {context.task_name} {context.task_id}")

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        self.told.append(f"end {context.estimator_name} {context.task_name} {context.task_id}")
        self.fitted = fitted_estimator

    def count(self, text):
        return sum(text in one for one in self.told)


@pytest.fixture
def table(rng):
    y = np.repeat([0, 1, 2], 20)
    return rng.normal(size=(60, 6)) + y[:, np.newaxis], y


def test_a_fit_its_loops_and_their_items_begin_and_end_in_order(table):
    recorder = Recorder()
    selector = MRMR(3).set_callbacks(recorder).fit(*table)
    told = recorder.told
    assert told[:2] == ["setup", "begin MRMR fit 0"]
    assert told[-2:] == ["end MRMR fit 0", "teardown"]
    at = next(at for at, one in enumerate(told) if one.startswith("begin MRMR features"))
    loop = told[at].split()[-1]
    steps = [f"{edge} MRMR features {step}" for step in range(3) for edge in ("begin", "end")]
    assert told[at : at + 8] == [f"begin MRMR features {loop}", *steps, f"end MRMR features {loop}"]
    assert recorder.count("begin") == recorder.count("end")
    assert np.array_equal(recorder.fitted.transform(table[0]), selector.transform(table[0]))
    assert np.array_equal(selector.ranking_, MRMR(3).fit(*table).ranking_)


def test_loops_and_fits_within_a_loop_are_not_reported(table):
    recorder = Recorder()
    MAUCD("auto").set_callbacks(recorder).fit(*table)
    assert recorder.count("setup") == recorder.count("begin MAUCD fit") == 1
    begin = next(at for at, one in enumerate(recorder.told) if "folds" in one)
    end = len(recorder.told) - next(
        at for at, one in enumerate(reversed(recorder.told)) if "folds" in one
    )
    assert all("folds" in one for one in recorder.told[begin:end])


@pytest.mark.parametrize("estimator", [GreedyMAUC(2), C45(), MDLDiscretizer()])
def test_nothing_remains_after_a_fit_or_an_error(estimator, table):
    recorder = Recorder()
    estimator = clone(estimator).set_callbacks(recorder).fit(*table)
    assert recorder.told[-1] == "teardown"
    recorder.told.clear()
    with pytest.raises(MaucError):
        estimator.fit(table[0], np.full(60, np.nan))
    assert recorder.told[0] == "setup"
    assert recorder.told[-1] == "teardown"
    assert not hasattr(estimator, "_callback_fit_ctx")
    assert fits.report is None


def test_an_error_in_a_loop_ends_the_report(table):
    recorder = Recorder()

    class Failing(MAUCD):
        def _rank(self, *given):
            for _ in track("ab", "letters"):
                raise RuntimeError("wrong")

    with pytest.raises(RuntimeError, match="wrong"):
        Failing(1).set_callbacks(recorder).fit(*table)
    assert recorder.told[-2:] == ["begin Failing letters 0", "teardown"]
    assert fits.report is None


def test_pipelines_and_searches_hand_their_callbacks_on(table):
    recorder = Recorder()
    model = make_pipeline(MDLDiscretizer(), GreedyMAUC(2), LogisticRegression())
    GridSearchCV(model, {"greedymauc__n_features_to_select": [1, 2]}, cv=2).set_callbacks(
        recorder
    ).fit(*table)
    assert recorder.count("setup") == recorder.count("teardown") == 1
    assert recorder.count("begin GreedyMAUC fit") == recorder.count("end GreedyMAUC fit") == 5
    assert recorder.count("begin MDLDiscretizer fit") == 5


def test_callbacks_stay_with_clones_and_pickles(table):
    selector = MAUCD(2).set_callbacks(Recorder())
    assert clone(selector)._skl_callbacks is selector._skl_callbacks
    again = pickle.loads(pickle.dumps(selector.fit(*table)))
    assert again._skl_callbacks[0].told == selector._skl_callbacks[0].told


def test_without_callbacks_loops_are_the_items_themselves(table, monkeypatch):
    monkeypatch.setattr(MAUCD, "_init_callback_context", None)  # would fail if it were called
    MAUCD(2).fit(*table)
    items = [1, 2]
    assert type(track(items, "blocks")) is type(iter(items))


def test_scikit_learns_bar_shows_the_fit_and_its_loops(table, capsys):
    GreedyMAUC(3).set_callbacks(callback.ProgressBar()).fit(*table)
    printed = capsys.readouterr().out
    assert "GreedyMAUC - fit" in printed
    assert "GreedyMAUC - features" in printed
