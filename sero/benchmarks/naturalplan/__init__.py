"""NaturalPlan: trip planning, calendar scheduling and meeting planning."""

from sero.benchmarks.naturalplan.benchmark import NaturalPlan, NaturalPlanConfig
from sero.benchmarks.naturalplan.items import task_from_data

__all__ = ["NaturalPlan", "NaturalPlanConfig", "task_from_data"]
