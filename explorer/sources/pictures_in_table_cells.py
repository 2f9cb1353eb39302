"""Pictures of what a table brings vectors of: in a column as data URLs, or files named by a path.

A picture is whatever Pillow decodes of `FORMATS`. What leaves here is decoded, made small and
encoded anew: of a file that is a picture and something else, the something else is gone.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import io
import re
import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.owner_consent import has_picture_folder, picture_path
from lossprism.explorer.sources.cells import Cells, listed_in

if TYPE_CHECKING:
    from PIL import Image

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
SIDE = 96  # pixels of a thumbnail, at most
PICTURE_BYTES = 8 * MIB
PICTURE_PIXELS = 2**24
DECODED_PIXELS = 2**27  # of the pictures of one batch: seconds of work
JPEG_SHARE = 8  # a JPEG that is decoded small costs this part of its pixels
_DATA_URL = re.compile(r"\s*data:image/[a-z0-9.+-]+(?:;name=([^;,]*))?;base64,", re.IGNORECASE)
_PATH = re.compile(r".+\.(png|jpe?g|webp|gif|bmp|svg|tiff?)", re.IGNORECASE)

# What Pillow raises for damaged content.
DAMAGE = (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error, zlib.error)

Source = bytes | Path  # the content of a picture, or its file


class Picture(str):
    """The name of a picture, such as "image 3", in place of its data URL, `url`."""

    url: str

    @classmethod
    def of(cls, url: str, name: str) -> Picture:
        """Return the picture of a data URL, by the name that it has there, or else this one."""
        match = _DATA_URL.match(url)
        picture = cls(unquote((match and match[1]) or "").strip() or name)
        picture.url = url
        return picture

    @property
    def content(self) -> bytes | None:
        """The bytes of the picture; None where the data URL is damaged."""
        try:
            return base64.b64decode(self.url.partition(",")[2].strip(), validate=True)
        except binascii.Error:
            return None


def is_data_url(cell: object) -> bool:
    """Return whether a cell is the data URL of a picture."""
    return isinstance(cell, str) and _DATA_URL.match(cell) is not None


def is_picture_path(text: str) -> bool:
    """Return whether a text is the path of a file that is called like a picture."""
    return _PATH.fullmatch(text) is not None


def with_name(url: str, name: str) -> str:
    """Return the data URL of a picture with a name in it."""
    return url.replace(";", f";name={quote(name)};", 1)


class RowPictures:
    """Pictures of the texts in some columns of a table, `places`, of the rows that were kept.

    `found` has the source of each by its text; `refused` are the texts of those that cannot be
    shown.
    """

    def __init__(self, places: Sequence[int]) -> None:
        self._places = places
        self._row: list[object] = []
        self.found: dict[str, Source] = {}
        self.refused: dict[str, None] = {}

    def read(self, cells: Cells) -> None:
        """Read the row; it is kept, or not."""
        self._row = [one for place in self._places for one in listed_in(cells[place])]

    def keep(self) -> None:
        """Keep the pictures of the row that was read last, as far as they can be shown."""
        for cell in self._row:
            text = cell.strip() if isinstance(cell, str) else ""
            may_be_file = has_picture_folder() and is_picture_path(text)
            if text in self.found or not (isinstance(cell, Picture) or may_be_file):
                continue
            source = cell.content if isinstance(cell, Picture) else picture_path(text)
            if source is not None and _open_image(content_of(source)):
                self.found[text] = source
            else:
                self.refused[text] = None


def content_of(source: Source) -> bytes:
    """Return the content of a picture; of a file no more than may be decoded, and b"" of one that
    cannot be read any more."""
    if isinstance(source, bytes):
        return source
    try:
        with source.open("rb") as file:
            return file.read(PICTURE_BYTES + 1)
    except OSError:
        return b""


def thumbnails(contents: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    """Return pictures as data URLs of at most SIDE × SIDE pixels, by their names, without those
    that are damaged, and as many as DECODED_PIXELS allow."""
    pictures: dict[str, str] = {}
    left = DECODED_PIXELS
    for name, content in contents:
        image = _open_image(content)
        if image is None:
            continue
        whole = image.width * image.height
        image.draft(None, (2 * SIDE, 2 * SIDE))  # a JPEG is decoded no larger
        left -= max(image.width * image.height, whole // JPEG_SHARE)
        if left < 0:
            break
        with contextlib.suppress(*DAMAGE):
            pictures[name] = thumbnail_of(image)
    return pictures


def thumbnail_of(image: Image.Image) -> str:
    """Return an image of Pillow as a data URL of at most SIDE × SIDE pixels."""
    from PIL import ImageOps

    plain = image.convert("RGBA" if image.has_transparency_data else "RGB")
    scale = min(1.0, SIDE / max(plain.size))
    width, height = (max(1, round(scale * side)) for side in plain.size)
    small = ImageOps.exif_transpose(plain.resize((width, height), reducing_gap=2.0))
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=80, exif=b"", icc_profile=b"")
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"


def _open_image(content: bytes) -> Image.Image | None:
    """Return the picture with its size known and nothing decoded; None for what is no picture of
    FORMATS, and for one that is too large."""
    from PIL import Image  # takes its time, and most tables have no pictures

    if len(content) > PICTURE_BYTES:
        return None
    try:
        image = Image.open(io.BytesIO(content), formats=FORMATS)
    except (*DAMAGE, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return None
    return image if image.width * image.height <= PICTURE_PIXELS else None
