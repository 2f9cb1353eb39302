"""Losses on lists: the candidates of one query, compared with each other."""
