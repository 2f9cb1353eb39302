"""Losses on vectors whose negatives are other keys, other classes or other pairs of the batch."""
