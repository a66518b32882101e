"""The door: what X, y and the options of an estimator or a function mean is settled here, once.

In come arrays, sparse matrices, data frames, sources and Dask collections with labels, weights and
groups, and the options of whoever asks; out goes a `Problem`. With `labels` and `weights` it is all
that calls scikit-learn's checks. Every error is a `MaucError`.
"""

import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import (
    assert_all_finite,
    check_array,
    check_consistent_length,
    check_random_state,
    check_X_y,
    column_or_1d,
)
from sklearn.utils.validation import _get_feature_names, check_is_fitted, validate_data

from mauc.checks import MAX_CLASSES, check_choice, check_class_count
from mauc.data.arguments import CategoricalFeatures, Client, PairWeight, Seed
from mauc.data.columns import (
    Columns,
    DenseColumns,
    SparseColumns,
    is_frame,
)
from mauc.data.doubles import warn_of_merged_values
from mauc.data.frames import (
    FrameColumns,
    dates_to_seconds,
    has_number_columns,
    leave_out_dates,
    with_numbers,
)
from mauc.data.labels import check_labels, check_no_missing_label, encode_groups, encode_labels
from mauc.data.nominal import encode_nominal
from mauc.data.problem import MISSING, Problem
from mauc.data.source import ColumnSource
from mauc.data.streaming import SourceColumns
from mauc.data.weights import PairWeights, as_counts, check_class_weights, check_weights
from mauc.data.wishes import Wishes, WishOptions
from mauc.exceptions import (
    ConstantInputWarning,
    MaucError,
    MaucTypeError,
    MaucWarning,
    SmallClassWarning,
    as_mauc_error,
    format_labels,
    mauc_errors,
    warn_user,
)
from mauc.memory import format_bytes
from mauc.registry import Accepts
from mauc.results import plural

_NO_LABELS = "no_validation"  # what scikit-learn takes for y if there is none
_FLOATS = [np.float64, np.float32]
_IN_MEMORY = ("builtins", "numpy", "scipy", "pandas", "polars")  # packages of data in memory
ORDERED = Accepts(sparse=True, infinite=True)  # what looks at the order of values alone
AUCS = Accepts(sparse=True, infinite=True, nominal=True)


@dataclass(frozen=True)
class FitOptions:
    """What the parameters of an estimator, or the arguments of a function, say of its data."""

    accepts: Accepts = ORDERED
    name: str | None = None  #: of who asks, in errors
    categorical_features: CategoricalFeatures = (
        None  #: columns declared nominal; a mask, numbers or names
    )
    missing: str = "tie"  #: what AUCs make of missing numbers
    pair_weight: PairWeight = None  #: what each pair of classes counts
    wishes: WishOptions | None = None  #: about the features that are chosen; None if there are none
    #: of a data frame: read as seconds, or left out (with a warning) and never chosen
    dates: Literal["read", "leave_out", "warn"] = "read"

    @classmethod
    def of(cls, estimator: BaseEstimator, accepts: Accepts) -> Self:
        """Return what the parameters of an estimator that chooses features say."""
        kind: Any = type(estimator)
        mine, of_wishes = _shared_parameters(kind)
        given = vars(estimator)
        missing = given.get("missing", "tie")
        if not (isinstance(missing, str) and missing in MISSING):
            check_choice("missing", missing, MISSING)
        wishes = {name: given[name] for name in of_wishes if given[name] is not None}
        return cls(
            accepts,
            kind.__name__,
            wishes=WishOptions(**wishes) if wishes else None,
            dates="warn",
            **{name: given[name] for name in mine},
        )


@cache
def _shared_parameters(kind: type[BaseEstimator]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which parameters of an estimator are fields of `FitOptions` and `WishOptions`."""
    parameters = set(kind._get_param_names())
    mine, of_wishes = (
        tuple(field.name for field in fields(options) if field.name in parameters)
        for options in (FitOptions, WishOptions)
    )
    return mine, of_wishes


class Opened(NamedTuple):
    """The arguments of ``fit``, opened."""

    X: Any  #: an array, sparse matrix, frame or `ColumnSource`
    y: Any
    sample_weight: Any
    joined: AbstractContextManager[Any]  #: gives the cluster whose workers read X, or None


def is_numbers(X: object) -> bool:
    """Whether X is an array of numbers, which needs no further look."""
    return isinstance(X, np.ndarray) and X.dtype.kind in "biuf"


def is_in_memory(data: object) -> bool:
    """Whether data are an array, a sequence, a sparse matrix or a data frame; or None."""
    package = type(data).__module__.partition(".")[0]
    return package in _IN_MEMORY and not isinstance(data, np.memmap)


def open_input(
    X: Any,
    y: Any = None,
    sample_weight: ArrayLike | None = None,
    client: Client = None,
    *,
    uses_workers: bool = True,
) -> Opened:
    """Settle what holds the arguments of ``fit``; labels and weights come into memory."""
    if client is None and is_in_memory(X) and is_in_memory(y) and is_in_memory(sample_weight):
        return Opened(X, y, sample_weight, nullcontext())
    from mauc.cluster import join_cluster
    from mauc.io.objects import as_source, as_vector

    X = as_source(X)
    joined = join_cluster(client, X if uses_workers else None)
    return Opened(X, as_vector(y), as_vector(sample_weight), joined)


def make_problem(
    X: Any,
    y: Any,
    options: FitOptions = FitOptions(),
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    *,
    executor: Any = None,
    warns: bool = True,
) -> Problem:
    """Validate X, in memory or a `ColumnSource`, y, weights and groups; encode labels.

    Nominal columns are encoded by `encode_nominal`. With ``warns=False`` nothing is said of data
    that were warned of before.
    """
    if y is None:
        raise MaucError("this estimator requires y to be passed, but the target y is None.")
    if not warns:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MaucWarning)
            return make_problem(X, y, options, sample_weight, groups, executor=executor)
    table = _open_source(X, y, options, executor) if isinstance(X, ColumnSource) else None
    table = check_input(X, y, options) if table is None else table
    classes, codes, class_counts = encode_labels(table.y)
    if len(classes) > MAX_CLASSES:
        check_class_count(len(classes), len(codes))
    shares = None
    if sample_weight is not None:
        sample_weight = check_weights(sample_weight, codes)
        check_class_weights(classes, codes, sample_weight)
        sample_weight = as_counts(sample_weight)
    if groups is not None:
        groups = encode_groups(groups, len(codes))
    if options.pair_weight is not None:
        totals = np.bincount(codes, sample_weight, minlength=len(classes))
        shares = PairWeights(options.pair_weight).shares(classes, totals)
    problem = Problem(
        table.columns,
        codes,
        classes,
        class_counts,
        table.is_nominal,
        sample_weight,
        table.names,
        table.labels if table.names is None else None,
        options.missing,
        groups,
        shares,
        dated=table.dated,
        categories=table.categories,
    )
    warn_of_degenerate(problem)
    if options.wishes is None:
        return problem
    return replace(problem, wishes=Wishes.of(options.wishes, problem.labels, table.dated))


class Checked(NamedTuple):
    """X and y, checked."""

    columns: Columns
    y: np.ndarray
    is_nominal: np.ndarray
    names: np.ndarray | None
    labels: list[Any] | None = None  #: of the columns of a data frame
    dated: np.ndarray = np.empty(0, np.int64)  #: columns that are dates
    categories: dict[int, np.ndarray] = {}  #: of the nominal columns, by code


def check_input(X: Any, y: Any, options: FitOptions) -> Checked:
    """Check a table in memory and its labels, and encode its nominal columns."""
    labels, names, is_nominal = None, None, None
    dated = np.empty(0, np.int64)
    categories: dict[int, np.ndarray] = {}
    holds_types = not is_numbers(X) and is_frame(X)
    if options.dates != "read" and not is_numbers(X):
        X, dated = leave_out_dates(X, warns=options.dates == "warn")
    if holds_types:
        labels = list(X.columns)
        with mauc_errors():
            names = _get_feature_names(X)
    accepts = options.accepts
    if accepts.nominal and (labels is not None or options.categorical_features is not None):
        X, is_nominal, categories = encode_nominal(X, options.categorical_features)
    columns, y = check_columns_and_labels(X, y, options)
    if is_nominal is None:
        is_nominal = np.zeros(columns.shape[1], bool)
    return Checked(columns, y, is_nominal, names, labels, dated, categories)


def check_columns_and_labels(
    X: Any, y: Any, options: FitOptions = FitOptions()
) -> tuple[Columns, np.ndarray]:
    """Check a table in memory, its nominal columns encoded, and its labels."""
    accepts = options.accepts
    loses_type = not is_numbers(X) and (
        is_frame(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "OmM")
    )
    if loses_type:
        warn_of_merged_values(X)
    if loses_type and is_frame(X):
        X = with_numbers(X)
        if has_number_columns(X):
            return _check_number_frame(X, y, options)
    X, y = check_table(
        X,
        y,
        estimator=options.name,
        accept_sparse="csc" if accepts.sparse else False,
        accept_infinite=accepts.infinite,
        dtype="numeric",
        takes_nominal=accepts.nominal,
    )
    if not loses_type and X.dtype.char not in "fd":
        warn_of_merged_values(X)
    return (SparseColumns(X) if sparse.issparse(X) else DenseColumns(X)), y


def check_table(
    X: Any,
    y: Any = _NO_LABELS,
    *,
    estimator: Any = None,
    reset: bool = True,
    name: str = "X",
    accept_sparse: bool | str = False,
    accept_infinite: bool = False,
    dtype: Any = _FLOATS,
    order: str | None = None,
    takes_nominal: bool = False,
) -> Any:
    """Return X as an array of numbers, and y as an array of labels if it is given.

    An `estimator` gets ``n_features_in_`` and ``feature_names_in_`` with `reset`; without, X must
    agree with them; a name stands for one that is not touched. Dates are seconds. `takes_nominal`:
    the error for strings may suggest to declare them nominal.
    """
    options = {
        "accept_sparse": accept_sparse,
        "dtype": dtype,
        "order": order,
        "ensure_all_finite": False if accept_infinite else "allow-nan",
    }
    has_labels = not (isinstance(y, str) and y == _NO_LABELS)
    if not is_numbers(X):
        X = dates_to_seconds(X)
    if has_labels:
        check_no_missing_label(y)
    try:
        if estimator is None:
            checked = check_array(X, input_name=name, **options)
            if has_labels:
                y = column_or_1d(y, warn=True)
                check_consistent_length(checked, y)
        elif isinstance(estimator, str):
            checked, y = check_X_y(X, y, estimator=estimator, **options)
        elif has_labels:
            checked, y = validate_data(estimator, X, y, reset=reset, **options)
        else:
            checked = validate_data(estimator, X, reset=reset, **options)
        if not sparse.issparse(checked) and checked.dtype.kind not in "biuf":
            checked = checked.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise _table_error(error, X, takes_nominal) from error
    return (checked, y) if has_labels else checked


def _check_number_frame(frame: Any, y: Any, options: FitOptions) -> tuple[FrameColumns, np.ndarray]:
    """Check a data frame of several numeric types as `check_table` does, without a copy."""
    check_no_missing_label(y)
    with mauc_errors():
        # The stand-in takes no memory.
        _, y = check_X_y(
            np.broadcast_to(np.float64(0.0), frame.shape),
            y,
            estimator=options.name,
            ensure_all_finite=False,
        )
        X = FrameColumns(frame)
        if not options.accepts.infinite:
            for column in range(X.shape[1]):
                assert_all_finite(X.column(column), allow_nan=True, input_name="X")
    return X, y


def _open_source(source: ColumnSource, y: ArrayLike, options: FitOptions, executor: Any) -> Checked:
    """Return the columns of a source, none of which is read, and the labels, checked."""
    n, m = source.shape
    if not options.accepts.sources:
        raise MaucError(
            f"X must be in memory for {options.name}, where rows are compared with rows: about "
            f"{format_bytes(16 * n * m)} for {plural(n, 'row')} and {plural(m, 'column')}. "
            f"{source.name} is read in blocks; load it (mauc.load_dataset), write some of its rows "
            f'to a file that fits (source.take_rows(mask).write("part.parquet")), or choose '
            f"another selector, such as GreedyMAUC."
        )
    y = check_labels(y)
    if n != len(y):
        raise MaucError(
            f"{source.name} has {plural(n, 'row')}, but y has {plural(len(y), 'label')}."
        )
    if n == 0 or m == 0:
        raise MaucError(
            f"{source.name} has {plural(n, 'row')} and {plural(m, 'column')}; at least one is "
            f"needed."
        )
    accepts = options.accepts
    columns = SourceColumns(
        source,
        options.categorical_features if accepts.nominal else None,
        accept_nominal=accepts.nominal,
        accept_infinite=accepts.infinite,
        executor=executor,
    )
    return Checked(columns, y, columns.is_nominal, source.feature_names)


def warn_of_degenerate(problem: Problem) -> None:
    """Warn of classes of a single sample, and where no feature has two values."""
    single = problem.classes[problem.class_counts == 1]
    if len(single):
        warn_user(
            f"{len(single)} of {problem.n_classes} classes have a single sample "
            f"({format_labels(single)}): what is measured on them rests on that sample alone.",
            SmallClassWarning,
        )
    if problem.is_constant:
        warn_user(
            "every feature is constant or missing: none tells classes apart, and features are "
            "chosen by their order.",
            ConstantInputWarning,
        )


def name_features(estimator: Any, problem: Problem) -> None:
    """Give an estimator ``n_features_in_`` and ``feature_names_in_`` as scikit-learn does."""
    estimator.n_features_in_ = problem.n_features
    if problem.feature_names is not None:
        estimator.feature_names_in_ = problem.feature_names
    else:
        vars(estimator).pop("feature_names_in_", None)


def check_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError unless the estimator was fitted."""
    check_is_fitted(estimator)


def check_columns(X: Any, estimator: Any) -> None:
    """Raise unless X has the columns, by name and number, that `estimator` was fitted on."""
    with mauc_errors():
        validate_data(estimator, X, reset=False, skip_check_array=True)


def frame_values(frame: Any) -> Any:
    """Return a data frame of numbers as an array, or a sparse matrix where it is one."""
    with mauc_errors():
        return check_array(frame, dtype=None, accept_sparse="csr", ensure_all_finite=False)


def check_source(source: Any, estimator: Any) -> None:
    """Raise unless a source has the columns, by name and number, that `estimator` was fitted on."""
    fitted, names = getattr(estimator, "feature_names_in_", None), source.feature_names
    if fitted is None or names is None:
        check_columns(np.broadcast_to(np.float64(0.0), (1, source.shape[1])), estimator)
    elif len(fitted) != len(names) or (fitted != names).any():
        known, found = set(fitted), set(names)
        unseen = [str(name) for name in names if name not in known]
        missing = [str(name) for name in fitted if name not in found]
        raise MaucError(
            f"{source.name} must have the columns that {type(estimator).__name__} was fitted on, "
            f"in their order"
            + (f"; unseen: {format_labels(unseen)}" if unseen else "")
            + (f"; missing: {format_labels(missing)}" if missing else "")
            + "."
        )


def check_generator(random_state: Seed) -> np.random.RandomState:
    """Return the generator of a `random_state`, as estimators document it."""
    if isinstance(random_state, np.random.SeedSequence):
        return np.random.RandomState(np.random.MT19937(random_state))
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)  # its draws go on where it stands
    try:
        return check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise as_mauc_error(error) from error


def check_same_length(*arrays: object) -> None:
    """Raise unless all arrays, None excepted, have the same number of rows."""
    with mauc_errors():
        check_consistent_length(*arrays)


def _table_error(error: Exception, X: Any, takes_nominal: bool) -> Exception:
    """Return an error that names the first column of a table that is not numeric, if any."""
    encode = (
        "encode or drop it first (for example with sklearn.preprocessing.OrdinalEncoder or "
        "OneHotEncoder)"
    )
    if is_frame(X):
        for j, name in enumerate(X.columns):
            column = X.iloc[:, j] if hasattr(X, "iloc") else X[name]
            values = np.asarray(column)
            if not _are_numbers(values):
                advice = (
                    "give it a categorical dtype or name it in categorical_features, or drop it"
                )
                return MaucError(
                    f"X must be numeric, but column {name!r} has dtype {column.dtype} with values "
                    f"such as {values[:1].tolist()[0]!r}; {advice if takes_nominal else encode}."
                )
        return as_mauc_error(error)
    try:
        values = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    except ValueError:  # rows of several lengths
        return as_mauc_error(error)
    if values.ndim != 2 or values.dtype.kind not in "OUS":
        return as_mauc_error(error)
    for j, column in enumerate(values.T):
        if not _are_numbers(column):
            value = next(
                one for one in column.tolist() if not _are_numbers(np.array([one], object))
            )
            advice = (
                "pass a data frame, of which text columns are nominal (behind a ColumnTransformer: "
                'set_output(transform="pandas")), or name the column in categorical_features'
            )
            cause = f" ({error})" if values.dtype.kind == "O" else ""
            kind = MaucTypeError if isinstance(error, TypeError) else MaucError
            return kind(
                f"X must be numeric, but column {j} of the array ({values.dtype}) has values such "
                f"as {value!r}{cause}; {advice if takes_nominal else encode}."
            )
    if values.dtype.kind in "US":
        return MaucError(
            f"X must be numeric, but is an array of text ({values.dtype}); convert it first: "
            f"X.astype(float)."
        )
    return as_mauc_error(error)


def _are_numbers(values: np.ndarray) -> bool:
    """Whether all of the values can be read as floats."""
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True
