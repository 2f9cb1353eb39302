"""Exact overviews of batches too large for their matrix to be stored.

`pair_order_terms_by_row_and_column` resolves losses whose terms are a row part times a column part
without forming them, `hinge` and `ordered_pair_logistic_on_grid` those of their form. `tile_survey`
streams every other matrix over the device and keeps only its blocks.
"""
