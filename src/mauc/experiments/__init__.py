"""Experiments: a plan in, rows that survive crashes out."""

from mauc.experiments.load import load_run
from mauc.experiments.plan import Cell, DatasetSpec, MethodSpec, Plan, TuningSpec
from mauc.experiments.plan_file import parse_plan, plan_schema, plan_to_toml, read_plan
from mauc.experiments.rows import Row
from mauc.experiments.run import RunSummary, run_plan
from mauc.experiments.store import RunFolder

__all__ = [
    "Cell", "DatasetSpec", "MethodSpec", "Plan", "Row", "RunFolder", "RunSummary", "TuningSpec",
    "load_run", "parse_plan", "plan_schema", "plan_to_toml", "read_plan", "run_plan",
]  # fmt: skip
