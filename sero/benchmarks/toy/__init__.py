"""Toy: capitals, sentiment and one-step sums, which a model of 135M parameters partly solves."""

from sero.benchmarks.toy.benchmark import Toy

__all__ = ["Toy"]
