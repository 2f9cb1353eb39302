"""Redaction of texts: of visitors' data in logs, and of the app's paths in answers."""

import logging
import re
import traceback
from pathlib import Path
from typing import Any

_PART = r"[\\/][^\s\\/'\":;,()<>]+"
# No part of a relative path or of an address of the web; one such as file:///tmp/a is.
_ABSOLUTE_PATH = re.compile(rf"(?<![\w.-])(?<!:/)(?:[A-Za-z]:)?(?:{_PART})+[\\/]?")


def log_without_words() -> None:
    """Log of libraries only the place and, for an error, the kind from now on."""
    usual = logging.getLogRecordFactory()

    def made(*arguments: Any, **named: Any) -> logging.LogRecord:
        record = usual(*arguments, **named)
        message = f"{Path(record.pathname).name}:{record.lineno}"
        if record.exc_info and record.exc_info[0]:
            places = traceback.format_tb(record.exc_info[2])
            message = f"{message} {record.exc_info[0].__name__}\n{''.join(places)}"
        record.msg, record.args, record.exc_info, record.exc_text = message, (), None, None
        return record

    logging.setLogRecordFactory(made)


def without_places(text: str) -> str:
    """Return the text with each absolute path into a folder of this machine cut to its last part.

    >>> without_places("no file /tmp/somebody/pairs.csv: ask /nobody/knows or https://a.org/tmp/b")
    'no file pairs.csv: ask /nobody/knows or https://a.org/tmp/b'
    """
    return _ABSOLUTE_PATH.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    path = Path(match[0])
    return path.name if Path(*path.parts[:2]).exists() else match[0]
