"""The rows of a results table: one class per method, one protocol for all."""
