"""NaturalPlan: trip planning, calendar scheduling and meeting planning."""

from sero.benchmarks.naturalplan.benchmark import NaturalPlan, NaturalPlanConfig

__all__ = ["NaturalPlan", "NaturalPlanConfig"]
