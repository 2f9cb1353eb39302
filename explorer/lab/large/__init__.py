"""Exact overviews of batches too large for their matrix to be stored.

`split` resolves losses whose terms are a row part times a column part without forming them. `tiles`
streams every other matrix over the device and keeps only its blocks.
"""
