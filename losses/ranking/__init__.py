"""Losses on the scores of pairs that should stand in the order of their labels."""
