"""Experiments on a batch: each a pure function, none of them drawn here."""
