"""Experiments: a plan in, rows that survive crashes out."""

from mauc.experiments.plan import (
    Cell,
    DatasetSpec,
    MethodSpec,
    Plan,
    TuningSpec,
    parse_plan,
    plan_schema,
    plan_to_toml,
    read_plan,
)
from mauc.experiments.rows import Row
from mauc.experiments.run import RunSummary, run_plan
from mauc.experiments.store import RunFolder, load_run

__all__ = [
    "Cell",
    "DatasetSpec",
    "MethodSpec",
    "Plan",
    "Row",
    "RunFolder",
    "RunSummary",
    "TuningSpec",
    "load_run",
    "parse_plan",
    "plan_schema",
    "plan_to_toml",
    "read_plan",
    "run_plan",
]
