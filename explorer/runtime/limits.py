"""Limits of sizes and times, each defined once. This module imports nothing.

A function takes a limit as an argument if its callers have different ones, which are defined here.
Limits of one figure or one algorithm are beside it.
"""

MIB = 2**20

# ---- Pairs of a batch
EXPLORED_PAIRS = 512  # of Explore, which shows whole matrices
TRACED_PAIRS = 64  # of traces with every cell; more would be many megabytes of text
TRAINED_PAIRS = 100_000  # that a program may send
# Large page: losses whose terms split or can be summed without their cells take `LARGE_PAIRS`; the
# matrices of others are streamed cell by cell, those over sentences with two sentences a pair.
LARGE_PAIRS = 2**20
LARGE_STREAMED_PAIRS = 2**15
LARGE_IN_BATCH_PAIRS = LARGE_STREAMED_PAIRS // 2
LARGE_CELLWISE_PAIRS = 2**11  # above, cells are visited only if no other way exists
LARGE_CORRECTIONS = 10_000  # of one source
LARGE_DRAWN_PAIRS = 2**16  # random pairs with vectors, which are freed after scoring
# Exported code has its numbers up to these counts; larger batches are computed by the code.
WRITTEN_PAIRS, WRITTEN_NUMBERS = 32, 256
SWEPT_PAIRS = 128  # of a sweep with all points; more pairs have fewer points
SWEPT_CELLS = 2**20  # of all points together; a larger sweep is queued on a hosted page
# Stops of a slider with exact pictures, within `RANGE_CELLS` of all matrices together.
STOPS, MIN_STOPS = 101, 24
RANGE_CELLS = 2**21
SHOWN_ROWS = 1024  # rows and columns of a step that are shown and exported

# ---- Files and texts
FILE_BYTES = 64 * MIB
HEAVY_FILE_BYTES = MIB // 4  # unpacked; reading a larger file is heavy work on a hosted page
BYTE_SECONDS = 2e-6  # of a processor, to read a byte in the worst case
LARGE_FILE_BYTES = 256 * MIB  # about a million pairs of short sentences
UNPACKED_BYTES = 512 * MIB  # of a Parquet or Arrow file
UNPACKED_ROWS = 2**22  # of such a file, in which an empty row needs hardly a byte
DISK_ROWS = 2**24  # of a local Parquet file, which is read in parts
COLUMNS = 10_000  # enough for two embeddings with a column for each number
ROW_LETTERS = 2**22  # of one JSON object, or of a list in one cell
OBJECT_LETTERS = 2**24  # of one JSON object that holds a whole table
SKIPPED_ROWS = 10_000  # of a file, listed with reasons; more are counted
BAD_ROWS = 2**17  # unusable rows; a file of more of them, and of fewer usable ones, is refused
SCENARIO_BYTES = 16_000_000  # of a scenario as JSON, in a link or a file
LINK_LETTERS = 16_000  # some programs cut off longer addresses; a file replaces these
QUOTED_LETTERS = 400  # of a text quoted in a message
MODEL_NAME_LETTERS = 1000
NAMED_ROWS = 10  # unusable rows that a message lists

# ---- Caches and waiting
VECTOR_CACHE_BYTES = 256 * MIB
CACHE_FOLDER_BYTES = 2048 * MIB
LOADED_MODELS = 2
KEPT_BATCHES = 64  # one for each visitor of a busy page
DOWNLOAD_S = 3600.0  # for which a packed download is stored
DOWNLOADS_BYTES = 2048 * MIB  # of all packed downloads
TABLES = 64  # of the last requests
CORPORA = 4
PACES = 256  # of trial steps
JOB_RESULTS = 3
JOB_IDLE_S = 60.0  # after which a job without polls is cancelled: the page was closed
HUB_S = 5.0  # after which a silent hub is unreachable
HUB_SILENT_S = 60.0  # after which a download of a dataset has stalled
ANSWER_S = 0.8  # that an answer waits for work to end before it reports progress

# ---- Training
QUEUED_AT_ONCE = 24  # plans of one request
NAMED_RUNS = 500  # of one request to watch, compare or share
SEEDS = (1, 10)  # smallest and largest number per loss
