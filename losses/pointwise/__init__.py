"""Losses that look at each pair alone."""
