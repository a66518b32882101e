"""`warmup`: compile the kernels of all methods before they are needed, in parallel processes."""

import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed
from scipy import sparse

from mauc.checks import check_choice, check_int
from mauc.compile import find_cache, kernel_counts, silenced
from mauc.exceptions import MaucError
from mauc.progress import KINDS, track
from mauc.progress import progress as show_progress
from mauc.registry import CLASSIFIERS, SELECTORS, Accepts, make_classifier, make_selector

_FUNCTIONS = "functions"  # the job of what is neither a selector nor a classifier
#: The order of the jobs: first those whose kernels many others use, alternating with some that
#: share none with them, so that two processes rarely compile the same kernel; then the longest.
_FIRST = ("mdfs", "c45", "ssu", "svm", "mrmr", "relieff", "greedy", "arco", "nb", "fsdd")
#: Options that have kernels of their own.
_OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "mrmr": ({"binning": "mdl"}, {"binning": "equal_width"}, {"binning": "equal_frequency"}),
    "jmi": ({"binning": "mdl"},),
    "greedy": ({"n_features_to_select": "predicted"},),
}
#: Options that make a fit shorter.
_SHORT: dict[str, dict[str, Any]] = {"consensus": {"n_resamples": 2}}
_N_ROWS, _N_COLUMNS, _N_CLASSES = 90, 6, 3
_N_TALL = 2**18  # rows for which other sorts are the fastest


@dataclass(frozen=True)
class WarmupSummary:
    """What a warm-up did; kernels count once for each combination of argument types."""

    cache: str  #: where Numba keeps the compiled kernels
    n_methods: int  #: selectors and classifiers
    n_compiled: int  #: kernels that were compiled now
    n_found: int  #: kernels that were loaded from the cache
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.n_methods} methods: {self.n_compiled} loops compiled, {self.n_found} were "
            f"there, in {self.seconds:.1f} s\ncache: {self.cache}"
        )


def warmup(
    methods: Iterable[str] | None = None, *, n_jobs: int | None = None, progress: str = "auto"
) -> WarmupSummary:
    """Compile the loops of all methods now, so that no first call has to.

    Numba compiles a loop when it is first called with arrays of a type, which takes seconds, and
    keeps it in a cache on disk that every later process loads. This calls all methods on tiny
    data of every kind: bytes, single and double precision, missing values, weights, sparse
    matrices, nominal columns.

    Parameters
    ----------
    methods : iterable of str, optional
        Short names of selectors and classifiers (`mauc methods` lists them); all by default, and
        the metrics and functions too.
    n_jobs : int, optional
        Processes; one per core by default.
    progress : {"auto", "bar", "lines", "quiet"}, default="auto"
        A bar, lines to log, or nothing; by default what fits standard error.

    Returns
    -------
    summary : WarmupSummary
        How much was compiled, how much was there, and where the cache is.

    Examples
    --------
    >>> import mauc
    >>> summary = mauc.warmup(["fisher"], n_jobs=1, progress="quiet")
    >>> summary.n_methods
    1
    """
    began = time.monotonic()
    jobs = _check_jobs(methods)
    n_jobs = cpu_count() if n_jobs in (None, -1) else check_int("n_jobs", n_jobs, 1)
    check_choice("progress", progress, KINDS)
    cache = find_cache()
    compiled: set[str] = set()
    found: set[str] = set()
    # Processes of loky do not import the user's script, as those of multiprocessing would.
    pool = Parallel(
        min(n_jobs, len(jobs)),
        backend="loky",
        batch_size=1,
        pre_dispatch="all",
        return_as="generator_unordered",
    )
    with show_progress("compiling", verbose=True, style=progress):
        try:
            counts = pool(delayed(_do_job)(name) for name in jobs)
            for now_compiled, now_found in track(counts, "methods", len(jobs)):
                compiled |= now_compiled
                found |= now_found
        except BrokenProcessPool as error:
            raise MaucError(f"a process that compiled ended: {error}") from error
    return WarmupSummary(
        cache,
        len(set(jobs) - {_FUNCTIONS}),
        len(compiled),
        len(found - compiled),
        time.monotonic() - began,
    )


def _check_jobs(methods: Iterable[str] | None) -> list[str]:
    """Return the names of methods, and `_FUNCTIONS` if there is no choice, in the order to do."""
    known = sorted((*SELECTORS, *CLASSIFIERS), key=lambda name: (*_FIRST, name).index(name))
    if methods is None:
        return [*known, _FUNCTIONS]
    wanted = [methods] if isinstance(methods, str) else list(methods)
    for name in wanted:
        check_choice("a method", name, known, quoted=False)
    if not wanted:
        raise MaucError("methods must name at least one method.")
    return [name for name in known if name in wanted]


def _do_job(name: str) -> tuple[set[str], set[str]]:
    """Call a method on all kinds of input; return the kernels that were compiled and found."""
    before = kernel_counts()
    with warnings.catch_warnings(), silenced():
        warnings.simplefilter("ignore")  # tiny data are degenerate in many ways
        try:
            if name == _FUNCTIONS:
                _call_functions()
            elif name in CLASSIFIERS:
                _fit_classifier(name)
            else:
                _fit_selector(name)
        except Exception as error:
            text = f"{type(error).__name__}: {error}".splitlines()[0]
            raise MaucError(f"{name} could not be compiled: {text}") from error
    compiled, found = kernel_counts()
    return compiled - before[0], found - before[1]


def _fit_selector(name: str) -> None:
    for options in ({}, *_OPTIONS.get(name, ())):
        for X, y, weights, nominal in _tables(SELECTORS[name].accepts, is_short=bool(options)):
            all_options = {"n_features_to_select": 3, **_SHORT.get(name, {}), **nominal, **options}
            make_selector(name, **all_options).fit(X, y, **weights)


def _fit_classifier(name: str) -> None:
    from mauc.evaluation import evaluate_ranking

    for X, y, weights, nominal in _tables(CLASSIFIERS[name].accepts._replace(sparse=False)):
        model = make_classifier(name, **nominal).fit(X, y, **weights)
        model.predict_proba(X)
        if hasattr(model, "decision_function"):
            model.decision_function(X)
        if not weights:
            evaluate_ranking(np.arange(3), [1, 3], model, X, y, X, y)


def _call_functions() -> None:
    from mauc.binning import MDLDiscretizer
    from mauc.engine.arrays import SHORT, log_table
    from mauc.measure.pair_auc import feature_pair_auc
    from mauc.metrics import mauc_interval, mauc_score
    from mauc.sketch import PairAUCSketch

    log_table(SHORT, 1.0)
    for X, y, weights, _ in _tables(Accepts(sparse=True)):
        feature_pair_auc(X, y, folded=False, **weights)
        PairAUCSketch(16, n_buffered=_N_ROWS // 2).update(X, y).update(X[::2], y[::2]).pair_auc()
        if sparse.issparse(X):
            continue
        scores = np.nan_to_num(X[:, :_N_CLASSES])
        mauc_score(y, scores, **weights)
        if not weights:
            mauc_interval(y, scores)
            MDLDiscretizer().fit_transform(X, y)
    for n_classes in (20, 40, 60):  # the sweep over classes has a kernel for every 16 of them
        feature_pair_auc(np.asarray(X, np.float64), np.arange(_N_ROWS) % n_classes)
    tall = np.random.default_rng(0).standard_normal((_N_TALL, 4))
    for dtype in (np.float64, np.float32):
        for order in ("C", "F"):
            feature_pair_auc(np.asarray(tall, dtype, order), np.arange(_N_TALL) % _N_CLASSES)


def _tables(
    accepts: Accepts, is_short: bool = False
) -> Iterator[tuple[Any, np.ndarray, dict[str, Any], dict[str, Any]]]:
    """Yield X, y, weights and options for all data that a method accepts: sorted, counted, tied."""
    rng = np.random.default_rng(0)
    y = np.arange(_N_ROWS) % _N_CLASSES
    X = rng.standard_normal((_N_ROWS, _N_COLUMNS)) + y[:, np.newaxis]
    X[:, 0], X[:, 1] = rng.integers(0, 3, (2, _N_ROWS))
    X[:, 2] = X[:, 2].round(1)
    X[:, 5] = np.where(y == 0, 4.0, 0.5) * (X[:, 5] - y) / 4  # tells classes by its spread
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    weights = {"sample_weight": rng.uniform(0.5, 2.0, _N_ROWS)}
    nominal = {"categorical_features": [0, 1]}
    for dtype in (np.float64, np.float32):
        yield X.astype(dtype), y, {}, {}
        if is_short:
            continue
        yield np.asfortranarray(X, dtype), y, {}, {}
        yield np.repeat(X.astype(dtype), 2, axis=0)[::2], y, {}, {}
        yield holes.astype(dtype), y, {}, {}
        for table in (X, holes):
            yield table.astype(dtype), y, weights, {}
            if accepts.nominal:
                yield table.astype(dtype), y, {}, nominal
        if accepts.sparse:
            yield sparse.csc_array(np.where(X > 1.0, X, 0.0).astype(dtype)), y, {}, {}
    if not is_short:
        # Over this many decades 64-bit keys cannot hold all bits of a value and its row.
        yield np.copysign(10.0 ** (60 * np.abs(X)), X), y, {}, {}
        yield np.clip(8 * (X + 3), 0, 255).astype(np.uint8), y, {}, {}
        yield (1000 * X).astype(np.int64), y, {}, {}
