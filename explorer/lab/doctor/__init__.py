"""What is the matter: with a number, or with data; each a pure function that ends in findings."""

# What a table of pairs is examined for where nobody says.
USUAL_LOSS, USUAL_BATCH = "info_nce", 64
USUAL_HUB_ROWS = 10_000  # that are read of a data set of the hub
UNUSABLE = 2  # the status of a command that could not do what was asked, as argparse has it
OF_OTHER = ("batch", "temperature", "scale")  # what may be known of another run beside its loss
