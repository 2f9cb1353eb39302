"""Points on a circle or a sphere that the gradient of a loss moves, as a film of steps."""
