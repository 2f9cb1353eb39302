"""What leaves the page: pictures, figures, captions, CSV, code."""
