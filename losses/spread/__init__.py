"""Losses that hold vectors together or apart without negatives: alignment, spread, redundancy."""
