"""Self-contained pictures: SVG drawn without a browser, and its conversion to files."""
