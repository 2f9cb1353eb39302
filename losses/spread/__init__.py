"""What holds vectors together or apart without negatives: alignment, spread, redundancy."""
