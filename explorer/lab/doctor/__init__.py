"""What is the matter: with a number, or with data; each a pure function that ends in findings."""

# What a table of pairs is examined for where nobody says.
USUAL_LOSS, USUAL_BATCH = "info_nce", 64
