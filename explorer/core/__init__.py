"""The spine: scenario, batch, trace, exploration, and what is read off it."""
