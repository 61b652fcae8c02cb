"""Meta-Debate: which candidate plays which role (method.md §5)."""
