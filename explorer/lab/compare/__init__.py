"""Losses beside each other on one batch: what differs, in formula, number and gradient."""
