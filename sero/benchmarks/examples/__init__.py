"""Worked examples: a few items of code review, architecture and hard maths, written by hand.

They show what assigning roles does on a task; they are too few to compare methods by.
"""

from sero.benchmarks.examples.architecture import Architecture
from sero.benchmarks.examples.code_review import CodeReview
from sero.benchmarks.examples.hard_math import HardMath

__all__ = ["Architecture", "CodeReview", "HardMath"]
