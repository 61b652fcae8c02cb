"""Seeded items with exact gold in the published schemas, one file per kind."""
