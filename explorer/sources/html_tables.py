"""Tables of HTML, as a page or a notebook has them."""

import html
import re

_BEGINS = re.compile(r"\s*<(?:!doctype|html|head|meta|body|div|table|t(?:head|body|r))\b", re.I)
_TABLE = re.compile(r"<table\b[^<>]*>", re.IGNORECASE)
_ROW = re.compile(r"<tr\b[^<>]*>", re.IGNORECASE)
_CELL = re.compile(
    r"<t[hd]\b[^<>]*>(.*?)(?=</?t[hdr]\b|</t(?:able|body|head|foot)\b|\Z)", re.I | re.DOTALL
)
_BLOCK = re.compile(r"</?(?:br|p|div|li|ul|ol)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")


def rows_of_html(text: str) -> list[list[str]]:
    """Return the rows of the longest table of a text that begins like HTML; none of another text.

    >>> rows_of_html("<table><tr><th>a<th>b</tr><tr><td>1 &lt; 2</td><td>x<br>y</td></tr></table>")
    [['a', 'b'], ['1 < 2', 'x y']]
    """
    if not _BEGINS.match(text):
        return []
    tables = ([*map(_cells, _ROW.split(table)[1:])] for table in _TABLE.split(text))
    return max(([row for row in rows if row] for rows in tables), key=len, default=[])


def _cells(row: str) -> list[str]:
    texts = (_TAG.sub("", _BLOCK.sub(" ", cell)) for cell in _CELL.findall(row))
    return [" ".join(html.unescape(text).split()) for text in texts]
