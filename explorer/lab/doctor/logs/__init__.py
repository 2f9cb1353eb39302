"""What is the matter with a run: its log, wherever it was kept, and what is found in it."""
