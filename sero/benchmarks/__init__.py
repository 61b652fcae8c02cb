"""Benchmarks: tasks with exact gold, parsers and scorers."""
