"""Pictures beside a table's own vectors: what is shown of them, and what is refused."""

from __future__ import annotations

import base64
import io
import json
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, PngImagePlugin

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.export.drawing_data_of_exploration import describe_batch
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.runtime import owner_consent, uploads
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.owner_consent import allow_pictures
from lossprism.explorer.sources import pictures_in_table_cells
from lossprism.explorer.sources.encoders import locate
from lossprism.explorer.sources.encoders.uploaded_vectors import store
from lossprism.explorer.sources.pairs_from_tables import read_table, with_stored_vectors
from lossprism.explorer.sources.pictures_in_table_cells import PICTURE_BYTES, PICTURE_PIXELS, SIDE
from lossprism.explorer.sources.reading_notes import reading_notes
from tests.sentences import raises_problem

COLOURS = ((200, 40, 40), (40, 90, 200), (30, 140, 60), (220, 160, 20))
N = len(COLOURS)
IMAGES, TEXTS = np.random.RandomState(0).randn(2, N, 5).astype(np.float32)
CAPTIONS = [f"a square, number {row}" for row in range(N)]


def square(colour, size=(160, 120), mode="RGB"):
    image = Image.new(mode, size, "white")
    ImageDraw.Draw(image).rectangle((20, 20, size[0] - 20, size[1] - 20), fill=colour)
    return image


def encoded(image, kind="PNG", **how):
    held = io.BytesIO()
    image.save(held, kind, **how)
    return held.getvalue()


def data_url(content, kind="png"):
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


URLS = [data_url(encoded(square(colour))) for colour in COLOURS]


def rows_of(images):
    columns = zip(images, CAPTIONS, IMAGES.tolist(), TEXTS.tolist(), strict=True)
    names = ("image", "caption", "image_embedding", "caption_embedding")
    return [dict(zip(names, row, strict=True)) for row in columns]


def read(images):
    return read_table(json.dumps(rows_of(images)).encode(), "x.json", with_vectors=True)


def shown(table):
    """The pictures that the texts of a table's pairs have."""
    stored = with_stored_vectors(table, "x.json")
    return locate(stored.own_vectors).pictures(stored.pairs.sentences)


def decoded(url):
    head, _, content = url.partition(",")
    assert head == "data:image/webp;base64"
    return Image.open(io.BytesIO(base64.b64decode(content)))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of pictures, which its owner allowed, beside one that they did not."""
    monkeypatch.setattr(owner_consent, "_picture_folders", {})
    for place in ("mine", "other"):
        (tmp_path / place).mkdir()
        for row, colour in enumerate(COLOURS):
            square(colour).save(tmp_path / place / f"{row}.png")
    allow_pictures(tmp_path / "mine")
    return tmp_path / "mine"


# ---- What is shown -------------------------------------------------------------------------------


def test_a_picture_is_named_by_its_column_and_first_row_and_shown_small():
    table = read([URLS[0], URLS[1], URLS[2], URLS[3]])
    assert table.pairs.first == ("image 1", "image 2", "image 3", "image 4")
    assert table.pairs.second == tuple(CAPTIONS)
    found = shown(table)
    assert [*found] == [*table.pairs.first]
    for url, colour in zip(found.values(), COLOURS, strict=True):
        small = decoded(url)
        assert small.size == (SIDE, SIDE * 120 // 160)
        middle = small.convert("RGB").getpixel((SIDE // 2, SIDE // 3))
        assert np.abs(np.subtract(middle, colour)).max() < 16
    assert ("reading.pictures", {"count": "4"}) in [
        (note.key, note.values) for note in reading_notes(table)
    ]


def test_a_picture_that_comes_again_is_one_text():
    rows = rows_of([URLS[0], URLS[1], URLS[0], URLS[2]])
    rows[2]["image_embedding"] = rows[0]["image_embedding"]
    table = read_table(json.dumps(rows).encode(), "x.json", with_vectors=True)
    assert table.pairs.first == ("image 1", "image 2", "image 1", "image 4")


def test_arrays_bring_pictures_as_an_array_of_texts():
    held = io.BytesIO()
    words = {"image": np.array(URLS), "caption": np.array(CAPTIONS)}
    np.savez(held, image_embeds=IMAGES, text_embeds=TEXTS, **words)
    table = read_table(held.getvalue(), "clip.npz", with_vectors=True)
    assert table.pairs.first[1] == "image 2"
    assert len(shown(table)) == N


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
def test_each_accepted_kind_is_decoded(kind):
    found = shown(read([data_url(encoded(square(one), kind), kind) for one in COLOURS]))
    assert len(found) == N


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16", "CMYK"])
def test_each_kind_of_pixels_is_decoded(mode):
    kind = "JPEG" if mode == "CMYK" else "PNG"
    image = Image.new(mode, (32, 16))
    assert decoded(pictures_in_table_cells.thumbnails([("", encoded(image, kind))])[""]).size == (
        32,
        16,
    )


def test_a_picture_keeps_its_camera_and_leaves_its_data():
    about = Image.Exif()
    about[0x0112] = 6  # turned by a quarter
    about[0x010E] = "where I live"
    content = encoded(square("red"), "JPEG", exif=about)
    small = pictures_in_table_cells.thumbnails([("", content)])[""]
    assert decoded(small).size == (72, 96)
    assert b"where I live" in content
    assert b"where I live" not in base64.b64decode(small.partition(",")[2])


def test_the_batch_and_its_figure_show_them():
    table = with_stored_vectors(read(URLS), "x.json")
    data = Data(source="table", rows=table.pairs.rows, encoder=table.own_vectors)
    found = explore(resolve(Scenario(loss="info_nce", data=data)))
    known = describe_batch(found.batch)["pictures"]
    assert [*known] == [*table.pairs.first]
    figure = matrix_figure(found)
    assert all(figure.count(url) == 1 for url in known.values())
    uploads.find(table.own_vectors.partition("#")[2]).unlink()
    assert describe_batch(found.batch)["pictures"] == {}  # a batch outlives its file


def test_pictures_need_vectors():
    rows = [{"image": url, "caption": text} for url, text in zip(URLS, CAPTIONS, strict=True)]
    with raises_problem("pictures_no_vectors", column="image"):
        read_table(json.dumps(rows).encode(), "x.json", with_vectors=True)


# ---- Paths ---------------------------------------------------------------------------------------


def test_paths_are_shown_where_the_owner_allowed_their_folder(folder):
    names = [f"{row}.png" for row in range(N)]
    table = read(names)
    assert table.pairs.first == tuple(names)
    assert [*shown(table)] == names
    whole = read([str(folder / name) for name in names])
    assert len(shown(whole)) == N


def outside(folder, kind):
    other = folder.parent / "other"
    (folder / "circle.png").symlink_to(folder / "circle.png")
    if kind == "link":
        (folder / "link.png").symlink_to(other / "0.png")
        (folder / "links").symlink_to(other)
        return ["link.png", "links/1.png"]
    return {
        "above": ["../other/0.png", "x/../../other/1.png"],
        "absolute": [str(other / "0.png"), str(other / "1.png")],
        "home": ["~/0.png", "~root/1.png"],
        "address": ["file:///etc/0.png", "https://example.org/1.png"],
        "network": [r"\\host\share\0.png", "//host/share/1.png"],
        "nothing": ["missing.png", f"{'a' * 5000}.png"],
        "no name": ["a\x00b.png", "circle.png"],
    }[kind]


@pytest.mark.parametrize(
    "kind",
    ["above", "absolute", "home", "address", "network", "nothing", "no name", "link"],
)
def test_no_file_outside_the_folder_is_read(folder, kind):
    names = [*outside(folder, kind), "2.png", "3.png"]
    table = read(names)
    assert [*shown(table)] == ["2.png", "3.png"]
    (note,) = (one for one in reading_notes(table) if one.key == "reading.not_shown")
    assert note.values["count"] == "2"


def test_without_the_owner_no_path_is_looked_at(folder, monkeypatch):
    monkeypatch.setattr(owner_consent, "_picture_folders", {})
    monkeypatch.setattr(owner_consent, "file_inside", None)
    table = read([str(folder / f"{row}.png") for row in range(N)])
    assert shown(table) == {}
    assert table.not_shown == ()


def test_a_hosted_page_reads_no_path(folder, monkeypatch):
    table = with_stored_vectors(read([f"{row}.png" for row in range(N)]), "x.json")
    encoder = locate(table.own_vectors)
    monkeypatch.setenv(HOSTED, "1")
    assert encoder.pictures(table.pairs.sentences) == {}
    with raises_problem("picture_folder", folder=folder.name):  # which no visitor learns in full
        allow_pictures(folder)


def test_a_crafted_upload_leads_nowhere_else(folder):
    """A file as `store` writes it that names others, opened by a link with its digest."""
    other = str(folder.parent / "other" / "0.png")
    name = store("x.json", [other, "0.png"], IMAGES[:2], {other: Path(other), "0.png": Path("/")})
    assert [*locate(name).pictures([other, "0.png"])] == ["0.png"]


def test_only_texts_of_the_table_are_shown(folder):
    table = with_stored_vectors(read([f"{row}.png" for row in range(3)] + ["a text"]), "x.json")
    square("red").save(folder / "later.png")
    assert locate(table.own_vectors).pictures(["later.png", "./0.png", "0.png"]).keys() == {"0.png"}


# ---- What cannot be shown ------------------------------------------------------------------------


def claiming(width, height):
    """A PNG whose header names another size than there is."""
    content = bytearray(encoded(square("red")))
    content[16:24] = struct.pack(">II", width, height)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    return bytes(content)


def bomb_of_text():
    about = PngImagePlugin.PngInfo()
    about.add_text("x", "0" * 80_000_000, zip=True)
    return encoded(square("red"), pnginfo=about)


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
REFUSED = {
    "svg": lambda: SVG,
    "html": lambda: b"<html><script>alert(1)</script>",
    "postscript": lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    "tiff": lambda: encoded(square("red"), "TIFF"),
    "icon": lambda: encoded(square("red"), "ICO"),
    "nothing": lambda: b"",
    "cut short in its head": lambda: encoded(square("red"))[:20],
    "too many pixels": lambda: encoded(Image.new("1", (4097, PICTURE_PIXELS // 4096))),
    "a bomb": lambda: claiming(60_000, 60_000),
    "a bomb of text": bomb_of_text,
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("comes", ["as a data URL", "as a file"])
def test_anything_else_is_a_text_and_is_reported(folder, kind, comes):
    content = REFUSED[kind]()
    (folder / "odd.png").write_bytes(content)
    odd = data_url(content) if comes == "as a data URL" else "odd.png"
    table = read([odd, *URLS[1:]])
    assert [*shown(table)] == ["image 2", "image 3", "image 4"]
    (note,) = (one for one in reading_notes(table) if one.key == "reading.not_shown")
    assert note.values["name"] == table.pairs.first[0]
    assert len(table.pairs) == N  # the row is kept: its vector is right


def test_a_file_of_too_many_bytes_is_not_shown(folder):
    with (folder / "0.png").open("ab") as file:
        file.truncate(PICTURE_BYTES + 1)
    assert [*shown(read([f"{row}.png" for row in range(N)]))] == ["1.png", "2.png", "3.png"]


def test_a_data_url_that_is_no_base64_is_a_text():
    assert len(shown(read(["data:image/png;base64,!!!", *URLS[1:]]))) == N - 1


def test_what_is_damaged_further_in_is_not_shown():
    content = encoded(square("red"), "PNG", compress_level=0)
    assert pictures_in_table_cells.thumbnails([("half", content[: len(content) // 2])]) == {}


def test_of_a_file_that_is_two_things_the_picture_is_left():
    script = b"<script>alert(1)</script>"
    for content in (
        encoded(square("red")) + script,
        encoded(square("red"), "GIF", comment=script),
        encoded(square("red"), "JPEG", comment=script),
    ):
        assert script in content
        small = pictures_in_table_cells.thumbnails([("", content)])[""]
        assert script not in base64.b64decode(small.partition(",")[2])


def test_names_in_data_urls_are_texts_alone():
    url = URLS[0].replace(";", ";name=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E;", 1)
    table = read([url, *URLS[1:]])
    assert table.pairs.first[0] == "<img src=x onerror=alert(1)>"
    assert set(shown(table)[table.pairs.first[0]]) <= set(
        "data:image/webp;base64,ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
    )


def test_a_batch_decodes_no_more_than_a_few_seconds_take(monkeypatch):
    monkeypatch.setattr(pictures_in_table_cells, "DECODED_PIXELS", 2 * 160 * 120)
    photographs = [(str(row), encoded(Image.new("RGB", (1280, 960)), "JPEG")) for row in range(9)]
    assert (
        len(pictures_in_table_cells.thumbnails(photographs)) == 0
    )  # their share of 1280 × 960 / 8 is more
    contents = [(str(row), encoded(square(one))) for row, one in enumerate(COLOURS)]
    assert [*pictures_in_table_cells.thumbnails(contents)] == ["0", "1"]


def test_a_folder_of_pictures_has_to_be_one(tmp_path):
    with raises_problem("picture_folder", folder=str(tmp_path / "none")):
        allow_pictures(tmp_path / "none")
    assert not os.path.exists(tmp_path / "none")
