"""Measurements of a hosted page, part by part: ``python -m benchmarks hosting``."""
