"""A folder for each page."""
