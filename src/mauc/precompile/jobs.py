"""What there is to compile: the name of a method in, fits of tiny data that need its kernels."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mauc.registry import CLASSIFIERS, SELECTORS, Accepts, make_classifier, make_selector

#: The order of the jobs: those first whose kernels many others use, and beside them such that
#: share none with them, so that no process waits for what another compiles; then the longest.
FUNCTIONS = "functions"  # the job of what is neither a selector nor a classifier
_FIRST = ("mdfs", "c45", "ssu", "svm", "mrmr", "relieff", "greedy", "arco", "nb", "fsdd", "fast")

#: Options that have kernels of their own.
_OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "mrmr": ({"binning": "mdl"}, {"binning": "equal_width"}, {"binning": "equal_frequency"}),
    "jmi": ({"binning": "mdl"},),
    "greedy": ({"n_features_to_select": "predicted"}, {"interactions": True}),
}
#: Options that make a fit shorter.
_SHORT: dict[str, dict[str, Any]] = {"consensus": {"n_resamples": 2}}
_N_ROWS, _N_COLUMNS, _N_CLASSES = 90, 6, 3


def job_names() -> list[str]:
    """Return the names of all selectors, classifiers and `FUNCTIONS`, in the order to compile."""
    names = [*SELECTORS, *CLASSIFIERS, FUNCTIONS]
    return sorted(names, key=lambda name: (_FIRST + tuple(names)).index(name))


def do_job(name: str) -> None:
    """Call a method, or the `FUNCTIONS`, on every kind of input that they have kernels for."""
    if name == FUNCTIONS:
        _call_functions()
    elif name in CLASSIFIERS:
        _fit_classifier(name)
    else:
        _fit_selector(name)


def _fit_selector(name: str) -> None:
    for options in ({}, *_OPTIONS.get(name, ())):
        for table in _tables(SELECTORS[name].accepts, is_short=bool(options)):
            selector = make_selector(
                name, **{"n_features_to_select": 3, **_SHORT.get(name, {}), **options}
            )
            if table.is_nominal:
                selector.set_params(categorical_features=[0, 1])
            selector.fit(table.X, table.y, **table.weights)


def _fit_classifier(name: str) -> None:
    from mauc.evaluation import evaluate_ranking

    for table in _tables(CLASSIFIERS[name].accepts._replace(sparse=False)):
        X, y = table.X, table.y
        model = make_classifier(name)
        if table.is_nominal:
            model.set_params(categorical_features=[0, 1])
        model.fit(X, y, **table.weights).predict_proba(X)
        if hasattr(model, "decision_function"):
            model.decision_function(X)
        if not table.weights:
            evaluate_ranking(np.arange(3), [1, 3], model, X, y, X, y)


def _call_functions() -> None:
    from mauc.binning import MDLDiscretizer
    from mauc.difficulty import siren_study
    from mauc.engine.special import SHORT, log_table
    from mauc.metrics import mauc_interval, mauc_score
    from mauc.selectors.pair_auc import feature_pair_auc
    from mauc.sketch import PairAUCSketch

    log_table(SHORT, 1.0)
    for table in _tables(Accepts(sparse=True, weights=True)):
        X, y = table.X, table.y
        feature_pair_auc(X, y, folded=False, **table.weights)
        PairAUCSketch(16, n_buffered=_N_ROWS // 2).update(X, y).update(X[::2], y[::2]).pair_auc()
        if sparse.issparse(X):
            continue
        scores = np.nan_to_num(X[:, :_N_CLASSES])
        mauc_score(y, scores, **table.weights)
        if not table.weights:
            mauc_interval(y, scores)
            MDLDiscretizer().fit_transform(X, y)
    siren_study(np.asarray(X, np.float64), y, selectors=["mdfs", "maucd"])
    for n_classes in (20, 40, 60):  # the sweep over classes has a kernel for every 16 of them
        feature_pair_auc(np.asarray(X, np.float64), np.arange(_N_ROWS) % n_classes)


class _Table(NamedTuple):
    """Tiny data of one kind."""

    X: Any
    y: np.ndarray
    weights: dict[str, np.ndarray] = {}
    is_nominal: bool = False


def _tables(accepts: Accepts, is_short: bool = False) -> Iterator[_Table]:
    """Yield data of every kind that a method takes, or complete numbers alone.

    Columns are of many values, which are sorted, of few, which are counted, and of many ties. The
    last two are correlated in one class and the other way round in the next.
    """
    rng = np.random.default_rng(0)
    y = np.arange(_N_ROWS) % _N_CLASSES
    X = rng.standard_normal((_N_ROWS, _N_COLUMNS)) + y[:, np.newaxis]
    X[:, 0], X[:, 1] = rng.integers(0, 3, (2, _N_ROWS))
    X[:, 2] = X[:, 2].round(1)
    X[:, 5] = 0.3 * (X[:, 5] - y) + np.where(y == 0, 1.0, -1.0) * (X[:, 4] - y)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    weights = {"sample_weight": rng.uniform(0.5, 2.0, _N_ROWS)}
    for dtype in (np.float64, np.float32):
        yield _Table(X.astype(dtype), y)
        if is_short:
            continue
        yield _Table(np.asfortranarray(X, dtype), y)
        yield _Table(np.repeat(X.astype(dtype), 2, axis=0)[::2], y)
        yield _Table(holes.astype(dtype), y)
        if accepts.weights:
            yield _Table(X.astype(dtype), y, weights)
            yield _Table(holes.astype(dtype), y, weights)
        if accepts.nominal:
            yield _Table(X.astype(dtype), y, is_nominal=True)
            yield _Table(holes.astype(dtype), y, is_nominal=True)
        if accepts.sparse:
            yield _Table(sparse.csc_array(np.where(X > 1.0, X, 0.0).astype(dtype)), y)
    if not is_short:
        # Over so many decades words have no room for all bits of a value and its row.
        yield _Table(np.copysign(10.0 ** (60 * np.abs(X)), X), y)
        yield _Table(np.clip(8 * (X + 3), 0, 255).astype(np.uint8), y)
        yield _Table((1000 * X).astype(np.int64), y)
