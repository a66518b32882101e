"""Selectors and classifiers of a plan: a short name or an import path in, an estimator out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mauc.checks import unknown_choice
from mauc.exceptions import MaucError
from mauc.registry import CLASSIFIERS, SELECTORS, make_classifier, make_selector

if TYPE_CHECKING:
    from mauc.experiments.plan import MethodSpec


def build_selector(spec: "MethodSpec", n_features_to_select: int | None = None) -> Any:
    """Return the unfitted selector of a spec."""
    _check_method("selector", spec, SELECTORS)
    if "n_features_to_select" in spec.options:
        raise MaucError(f"{spec.name}: the sizes of the plan say how many features to select.")
    if spec.is_imported:
        made = _import_method(spec)
        if n_features_to_select is not None and "n_features_to_select" in made.get_params():
            made.set_params(n_features_to_select=n_features_to_select)
        return made
    return _checked(spec, make_selector(spec.method, n_features_to_select, **spec.options))


def build_classifier(spec: "MethodSpec") -> Any:
    """Return the unfitted classifier of a spec."""
    _check_method("classifier", spec, CLASSIFIERS)
    if spec.is_imported:
        return _import_method(spec)
    return _checked(spec, make_classifier(spec.method, **spec.options))


def takes_nominal(method: Any) -> bool:
    """Whether a selector or classifier takes nominal columns as codes that it is told of."""
    accepts = getattr(method, "accepts", None)
    return bool(accepts and accepts.nominal) and "categorical_features" in method.get_params()


def tell_nominal(method: Any, options: Any, is_nominal: Any) -> Any:
    """Tell a method which columns are nominal, if it takes them and was told of none."""
    if is_nominal is not None and takes_nominal(method) and "categorical_features" not in options:
        method.set_params(categorical_features=is_nominal)
    return method


def _checked(spec: "MethodSpec", made: Any) -> Any:
    try:
        made.check_options()
    except MaucError as error:
        raise MaucError(f"{spec.name}: {error}") from error
    return made


def _check_method(kind: str, spec: "MethodSpec", known: Any) -> None:
    if not isinstance(spec.method, str):
        raise MaucError(f"the method of {spec.name} must be text, got {spec.method!r}.")
    # A dot alone makes no import path: "c4.5" is a slip for "c45".
    is_slip = spec.method.replace(".", "").lower() in known
    if spec.method not in known and (is_slip or not spec.is_imported):
        raise unknown_choice(kind, spec.method, known)


def _import_method(spec: "MethodSpec") -> Any:
    module, _, name = spec.method.rpartition(".")
    try:
        made = getattr(import_module(module), name)()
        known = made.get_params()
    except Exception as error:  # the module is not ours and may raise anything
        raise MaucError(
            f"method {spec.method!r} must be the import path of an estimator whose parameters "
            f"have defaults; it cannot be used: {error}."
        ) from error
    for option in spec.options:
        if option not in known:
            raise unknown_choice(f"option of {spec.method}", option, known)
    return made.set_params(**spec.options)
