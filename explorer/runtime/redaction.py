"""What is left out of texts: of logs what a visitor sent, of answers where the app stands."""

from __future__ import annotations

import logging
import re
import traceback
from pathlib import Path
from typing import Any

_PART = r"[\\/][^\s\\/'\":;,()<>]+"
# No part of a relative path or of an address of the web; one such as file:///tmp/a is.
_ABSOLUTE_PATH = re.compile(rf"(?<![\w.-])(?<!:/)(?:[A-Za-z]:)?(?:{_PART})+[\\/]?")


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


def without_places(text: str) -> str:
    """The text with the last part alone of each absolute path into a folder of this machine.

    >>> without_places("no file /tmp/somebody/pairs.csv: ask /nobody/knows or https://a.org/tmp/b")
    'no file pairs.csv: ask /nobody/knows or https://a.org/tmp/b'
    """
    return _ABSOLUTE_PATH.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    path = Path(found[0])
    return path.name if Path(*path.parts[:2]).exists() else found[0]
