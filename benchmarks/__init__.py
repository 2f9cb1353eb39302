"""Measurements: ``python -m benchmarks interaction`` and ``python -m benchmarks losses``."""
