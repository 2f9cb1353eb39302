"""Losses of single pairs."""
