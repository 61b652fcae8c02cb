"""The inference operator F: from a pool, its credit and a task to an answer and a trace."""
