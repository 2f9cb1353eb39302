"""Sources of batches: tables and files, textbook examples, random batches, encoders."""
