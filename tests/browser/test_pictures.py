"""The script that takes the pictures of the README finds what it moves."""

from __future__ import annotations

from PIL import Image, ImageChops

from scripts import pictures


def test_the_lever_moves_the_picture_and_returns(page, tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "LEVER_SHARES", [0.2, 0.9])
    lever = page.locator(pictures.LEVER).first
    before = lever.input_value()
    pictures.save_moving(page, tmp_path / "lever.webp")
    assert lever.input_value() == before
    with Image.open(tmp_path / "lever.webp") as moving:
        frames = [moving.seek(place) or moving.convert("L") for place in range(moving.n_frames)]
    assert len(frames) == 3
    assert all(ImageChops.difference(frames[0], frame).getbbox() for frame in frames[1:])
