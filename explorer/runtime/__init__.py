"""Foundations of every package: problems, device, files, arrays, progress."""
