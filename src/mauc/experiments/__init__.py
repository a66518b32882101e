"""Experiments: a plan in, rows that survive crashes out."""

from mauc.experiments.load import load_run
from mauc.experiments.plan import Cell, DatasetSpec, MethodSpec, Plan, TuningSpec
from mauc.experiments.plan_file import parse_plan, plan_to_toml, read_plan
from mauc.experiments.rows import Row
from mauc.experiments.runner import RunSummary, run_plan
from mauc.experiments.siren import compare_selectors, siren_study
from mauc.experiments.siren_measures import SirenStudy, siren_index

__all__ = [
    "Cell",
    "DatasetSpec",
    "MethodSpec",
    "Plan",
    "Row",
    "RunSummary",
    "SirenStudy",
    "TuningSpec",
    "compare_selectors",
    "load_run",
    "parse_plan",
    "plan_to_toml",
    "read_plan",
    "run_plan",
    "siren_index",
    "siren_study",
]
