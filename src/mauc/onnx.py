"""Fitted selectors become ONNX models, alone or as a step of a pipeline: a gather of columns."""

from typing import Any

import mauc.selectors
from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.registry import SELECTOR_CLASSES

__all__ = ["register_converters"]


def register_converters() -> None:
    """Tell skl2onnx how to convert the selectors; call it once before ``skl2onnx.to_onnx``.

    A selector becomes a ``Gather`` of the selected columns, in their order in the table, of
    numbers of any type, booleans or strings. It needs ``pip install 'mauc[onnx]'``.

    Examples
    --------
    >>> from skl2onnx import to_onnx
    >>> from sklearn.datasets import load_iris
    >>> from mauc import GreedyMAUC
    >>> from mauc.onnx import register_converters
    >>> register_converters()
    >>> X, y = load_iris(return_X_y=True)
    >>> model = to_onnx(GreedyMAUC(2).fit(X, y), X[:1])
    >>> [node.op_type for node in model.graph.node]
    ['Gather']
    """
    skl2onnx = optional_import("skl2onnx", "ONNX models")
    for name in SELECTOR_CLASSES:
        skl2onnx.update_registered_converter(
            getattr(mauc.selectors, name), f"Mauc{name}", _set_shape, _convert
        )


def _set_shape(operator: Any) -> None:
    """Set the type of the output: as many columns as are selected, of the type of the input."""
    selector, (table, *others) = operator.raw_operator, operator.inputs
    if others:
        raise MaucError(
            f"initial_types of {type(selector).__name__} must be one input with all columns, such "
            f'as [("X", FloatTensorType([None, n_features]))], got {1 + len(others)} inputs.'
        )
    n_selected = int(selector.get_support().sum())
    operator.outputs[0].type = type(table.type)([table.get_first_dimension(), n_selected])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the gather of the selected columns to a graph."""
    from onnx import TensorProto

    selected = operator.raw_operator.get_support(indices=True)
    columns = scope.get_unique_variable_name("columns")
    container.add_initializer(columns, TensorProto.INT64, [len(selected)], selected)
    container.add_node(
        "Gather",
        [operator.inputs[0].full_name, columns],
        operator.outputs[0].full_name,
        name=scope.get_unique_operator_name("Gather"),
        axis=1,
    )
