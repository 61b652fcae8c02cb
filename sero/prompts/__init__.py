"""Prompts, role cards and fixed graphs, as data."""
