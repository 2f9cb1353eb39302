"""Limits of sizes and times: each defined once, by one name. Nothing is imported here.

Functions take a limit as an argument if their callers have different ones, which are defined here.
Limits of one figure or one algorithm are beside it.
"""

MIB = 2**20

# ---- Pairs of a batch
EXPLORED_PAIRS = 512  # every matrix is shown, N × N
TRACED_PAIRS = 64  # beyond, every cell of every step as text would be many megabytes
TRAINED_PAIRS = 100_000  # that a program may send
# Of the Large page: losses whose terms split, or can be summed without their cells, take all; the
# others' matrices are streamed cell by cell, those of a loss over sentences with two a pair.
LARGE_PAIRS = 2**20
LARGE_STREAMED_PAIRS = 2**15
LARGE_IN_BATCH_PAIRS = LARGE_STREAMED_PAIRS // 2
LARGE_CELLWISE_PAIRS = 2**11  # above, cells are gone through only where nothing else is possible
LARGE_CORRECTIONS = 10_000  # of one source
LARGE_DRAWN_PAIRS = 2**16  # random ones with vectors, which are let go once the scores are known
# Code holds its numbers itself up to this many pairs and numbers; beyond, it makes the batch anew.
WRITTEN_PAIRS, WRITTEN_NUMBERS = 32, 256
# A sweep of more pairs than these is drawn through fewer points.
SWEPT_PAIRS = 128
SWEPT_CELLS = 2**20  # at all values together; beyond, it takes its turn on a hosted page
# The range of a lever has at most so many stops, fewer where the matrices of all have more cells,
# and is of no use with fewer than the least.
STOPS, MIN_STOPS = 101, 24
RANGE_CELLS = 2**21
# A step of more rows or columns than these is shown, and taken away, up to here.
SHOWN_ROWS = 1024

# ---- Files and texts
FILE_BYTES = 64 * MIB
# Unpacked; beyond, reading one takes its turn with the heavy work of a hosted page.
HEAVY_FILE_BYTES = MIB // 4
BYTE_SECONDS = 2e-6  # of a processor, to read a byte of the oddest text
LARGE_FILE_BYTES = 256 * MIB  # about a million pairs of short sentences
UNPACKED_BYTES = 512 * MIB  # of a Parquet or Arrow file
UNPACKED_ROWS = 2**22  # of such a file, which needs hardly a byte for an empty row
DISK_ROWS = 2**24  # of a Parquet file of this computer, which is never in memory as a whole
COLUMNS = 10_000  # two columns of embeddings, a number a column, are fewer
ROW_LETTERS = 2**22  # of one JSON object, or of a list in one cell
OBJECT_LETTERS = 2**24  # of one JSON object that holds a whole table
SKIPPED_ROWS = 10_000  # of a file, with their reasons; beyond, they are counted
BAD_ROWS = 2**17  # where fewer can be used, the file is no table of pairs
SCENARIO_BYTES = 16_000_000  # of a scenario as JSON, in a link or a file
# A longer address is cut off or refused somewhere between two people; a file is offered instead.
LINK_LETTERS = 16_000
QUOTED_LETTERS = 400  # of a text that is only quoted
MODEL_NAME_LETTERS = 1000
# So many rows of a file that cannot be used are named with their reason; the others are counted.
NAMED_ROWS = 10

# ---- What is kept
VECTOR_CACHE_BYTES = 256 * MIB
CACHE_FOLDER_BYTES = 2048 * MIB
LOADED_MODELS = 2
# Batches whose slider may be moved again: one for each visitor of a busy page.
KEPT_BATCHES = 64
# What was packed to be taken away stays this long, and of all of it no more than so much.
DOWNLOAD_S = 3600.0
DOWNLOADS_BYTES = 2048 * MIB
TABLES = 64  # of the last questions
CORPORA = 4
PACES = 256  # of trial steps
JOB_RESULTS = 3
# Work in the background that nobody has asked about for so long is cancelled: the page was closed.
JOB_IDLE_S = 60.0
HUB_S = 5.0  # a hub that says nothing for so long cannot be reached
HUB_SILENT_S = 60.0  # one that was reached, and sends nothing of a dataset any more
# An answer waits this long for work to end before it says how far that is.
ANSWER_S = 0.8

# ---- Training
QUEUED_AT_ONCE = 24  # plans of one request
NAMED_RUNS = 500  # of one request, that are followed, compared or shared
SEEDS = (1, 10)  # of each loss, least and most
