"""What every room stands on: problems, device, files, arrays, progress."""
