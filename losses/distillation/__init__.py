"""Losses that learn from a teacher: its scores, its margins, its vectors."""
