"""Sentences as points in a plane: projections of their vectors, and what a projection keeps."""
