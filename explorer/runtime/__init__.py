"""Foundations of every package: problems, device, files, arrays, progress."""

# What --fetch says of itself, of a command that answers --help without loading anything.
FETCH = "fetch the models that the scenario names, and read its files and folders"
