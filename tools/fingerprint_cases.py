"""Cases of the fingerprints beside plain fits: one generator each, of names and digests.

They call public names only. What a method refuses has the name of the error in place of a digest.
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mauc.registry import CLASSIFIERS, RELEVANCES, SELECTORS

Prints = Iterator[tuple[str, str]]

#: short names of the selectors that every case goes through; consensus has cases of its own
METHODS = tuple(name for name in SELECTORS if name != "consensus")
WISHING = ("mdfs", "maucd", "mrmr", "greedy")  # that take keep, exclude, groups, costs, budget
WEIGHING = ("mdfs", "maucd", "greedy")  # that take weights of class pairs
SKETCHING = ("mdfs", "maucd")
STREAMING = tuple(name for name in METHODS if name != "relieff")


def digest(*parts: Any) -> str:
    """Return a digest of texts, and of the types, shapes and bytes of arrays."""
    made = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            made.update(part.encode() + b"\0")
            continue
        array = np.asarray(part)
        if array.dtype == object:  # whose bytes are addresses
            array = np.array([repr(one) for one in array.ravel().tolist()]).reshape(array.shape)
        array = np.ascontiguousarray(array)
        made.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return made.hexdigest()[:16]


def table_text(frame: Any) -> str:
    """Return a pandas frame as text with all digits."""
    return frame.to_csv(float_format="%.17g")


def refused_or(measure: Callable[..., str], *args: Any, **given: Any) -> str:
    """Return what a function measures, or the name of the error by which it refuses."""
    from mauc.exceptions import MaucError

    try:
        return measure(*args, **given)
    except MaucError as error:
        return f"refused: {type(error).__name__}"


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y of a bundled set, of the large ones some rows of every class."""
    from mauc.datasets import load_bundled

    dataset = load_bundled(name)
    step = {"control_charts": 3, "digits": 9}.get(name, 1)
    return dataset.X[::step], dataset.y[::step]


def with_gaps(X: np.ndarray) -> np.ndarray:
    """Return a copy without every eleventh value; the last column has few left."""
    rows, columns = np.indices(X.shape)
    made = np.where((7 * rows + 3 * columns) % 11 == 0, np.nan, X)
    made[rows[:, 0] % 5 > 0, -1] = np.nan
    return made


def with_noise(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y of a bundled set, and beside its columns shuffled copies and a constant."""
    X, y = load(name)
    noise = np.random.default_rng(0).permuted(X[:, :10], axis=0)
    return np.hstack([X, noise, np.ones((len(X), 1))]), y


def mixed_frame(name: str) -> tuple[Any, np.ndarray]:
    """Return a pandas frame of numbers, categories and strings, some of them missing, and y."""
    import pandas as pd

    X, y = load(name)
    columns, row = {}, np.arange(len(X))
    for j, x in enumerate(X.T):
        parts = np.searchsorted(np.quantile(x, [0.25, 0.5, 0.75]), x)
        values: Any = x
        if j % 4 == 1:
            values = pd.Categorical.from_codes(parts, ["d", "b", "a", "c"])
        elif j % 4 == 2:
            values = np.array(["low", "middle", "high", "high"], object)[parts]
        elif j % 4 == 3:
            values = np.where((row + j) % 5 == 0, np.nan, x)
        column = pd.Series(values)
        columns[f"f{j}"] = column.mask((row + j) % 9 == 0) if j % 8 in (2, 5) else column
    return pd.DataFrame(columns), y


def weights(n_rows: int) -> dict[str, np.ndarray]:
    """Return weights of samples by name."""
    row = np.arange(n_rows)
    return {
        "whole": 1.0 + row % 3,
        "fractions": (1.0 + row % 7) / 7.0,
        "zeros": (row % 4).astype(float),
        "fractions and zeros": (row % 5) / 5.0,
    }


def make(method: str, size: Any = 5, **options: Any) -> Any:
    """Return an unfitted selector by short name; the seed is that of all that have one."""
    from mauc.selectors import make_selector

    selector = make_selector(method, size, **options)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    return selector


def learned(selector: Any) -> str:
    """Return a digest of what all selectors learn, and some of them beside it."""
    trace = selector.trace_
    parts = [selector.ranking_, selector.support_, selector.scores_, selector.pair_auc_]
    parts += [trace.subproblems, trace.ranks, trace.scores, trace.subproblem_names]
    parts += [trace.feature_names, selector.classes_]
    for name in ("separations_", "folded_features_", "shrinkage_", "prior_", "rounds_"):
        parts += [getattr(selector, name, "none")]
    return digest(*parts)


def fitted(selector: Any, X: Any, y: Any, sample_weight: Any = None, **given: Any) -> str:
    """Return a digest of what a selector learns from data."""

    def fit() -> str:
        """Fit the selector, which may refuse the data."""
        return learned(selector.fit(X, y, sample_weight, **given))

    return refused_or(fit)


def options_of_selectors() -> Prints:
    """Yield fits with options that the plain fits do not have."""
    variants: list[tuple[str, dict[str, Any]]] = [
        ("fsdd", {"beta": 1.0}),
        ("fsdd", {"constants": "first"}),
        ("arco", {"redundancy_weight": 0.5}),
        ("fcbf", {"threshold": 0.1}),
        ("fcbf", {"max_rounds": 1}),
        ("fcbf", {"binning": "equal_frequency", "n_bins": 4}),
        ("mrmr", {"binning": "equal_frequency", "n_bins": 4, "criterion": "quotient"}),
        ("jmi", {"binning": "mdl"}),
        ("relieff", {"n_neighbors": 3}),
        ("relieff", {"n_iterations": 40}),
        ("relieff", {"n_neighbors": 3, "n_iterations": "log"}),
        ("greedy", {"max_samples": 60}),
        ("greedy", {"shrinkage": 0.0}),
        *(("schi", {"schedule": name}) for name in ("rand_robin", "random", "hardest")),
        *(
            ("subproblem", {"decomposition": sub, "relevance": relevance, "schedule": schedule})
            for relevance in RELEVANCES
            for sub, schedule in (
                ("one-vs-one", "rand_robin"),
                ("one-vs-rest", "hardest"),
                ("whole", "round_robin"),
            )
        ),
        *(("subproblem", {"relevance": name, "ties": "mauc"}) for name in ("auc", "chi2")),
    ]
    X, y = with_noise("wine")
    for method, options in variants:
        for size in (6, "all"):
            key = " ".join([method, *(f"{name}={value}" for name, value in options.items())])
            yield f"{key} {size}", fitted(make(method, size, **options), X, y)
    weight = weights(len(y))["fractions and zeros"]
    for method in ("mrmr", "jmi", "fcbf"):
        for binning in ("three_states", "mdl", "equal_width", "equal_frequency"):
            for key, given in weights(len(y)).items():
                selector = make(method, 6, binning=binning)
                yield f"{method} {binning} {key}", fitted(selector, with_gaps(X), y, given)
    wide = np.hstack([X, np.random.default_rng(4).standard_normal((len(X), 2000))])
    for method in ("greedy", "mrmr", "jmi", "fcbf", "arco", "mdfs"):
        yield f"wide {method}", fitted(make(method, 30), wide, y)
        yield f"wide {method} weights", fitted(make(method, 30), wide, y, weight)
        yield f"wide {method} two threads", fitted(make(method, 30, n_jobs=2), wide, y)
    X, y = load("control_charts")
    wide = np.hstack([X, np.random.default_rng(5).standard_normal((len(X), 9000))])
    for n_jobs in (1, 2):  # so many effects that gains are bounded before they are measured
        yield f"widest greedy {n_jobs}", fitted(make("greedy", 40, n_jobs=n_jobs), wide, y)


def layouts() -> Prints:
    """Yield fits of all selectors on arrays of several types and layouts."""
    import pandas as pd
    from scipy import sparse

    X, y = load("digits")
    is_nominal = np.arange(X.shape[1]) % 8 == 3
    forms = {
        "C order": np.ascontiguousarray(X),
        "F order": np.asfortranarray(X),
        "float32": (X / 3.0).astype(np.float32),
        "uint8": X.astype(np.uint8),
        "int64": X.astype(np.int64) - 5,
        "int8": (X - 8).astype(np.int8),
        "float16": X.astype(np.float16),
        "bool": X > 8,
        "csc": sparse.csc_array(X),
        "csr": sparse.csr_matrix(X - 3.0 * (X > 9)),
        "infinite": np.where(X > 14, np.inf, X),
        "frame": pd.DataFrame(X[:, ::2], columns=[f"p{j}" for j in range(0, X.shape[1], 2)]),
    }
    for method in METHODS:
        for form, given in forms.items():
            yield f"{method} {form}", fitted(make(method, 12), given, y)
        yield f"{method} two threads", fitted(make(method, 12, n_jobs=2), X, y)
        few = y.astype(int) < 2
        yield f"{method} two classes", fitted(make(method, 12), X[few], y[few])
        yield f"{method} number labels", fitted(make(method, 12), X, y.astype(int))
        if "categorical_features" in make(method).get_params():
            masked = make(method, 12, categorical_features=is_nominal)
            yield f"{method} mask", fitted(masked, X, y)
            yield f"{method} csc mask", fitted(masked, forms["csc"], y)


def missing_values() -> Prints:
    """Yield fits of all selectors on numbers of which some are missing."""
    for name in ("wine", "breast_cancer"):
        X, y = load(name)
        for method in METHODS:
            yield f"{name} {method}", fitted(make(method), with_gaps(X), y)
            if "missing" in make(method).get_params():
                sided = make(method, missing="side")
                yield f"{name} {method} side", fitted(sided, with_gaps(X), y)


def nominal_frames() -> Prints:
    """Yield fits of all selectors on frames with nominal columns, and what they transform to."""
    import pandas as pd
    import polars as pl

    for name in ("wine", "breast_cancer"):
        frame, y = mixed_frame(name)
        for method in METHODS:
            first = fitted(make(method, 8), frame, y)
            yield f"{name} {method}", first
            if first.startswith("refused"):
                continue
            yield f"{name} {method} all", fitted(make(method, "all"), frame, y)
            polars = pl.from_pandas(frame)
            yield f"{name} {method} polars", fitted(make(method, 8), polars, y)
            weight = weights(len(y))["whole"]
            yield f"{name} {method} weights", fitted(make(method, 8), frame, y, weight)
        for method in ("mdfs", "greedy"):
            selector = make(method, 8).fit(frame, y)
            yield f"{name} {method} transform", digest(table_text(selector.transform(frame)))
        row = np.arange(len(y))
        frame = frame.assign(
            many=[f"name {one}" for one in row * row % 40],
            mixed=pd.Categorical([one % 3 if one % 2 else "text" for one in row]),
            yes=row % 4 == 1,
            date=np.datetime64("2024-01-01") + row * 7 % 365,
        )
        for method in METHODS:
            further = fitted(make(method, "all"), frame, y)
            yield f"{name} {method} further", further
            if further.startswith("refused"):
                continue
            weight = weights(len(y))["zeros"]
            yield f"{name} {method} further weights", fitted(make(method, 8), frame, y, weight)
        selector = make("greedy", "all").fit(frame, y)
        yield f"{name} further transform", digest(table_text(selector.transform(frame)))
    X, y = mixed_frame("wine")
    named = make("mdfs", 8, categorical_features=["f0", "f4"], missing="side")
    yield "mdfs names, side", fitted(named, X, y)


def streamed() -> Prints:
    """Yield fits on columns that are read from files in several parts."""
    from mauc import feature_pair_auc, open_columns, pair_tests, sketch_rows

    numbers, labels = load("control_charts")
    frame, y = mixed_frame("wine")
    with tempfile.TemporaryDirectory() as folder:
        array_file, table_file = Path(folder) / "X.npy", Path(folder) / "mixed.parquet"
        np.save(array_file, np.asfortranarray(with_gaps(numbers)))
        frame.assign(label=y).to_parquet(table_file)
        for method in STREAMING:
            source, _ = open_columns(array_file, labels, memory="60kB")
            yield f"{method} npy", fitted(make(method, 12), source, labels)
            source, found = open_columns(table_file, "label", memory="20kB")
            yield f"{method} parquet", fitted(make(method, 8), source, found)
            weight = weights(len(y))["whole"]
            yield f"{method} parquet weights", fitted(make(method, 8), source, found, weight)
        source, found = open_columns(table_file, "label", memory="20kB")
        yield "feature_pair_auc", digest(feature_pair_auc(source, found))
        yield "pair_tests", digest(table_text(pair_tests(source, found).to_frame()))
        yield "greedy predicted", predicted(make("greedy", "predicted").fit(source, found))
        for method in WISHING:
            wishing = make(method, 6, keep=["f3"], exclude=["f6", "f12"])
            yield f"{method} wishes", fitted(wishing, source, found)
        yield "greedy fdr", fitted(make("greedy", "fdr"), source, found)
        for method in ("mdfs", "greedy"):
            halving = make("consensus", 4, selector=method, n_resamples=4)
            yield f"consensus {method}", fitted(halving, source, found)
        for method in STREAMING:  # what is kept of all columns goes to a file
            small, _ = open_columns(array_file, labels, memory="20kB")
            yield f"{method} spilled", fitted(make(method, 30), small, labels)
            weight = weights(len(labels))["fractions"]
            yield f"{method} spilled weights", fitted(make(method, 30), small, labels, weight)
        rows = sketch_rows(small, labels, n_bins=32)
        yield "sketch", digest(rows.pair_auc(), rows.error_bound())
        reduced = make("mdfs", 4).fit(source, found).transform(source)
        yield "transform", digest(np.asarray(reduced, object))


def weighted_samples() -> Prints:
    """Yield fits of all selectors with weights of samples."""
    for name in ("iris", "wine", "breast_cancer"):
        X, y = load(name)
        for method in METHODS:
            for key, weight in weights(len(y)).items():
                yield f"{name} {method} {key}", fitted(make(method, 4), X[:, :9], y, weight)
            gaps, weight = with_gaps(X[:, :9]), weights(len(y))["fractions"]
            yield f"{name} {method} gaps", fitted(make(method, 4), gaps, y, weight)


def weighted_pairs() -> Prints:
    """Yield fits with weights of class pairs."""
    X, y = load("wine")
    first, second, third = np.unique(y)
    given = {
        "dict": {(first, third): 5.0, (second, third): 0.5},
        "zero": {(first, second): 0.0},
        "prior": "prior",
        "table": np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]]),
    }
    for method in WEIGHING:
        for key, pair_weight in given.items():
            yield f"{method} {key}", fitted(make(method, pair_weight=pair_weight), X, y)
        weight = weights(len(y))["fractions"]
        both = make(method, pair_weight="prior")
        yield f"{method} samples too", fitted(both, X, y, weight)
        wishing = make(method, pair_weight=given["dict"], keep=[3], exclude=[12])
        yield f"{method} wishes too", fitted(wishing, X, y)
    yield "greedy predicted", predicted(make("greedy", 6, pair_weight="prior").fit(X, y))


def wishes_of(n_features: int) -> dict[str, dict[str, Any]]:
    """Return wishes by name: alone and together."""
    costs = 1.0 + np.arange(n_features) % 4
    groups = {"start": [0, 1, 2], "pair": [4, 6], "end": [n_features - 2, n_features - 1]}
    named = {**{j: float(costs[j]) for j in range(n_features)}, "start": 2.0, "pair": 1.5}
    half = float(costs.sum()) / 3
    return {
        "keep": {"keep": [4, 1]},
        "exclude": {"exclude": [0, 3, 6]},
        "keep exclude": {"keep": [2], "exclude": np.arange(n_features) % 3 == 1},
        "groups": {"feature_groups": groups},
        "list of groups": {"feature_groups": [[0, 3, 6], [1, 2]]},
        "costs": {"feature_costs": costs},
        "budget": {"feature_costs": costs, "budget": half},
        "groups costs": {"feature_groups": groups, "feature_costs": named},
        "groups budget": {"feature_groups": groups, "feature_costs": named, "budget": half},
        "all": {
            "feature_groups": groups,
            "feature_costs": named,
            "budget": half,
            "keep": ["pair"],
            "exclude": [3, 5],
        },
    }


def wishes() -> Prints:
    """Yield fits with features kept, excluded, in groups, with costs and a budget."""
    for name in ("wine", "breast_cancer", "control_charts"):
        X, y = load(name)
        for method in WISHING:
            for key, wanted in wishes_of(X.shape[1]).items():
                for size in (6, None, "all", "predicted"):
                    if size == "predicted" and method != "greedy":
                        continue
                    selector = make(method, **wanted).set_params(n_features_to_select=size)
                    yield f"{name} {method} {key} {size}", fitted(selector, X, y)
                    spent = getattr(getattr(selector, "trace_", None), "details", {})
                    if "spent" in spent:
                        yield f"{name} {method} {key} {size} spent", digest(spent["spent"])
    X, y = with_noise("wine")
    last = X.shape[1] - 1  # which is constant
    for method in WISHING:
        for key, wanted in {
            "constant group": {"feature_groups": [[6, last], [3, 5]], "keep": [6]},
            "constant kept": {"keep": [last], "exclude": [0]},
        }.items():
            yield f"{method} {key}", fitted(make(method, 6, **wanted), X, y)
            threaded = make(method, "all", n_jobs=2, **wanted)
            yield f"{method} {key} threads", fitted(threaded, X, y)
    frame, y = mixed_frame("wine")
    for method in WISHING:
        named = {
            "keep": ["f3"],
            "feature_groups": {"ends": ["f0", "f12"]},
            "feature_costs": {"ends": 2.0, **{f"f{j}": 0.5 + j % 3 for j in range(13)}},
        }
        yield f"frame {method}", fitted(make(method, 6, **named), frame, y)
        weight = weights(len(y))["zeros"]
        yield f"frame {method} weights", fitted(make(method, 6, **named), frame, y, weight)


def fitted_fdr() -> Prints:
    """Yield fits of as many features as are significant."""
    for name in ("iris", "wine", "control_charts"):
        X, y = with_noise(name)
        for method in METHODS:
            for alpha in (0.05, 1e-6):
                selector = make(method, "fdr", fdr_alpha=alpha)
                yield f"{name} {method} {alpha}", fitted(selector, X, y)
        for method in WISHING:
            for key, wanted in wishes_of(X.shape[1]).items():
                yield f"{name} {method} {key}", fitted(make(method, "fdr", **wanted), X, y)
    frame, y = mixed_frame("wine")
    for method in METHODS:
        yield f"frame {method}", fitted(make(method, "fdr"), frame, y)
        if "missing" in make(method).get_params():
            sided = make(method, "fdr", missing="side")
            yield f"frame {method} side", fitted(sided, frame, y)
    noise = np.random.default_rng(1).standard_normal((60, 5))
    for method in ("mdfs", "greedy", "fcbf"):
        yield f"noise {method}", fitted(make(method, "fdr"), noise, np.arange(60) % 3)


def tests_of_pairs() -> Prints:
    """Yield pair tests: their tables, and what they print."""
    from scipy import sparse

    from mauc import pair_tests

    X, y = load("digits")
    wine, labels = with_noise("wine")
    frame, kinds = mixed_frame("breast_cancer")
    given = {
        "wine": (wine, labels, {}),
        "wine level": (wine, labels, {"level": 0.8}),
        "wine gaps": (with_gaps(wine), labels, {}),
        "digits": (X, y, {}),
        "digits csc": (sparse.csc_array(X), y, {}),
        "digits mask": (X, y, {"categorical_features": np.arange(X.shape[1]) % 5 == 0}),
        "frame": (frame, kinds, {}),
    }
    for key, (data, classes, options) in given.items():
        tests = pair_tests(data, classes, **options)
        yield key, digest(table_text(tests.to_frame()), tests.column, str(tests))


def pair_aucs() -> Prints:
    """Yield AUCs of features on class pairs."""
    from scipy import sparse

    from mauc import feature_pair_auc

    for name in ("wine", "digits", "breast_cancer"):
        X, y = load(name)
        gaps = with_gaps(X)
        for folded in (True, False):
            key = f"{name} {'folded' if folded else 'unfolded'}"
            yield key, digest(feature_pair_auc(X, y, folded=folded))
            yield f"{key} gaps", digest(feature_pair_auc(gaps, y, folded=folded))
            yield f"{key} csr", digest(feature_pair_auc(sparse.csr_array(X), y, folded=folded))
            for kind, weight in weights(len(y)).items():
                found = feature_pair_auc(gaps, y, folded=folded, sample_weight=weight)
                yield f"{key} {kind}", digest(found)
        yield f"{name} side", digest(feature_pair_auc(gaps, y, missing="side"))
        frame, y = mixed_frame(name)
        yield f"{name} frame", digest(feature_pair_auc(frame, y))
        yield f"{name} frame side", digest(feature_pair_auc(frame, y, missing="side"))


def sketches() -> Prints:
    """Yield sketches of rows, and what selectors make of them."""
    from mauc import PairAUCSketch, sketch_rows

    X, y = load("control_charts")
    X = np.hstack([X, np.round(X[:, :5]), with_gaps(X[:, 5:10])])
    parts = [(X[i::4], y[i::4]) for i in range(4)]

    def bounds(sketch: Any) -> str:
        """Return a digest of the AUCs of a sketch, and of their bounds."""
        found = [sketch.pair_auc(), sketch.pair_auc(folded=False), sketch.error_bound()]
        return digest(*found, sketch.pair_wins(), sketch.classes_, sketch.class_counts)

    for n_bins in (16, 1024):
        for n_buffered in (None, 20):
            made = [PairAUCSketch(n_bins, n_buffered=n_buffered).update(*part) for part in parts]
            key = f"{n_bins} {n_buffered}"
            yield f"{key} first", bounds(made[0])
            yield f"{key} sum", bounds(made[0] + made[1])
            same = made[0].empty_like()
            for part in parts[1:]:
                same.update(*part)
            yield f"{key} same bins", bounds(same)
            for part in parts[1:]:
                made[0].update(*part)
            yield f"{key} updated", bounds(made[0])
            for method in SKETCHING:
                selector = make(method, 10).fit_sketch(made[0])
                yield f"{key} {method}", digest(learned(selector), selector.error_bound_)
                for kind, wanted in wishes_of(X.shape[1]).items():
                    selector = make(method, 8, **wanted).fit_sketch(made[0])
                    yield f"{key} {method} {kind}", learned(selector)
        yield f"{n_bins} sketch_rows", bounds(sketch_rows(iter(parts), n_bins=n_bins))
    for method in SKETCHING:
        selector = make(method, 10, pair_weight="prior")
        for number, (rows, labels) in enumerate(parts):
            selector.partial_fit(rows, labels)
            yield f"{method} part {number}", digest(learned(selector), selector.error_bound_)


def consensus() -> Prints:
    """Yield what selectors agree on between halves of the samples."""
    from mauc import GreedyMAUC

    X, y = load("wine")
    frame, _ = mixed_frame("wine")
    row = np.arange(len(y))
    fits: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
        "greedy": ({"selector": "greedy"}, X, {}),
        "greedy frequency": ({"selector": "greedy", "rule": "frequency"}, X, {}),
        "greedy rank": ({"selector": "greedy", "rule": "rank"}, X, {}),
        "mdfs": ({"selector": "mdfs"}, X, {}),
        "mdfs rank": ({"selector": "mdfs", "rule": "rank"}, X, {}),
        "mrmr": ({"selector": "mrmr"}, X, {}),
        "fcbf once": ({"selector": make("fcbf", max_rounds=1)}, X, {}),
        "side": ({"selector": make("maucd", missing="side")}, with_gaps(X), {}),
        "pairs": ({"selector": GreedyMAUC(pair_weight="prior")}, X, {}),
        "frame": ({"selector": "greedy"}, frame, {}),
        "mask": ({"selector": "mdfs", "categorical_features": [0, 3]}, np.round(X), {}),
        "weights": ({"selector": "greedy"}, X, {"sample_weight": weights(len(y))["zeros"]}),
        "groups": ({"selector": "mdfs"}, X, {"groups": row % 40}),
        "threads": ({"selector": "greedy", "n_jobs": 2}, X, {}),
    }
    for size in (4, "predicted"):
        for key, (options, data, given) in fits.items():
            if size == "predicted" and key not in ("greedy", "frame", "weights"):
                continue
            selector = make("consensus", size, n_resamples=8, **options)
            selector.fit(data, y, **given)
            votes = [selector.frequencies_, selector.mean_ranks_, selector.rankings_]
            yield f"{key} {size}", digest(learned(selector), *votes)
            bounds = selector.error_control_
            texts = [str(selector.stability_), str(bounds), str(bounds.at(0.8))]
            yield f"{key} {size} bounds", digest(*texts, table_text(bounds.to_frame()))
            yield f"{key} {size} predicted", predicted(selector)


def predicted(selector: Any) -> str:
    """Return a digest of the trace and the prediction of a selector that predicts MAUC."""
    texts = [str(selector.trace_), table_text(selector.trace_.to_frame())]
    texts += [str(selector.alternatives_), table_text(selector.alternatives_.to_frame())]
    if "spent" in selector.trace_.details and hasattr(selector, "cost_curve_"):
        curve = selector.cost_curve_
        texts += [str(curve), table_text(curve.to_frame())]
    return digest(learned(selector), selector.predicted_mauc_, *texts)


def predictions() -> Prints:
    """Yield what GreedyMAUC predicts, its alternatives and costs, and the traces of all."""
    from sklearn.ensemble import ExtraTreesClassifier

    for name in ("iris", "wine", "breast_cancer", "control_charts"):
        X, y = load(name)
        frame, _ = mixed_frame(name)
        for size in (4, "predicted"):
            yield f"{name} {size}", predicted(make("greedy", size).fit(X, y))
            yield f"{name} {size} gaps", predicted(make("greedy", size).fit(with_gaps(X), y))
            yield f"{name} {size} frame", predicted(make("greedy", size).fit(frame, y))
            weight = weights(len(y))["fractions and zeros"]
            yield f"{name} {size} weights", predicted(make("greedy", size).fit(X, y, weight))
        prior = ExtraTreesClassifier(5, max_depth=4, random_state=0)
        yield f"{name} prior", predicted(make("greedy", 4, prior=prior).fit(X, y))
        linear = make_classifier("logistic")
        selector = make(
            "greedy", 4, prior=linear, max_samples=80, feature_costs=np.ones(X.shape[1])
        )
        yield f"{name} prior of a pipeline", predicted(selector.fit(X, y, weight))
        yield f"{name} prior, frame", predicted(make("greedy", 4, prior=prior).fit(frame, y))
    X, y = load("breast_cancer")
    for key, wanted in wishes_of(X.shape[1]).items():
        yield f"wishes {key}", predicted(make("greedy", 8, **wanted).fit(X, y))
    spread = np.random.default_rng(2).standard_normal((300, 8))
    kinds = np.arange(300) % 3
    spread[:, :3] *= 1.0 + 2.0 * (kinds[:, None] == np.arange(3))  # what only differs in spread
    yield "spread", predicted(make("greedy", "all").fit(spread, kinds))
    yield (
        "spread weights",
        predicted(make("greedy", 5).fit(spread, kinds, weights(300)["fractions"])),
    )
    X, y = load("wine")
    for method in METHODS:
        trace = make(method, 5).fit(X, y).trace_
        frame = trace.to_frame()
        yield f"trace {method}", digest(str(trace), table_text(frame))


def explanations() -> Prints:
    """Yield why features were chosen, and why others were not."""
    for name in ("wine", "breast_cancer"):
        X, y = load(name)
        frame, _ = mixed_frame(name)
        weight = weights(len(y))["fractions"]
        cases: dict[str, tuple[Any, dict[str, Any]]] = {
            "array": (X, {}),
            "frame": (frame, {}),
            "weights": (X, {"sample_weight": weight}),
        }
        for method in ("greedy", "mdfs", "mrmr", "fcbf", "relieff", "consensus"):
            options = {"n_resamples": 4} if method == "consensus" else {}
            for key, (data, given) in cases.items():
                selector = make(method, 4, **options).fit(data, y, **given)
                chosen = [*selector.ranking_[[0, -1]], *np.flatnonzero(~selector.support_)[:3]]
                for at, feature in enumerate(chosen):
                    found = selector.explain(int(feature), data, y, **given)
                    text = table_text(found.to_frame())
                    yield f"{name} {method} {key} {at}", digest(str(found), text)
        wanted = {"keep": [3], "exclude": [0], "feature_groups": [[1, 2]]}
        for method in ("greedy", "mdfs"):
            selector = make(method, 4, **wanted).fit(X, y)
            for feature in (0, 1, 3, 5):
                found = str(selector.explain(feature, X, y))
                yield f"{name} {method} wishes {feature}", digest(found)


def certificates() -> Prints:
    """Yield what leaving features out costs at most."""
    X, y = load("breast_cancer")
    frame, _ = mixed_frame("breast_cancer")
    bayes = make_classifier("nb")
    row = np.arange(0, len(y) // 2)
    cases: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "panel": (X, None, {"cv": 3}),
        "nb": (X, bayes, {}),
        "level": (X, bayes, {"level": 0.8, "cv": 3}),
        "groups": (X, bayes, {"groups": row % 30}),
        "weights": (X, bayes, {"sample_weight": weights(len(row))["fractions"]}),
        "frame": (frame, bayes, {}),
    }
    for method in ("greedy", "mdfs"):
        for key, (data, model, given) in cases.items():
            is_frame = not isinstance(data, np.ndarray)
            train, test = (data.iloc[::2], data.iloc[1::2]) if is_frame else (data[::2], data[1::2])
            selector = make(method, 5).fit(train, y[::2])
            found = selector.certificate(test, y[1::2], model, **given)
            yield f"{method} {key}", digest(str(found), found.bound, found.loss)


def make_classifier(name: str) -> Any:
    """Return an unfitted classifier by short name."""
    from mauc.classifiers import make_classifier as make_by_name

    return make_by_name(name)


def curve_text(curve: Any) -> str:
    """Return a digest of a curve of sizes and of those of the other judges."""
    parts = [part for one in (curve, *curve.others) for part in (one.judge, one.fold_mauc)]
    numbers = [curve.sizes, curve.size, curve.best_size, curve.honest_mauc, curve.threshold]
    return digest(*parts, *numbers, str(curve), curve.summary, table_text(curve.to_frame()))


def curves() -> Prints:
    """Yield curves of MAUC by the number of features."""
    from sklearn.model_selection import GroupKFold, StratifiedKFold
    from sklearn.naive_bayes import GaussianNB

    from mauc import select_k

    X, y = load("wine")
    frame, _ = mixed_frame("wine")
    row = np.arange(len(y))
    weight = weights(len(y))
    own = [(row[row % 3 != fold], row[row % 3 == fold]) for fold in range(3)]
    nb, costs = make_classifier("nb"), 1.0 + np.arange(13) % 4
    cases: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "panel": (make("greedy"), X, {"cv": 3}),
        "panel best": (make("mdfs"), X, {"cv": 3, "rule": "best"}),
        "panel frame": (make("mdfs"), frame, {"cv": 3, "sizes": [1, 3, 6]}),
        "panel gaps": (make("mdfs"), with_gaps(X), {"cv": 3, "sizes": [1, 3, 6]}),
        "panel weights": (
            make("mdfs"),
            X,
            {"cv": 3, "sizes": [1, 3, 6], "sample_weight": weight["zeros"]},
        ),
        "panel groups": (make("mdfs"), X, {"cv": 3, "sizes": [1, 3, 6], "groups": row % 30}),
        "nb": (make("mdfs"), X, {"classifier": nb}),
        "nb frame": (make("greedy"), frame, {"classifier": nb}),
        "nb weights": (make("mrmr"), X, {"classifier": nb, "sample_weight": weight["fractions"]}),
        "nb groups": (make("mdfs"), X, {"classifier": nb, "groups": row % 30}),
        "nb pairs": (make("mdfs"), X, {"classifier": nb, "pair_weight": "prior"}),
        "nb selector's pairs": (make("mdfs", pair_weight="prior"), X, {"classifier": nb}),
        "nb response": (
            make("mdfs"),
            X,
            {"classifier": nb, "response_method": "predict_proba"},
        ),
        "nb wishes": (make("greedy", keep=[4], exclude=[6, 12]), X, {"classifier": nb}),
        "nb feature groups": (
            make("mdfs", feature_groups=[[0, 1, 2], [6, 12]]),
            X,
            {"classifier": nb},
        ),
        "nb costs": (make("maucd", feature_costs=costs), X, {"classifier": nb}),
        "nb own folds": (make("mdfs"), X, {"classifier": nb, "cv": own}),
        "nb splitter": (
            make("mdfs"),
            X,
            {"classifier": nb, "cv": GroupKFold(4), "groups": row % 20},
        ),
        "nb lacking classes": (
            make("mdfs"),
            X,
            {"classifier": nb, "cv": GroupKFold(4), "groups": row // 12},
        ),
        "1nn": (make("relieff"), X, {"classifier": make_classifier("1nn")}),
        "c45": (make("fcbf"), X, {"classifier": make_classifier("c45"), "cv": 3}),
        "svm": (make("maucd"), X, {"classifier": make_classifier("svm"), "cv": 3}),
        "scikit-learn": (make("mdfs"), X, {"classifier": GaussianNB()}),
        "scikit-learn frame": (
            make("mdfs"),
            frame[["f0", "f1", "f2", "f4"]],
            {"classifier": make_classifier("logistic"), "cv": 3},
        ),
        "threads": (make("mdfs"), X, {"cv": 3, "n_jobs": 2, "sizes": [2, 5]}),
    }
    for key, (selector, data, given) in cases.items():
        yield key, curve_text(select_k(selector, data, y, **given))
    X, y = load("breast_cancer")
    yield "two classes", curve_text(select_k(make("mdfs"), X, y, cv=3, sizes=[1, 5, 30]))

    X, y = load("wine")
    fits: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "mdfs": (make("mdfs", "auto"), X, {"cv": 3}),
        "greedy": (make("greedy", "auto"), frame, {"cv": StratifiedKFold(3)}),
        "groups": (make("maucd", "auto"), X, {"cv": 3, "groups": row % 30}),
        "weights": (make("maucd", "auto"), X, {"cv": 3, "sample_weight": weight["whole"]}),
        "keep": (make("mdfs", "auto", keep=[3, 4]), X, {"cv": 3}),
        "consensus": (
            make("consensus", "auto", selector="mdfs", n_resamples=4),
            X,
            {"cv": 3},
        ),
    }
    for key, (selector, data, given) in fits.items():
        found = fitted(selector, data, y, **given)
        yield f"auto {key}", digest(found, curve_text(selector.size_curve_))


def measures() -> Prints:
    """Yield MAUC of fixed scores, its intervals and comparisons."""
    from sklearn.model_selection import cross_val_score

    from mauc import (
        auc_mu_score,
        compare_mauc,
        mauc_interval,
        mauc_score,
        mauc_scorer,
        pair_auc_scores,
    )

    for name in ("iris", "wine", "breast_cancer"):
        X, y = load(name)
        n_classes = len(np.unique(y))
        some, other = X[:, :n_classes], np.round(X[:, -n_classes:], 1)
        if n_classes == 2:
            some, other = some[:, 0], other[:, 0]
        row = np.arange(len(y))
        options: dict[str, dict[str, Any]] = {
            "plain": {},
            "weights": {"sample_weight": weights(len(y))["fractions"]},
            "zeros": {"sample_weight": weights(len(y))["zeros"]},
        }
        if n_classes > 2:
            options["pairs"] = {"pair_weight": "prior"}
        for key, given in options.items():
            yield f"{name} {key} score", digest(mauc_score(y, some, **given))
            bounds = mauc_interval(y, some, **given)
            yield f"{name} {key} interval", digest(str(bounds), table_text(bounds.to_frame()))
            found = compare_mauc(y, some, other, **given)
            yield f"{name} {key} compare", digest(str(found), table_text(found.to_frame()))
        yield f"{name} pairs", digest(str(pair_auc_scores(y, some)))
        scores = cross_val_score(make_classifier("nb"), X, y, scoring=mauc_scorer, cv=3)
        yield f"{name} scorer", digest(scores)
        yield f"{name} mu", digest(auc_mu_score(y, X[:, :n_classes]))
        folds, groups = row % 5, row % 25
        for key, given in {
            "folds": {"folds": folds},
            "groups": {"groups": groups},
            "folds and groups": {"folds": folds, "groups": groups},
        }.items():
            yield f"{name} interval {key}", digest(str(mauc_interval(y, some, **given)))
            yield f"{name} compare {key}", digest(str(compare_mauc(y, some, other, **given)))
        drawn = mauc_interval(y, some, method="percentile", n_bootstrap=50)
        yield f"{name} percentile", digest(str(drawn), table_text(drawn.to_frame()))
        swapped = compare_mauc(y[::6], some[::6], other[::6], method="permutation")
        yield f"{name} permutation", digest(str(swapped))
        one_sided = compare_mauc(y, some, other, alternative="noninferior")
        yield f"{name} noninferior", digest(str(one_sided))


def classifiers() -> Prints:
    """Yield probabilities of the classifiers on frames, with gaps and weights, and bins."""
    from mauc import MDLDiscretizer

    for name in ("iris", "wine", "breast_cancer"):
        X, y = load(name)
        frame, _ = mixed_frame(name)
        for kind in CLASSIFIERS:
            for key, data in {"gaps": with_gaps(X), "frame": frame}.items():
                yield f"{name} {kind} {key}", refused_or(probabilities, kind, data, y)
            for key, weight in weights(len(y)).items():
                yield f"{name} {kind} {key}", refused_or(probabilities, kind, X, y, weight)
        for key, data in {"plain": X, "gaps": with_gaps(X)}.items():
            yield f"{name} bins {key}", digest(MDLDiscretizer().fit(data, y).transform(data))


def probabilities(kind: str, X: Any, y: Any, weight: Any = None) -> str:
    """Return a digest of the probabilities of a classifier fitted on every second row."""
    given = {} if weight is None else {"sample_weight": weight[::2]}
    return digest(make_classifier(kind).fit(X[::2], y[::2], **given).predict_proba(X[1::2]))


def best() -> Prints:
    """Yield what races find best, without a limit of time."""
    from sklearn.ensemble import ExtraTreesClassifier

    from mauc import best_subset

    X, y = load("wine")
    frame, _ = mixed_frame("wine")
    row = np.arange(len(y))
    cases: dict[str, tuple[Any, dict[str, Any]]] = {
        "array": (X, {}),
        "frame": (frame, {"outer": None}),
        "gaps": (with_gaps(X), {"outer": None}),
        "groups": (X, {"groups": row % 30, "selectors": ["mdfs", make("greedy")]}),
        "slow": (X[:, :8], {"classifiers": ["nb", ExtraTreesClassifier(10, random_state=0)]}),
    }
    for key, (data, given) in cases.items():
        options = {"classifiers": ["nb", "logistic"], "sizes": [2, 5], "cv": 3, "outer": 3}
        found = best_subset(data, y, time=None, **{**options, **given})
        texts = [str(found), repr(found.choice), repr(found.outer_choices), repr(found.features)]
        scores = found.pipeline.predict_proba(data)
        yield key, digest(*texts, table_text(found.to_frame()), np.round(scores, 6))


def doctor() -> Prints:
    """Yield the findings of the doctor."""
    from mauc import diagnose

    X, y = load("iris")
    frame, labels = mixed_frame("wine")
    wrong = labels.copy()
    wrong[[3, 20, 41]] = labels[-1]
    leaky = frame.assign(code=np.unique(labels, return_inverse=True)[1] * 2.0 + 1.0, same=frame.f0)
    crossed = np.random.default_rng(3).standard_normal((240, 6))
    days = np.unique(labels, return_inverse=True)[1] * 100 + np.arange(len(labels)) % 100
    dated = frame.assign(day=np.datetime64("2024-01-01") + days, gone=frame.f3.mask(days < 100))
    cases: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "iris": (X, y, {}),
        "iris gaps": (with_gaps(X), y, {}),
        "iris groups": (X, y, {"groups": np.arange(len(y)) % 25}),
        "wine": (load("wine")[0], wrong, {}),
        "wine frame": (leaky, wrong, {}),
        "signs": (crossed, np.where(crossed[:, 0] * crossed[:, 1] > 0, "same", "other"), {}),
        "noise": (crossed, np.arange(240) % 3, {}),
        "copies": (np.vstack([X, X[::3]]), np.append(y, y[::3]), {}),
        "codes": (np.where(X > 6.0, 999.0, np.round(X)), y, {}),
        "dates": (dated, labels, {}),
        "wine scores": (load("wine")[0], labels, {"scores": load("wine")[0][:, :3]}),
    }
    for key, (data, classes, given) in cases.items():
        found = diagnose(data, classes, **given)
        yield key, digest(str(found), table_text(found.to_frame()))


CASES: dict[str, Callable[[], Prints]] = {
    "options": options_of_selectors,
    "layouts": layouts,
    "missing": missing_values,
    "frames": nominal_frames,
    "streamed": streamed,
    "weights": weighted_samples,
    "pair_weight": weighted_pairs,
    "wishes": wishes,
    "fdr": fitted_fdr,
    "pair_tests": tests_of_pairs,
    "pair_auc": pair_aucs,
    "sketch": sketches,
    "consensus": consensus,
    "predictions": predictions,
    "explain": explanations,
    "certificate": certificates,
    "select_k": curves,
    "measures": measures,
    "classifiers": classifiers,
    "best": best,
    "doctor": doctor,
}
