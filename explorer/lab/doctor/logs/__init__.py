"""Diagnosis of a run: readers of its log, whatever the format, and the findings."""
