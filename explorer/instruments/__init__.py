"""What draws: Python components, each with its own script beside it."""
