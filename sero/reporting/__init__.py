"""Run directories read back: typed records, statistics over items, tables and the static page."""
