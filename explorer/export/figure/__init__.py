"""Pictures that stand on their own: SVG drawn without a browser, and what writes it to a file."""
