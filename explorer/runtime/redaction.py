"""Redacted log: what a library logs may quote what a visitor sent."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from typing import Any


def log_without_words() -> None:
    """Of what any library logs from now on only the place and, of an error, the kind is written."""
    usual = logging.getLogRecordFactory()

    def made(*given: Any, **named: Any) -> logging.LogRecord:
        record = usual(*given, **named)
        said = f"{Path(record.pathname).name}:{record.lineno}"
        if record.exc_info and record.exc_info[0]:
            places = traceback.format_tb(record.exc_info[2])
            said = f"{said} {record.exc_info[0].__name__}\n{''.join(places)}"
        record.msg, record.args, record.exc_info, record.exc_text = said, (), None, None
        return record

    logging.setLogRecordFactory(made)
