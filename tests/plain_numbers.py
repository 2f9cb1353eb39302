"""What a script reads of a CSV file: which of its columns are text, and which are numbers."""

from __future__ import annotations

import io

import pandas as pd


def table_of(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text.removeprefix("\ufeff")))


def text_columns(table: pd.DataFrame) -> set[str]:
    """The columns that are read as text; yes and no are no text, nor is a column of nothing."""
    types = pd.api.types
    return {
        str(name)
        for name, column in table.items()
        if not (types.is_numeric_dtype(column) or types.is_bool_dtype(column.dropna()))
    }
