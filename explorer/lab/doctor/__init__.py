"""Diagnosis of a number, a dataset or a run: pure functions that return findings."""

# Defaults of the examination of a table of pairs.
USUAL_LOSS, USUAL_BATCH = "info_nce", 64
USUAL_HUB_ROWS = 10_000  # that are read of a dataset of the hub
UNUSABLE_STATUS = 2  # exit status of a command that failed, as in argparse
# Known values of another run that may stand beside its loss.
OTHER_RUN_SETTINGS = ("batch", "temperature", "scale")
