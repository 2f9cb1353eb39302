"""Losses made of losses: the same on prefixes of the vectors, and sums of several."""
