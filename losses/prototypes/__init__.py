"""Losses against one learned vector for each class."""
