"""OlympiadBench: open-ended competition problems of mathematics and physics, in text alone.

The class is `benchmark.OlympiadBench`. Nothing is imported here: the worker processes of the two
judges load this package too, and are replaced whenever they are stopped.
"""
