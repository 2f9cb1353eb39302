"""One folder for each page."""
