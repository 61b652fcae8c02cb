"""Sero: role-pool evolution for multi-agent LLM reasoning."""

__version__ = "0.1.0"
