"""Exports of the pages: pictures, figures, captions, CSV, code."""
