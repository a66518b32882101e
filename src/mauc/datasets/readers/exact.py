"""Make every version of pandas read numbers exactly."""

from typing import Any


def exact_floats() -> dict[str, Any]:
    """Return the options of ``pandas.read_csv`` that round numbers correctly.

    Before 3.1 its default may be off by the last bit; since then it is exact, and the option
    is deprecated.
    """
    import pandas as pd

    version = tuple(int(part) for part in pd.__version__.split(".")[:2])
    return {} if version >= (3, 1) else {"float_precision": "round_trip"}
