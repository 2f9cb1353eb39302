"""Version of LossPrism, as `pyproject.toml` has it."""

VERSION = "0.1.0"
