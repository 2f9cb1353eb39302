"""Measurements: ``python -m benchmarks NAME``; README.md lists them."""
