"""Batches too large for their matrix: an exact overview of the terms that nobody could store.

`split` resolves losses whose terms are a row part times a column part without forming them,
`tiles` streams every other matrix over the device and keeps only its blocks.
"""
