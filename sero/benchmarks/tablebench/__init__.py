"""TableBench: fact checking, numerical reasoning and data analysis over tables."""

from sero.benchmarks.tablebench.benchmark import TableBench, TableBenchConfig

__all__ = ["TableBench", "TableBenchConfig"]
