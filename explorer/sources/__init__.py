"""Where batches come from: tables and files, textbook examples, random batches, encoders."""
