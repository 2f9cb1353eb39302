"""Vectors that a file has of its own texts: how they are read, stored and found again."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from safetensors.numpy import save

from lossprism.explorer.runtime import uploads
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.limits import MIB, UNPACKED_BYTES
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.sources.array_files import MAX_ARRAYS
from lossprism.explorer.sources.encoders import locate
from lossprism.explorer.sources.encoders.uploaded_vectors import (
    file_of,
    in_place_of,
    is_own,
    store,
)
from lossprism.explorer.sources.pairs_from_tables import read_table, with_stored_vectors
from lossprism.explorer.sources.reading_notes import reading_notes
from tests.sentences import raises_problem

N, WIDTH = 6, 4
IMAGES, TEXTS = np.random.RandomState(0).randn(2, N, WIDTH).astype(np.float32)
CAPTIONS = [f"a photo of {animal}" for animal in ("cat", "dog", "owl", "fox", "bear", "crab")]


def npz(**arrays):
    held = io.BytesIO()
    np.savez_compressed(held, **arrays)
    return held.getvalue()


def npy(array, **how):
    held = io.BytesIO()
    np.save(held, array, **how)
    return held.getvalue()


def parquet(**columns):
    held = io.BytesIO()
    lists = {name: list(c) if isinstance(c, np.ndarray) else c for name, c in columns.items()}
    pyarrow.parquet.write_table(pyarrow.table(lists), held)
    return held.getvalue()


def rows_of(**columns):
    plain = {n: c.tolist() if isinstance(c, np.ndarray) else c for n, c in columns.items()}
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]


def read(content, name, **how):
    return read_table(content, name, with_vectors=True, **how)


def vectors_by_text(table):
    return dict(zip(table.pairs.sentences, table.pairs.vectors, strict=True))


NAMED = {"image": IMAGES, "text": TEXTS}
WITHOUT_TEXTS = {
    "npz": (npz(**NAMED), "pairs.npz"),
    "npz of a model's outputs": (
        npz(image_embeds=IMAGES, text_embeds=TEXTS, logit_scale=np.float32(100)),
        "clip.npz",
    ),
    "half": (npz(image=IMAGES.astype(np.float16), text=TEXTS.astype(np.float16)), "half.npz"),
    "by columns": (npz(image=np.asfortranarray(IMAGES), text=TEXTS), "order.npz"),
    "safetensors": (save(NAMED), "pairs.safetensors"),
    "parquet": (parquet(image_embedding=IMAGES, text_embedding=TEXTS), "pairs.parquet"),
    "json": (
        json.dumps(rows_of(image_vector=IMAGES, text_vector=TEXTS)).encode(),
        "pairs.json",
    ),
}


@pytest.mark.parametrize("kind", WITHOUT_TEXTS)
def test_two_matrices_are_pairs_row_by_row(kind):
    table = read(*WITHOUT_TEXTS[kind])
    assert table.pairs.first == tuple(f"image {row + 1}" for row in range(N))
    assert table.pairs.second == tuple(f"text {row + 1}" for row in range(N))
    assert not table.pairs.labelled
    found = vectors_by_text(table)
    for row in range(N):
        np.testing.assert_allclose(found[f"image {row + 1}"], IMAGES[row], rtol=2e-3)
        np.testing.assert_allclose(found[f"text {row + 1}"], TEXTS[row], rtol=2e-3)


def test_a_stack_is_one_matrix_for_each_side():
    table = read(npy(np.stack([IMAGES, TEXTS], axis=1)), "stack.npy")
    np.testing.assert_array_equal(table.pairs.vectors[::2], IMAGES)
    np.testing.assert_array_equal(table.pairs.vectors[1::2], TEXTS)


WORDS = np.array(CAPTIONS)
LABELS = np.linspace(0, 1, N)
WITH_TEXTS = {
    "npz": (npz(image=IMAGES, text=TEXTS, caption=WORDS, score=LABELS), "pairs.npz"),
    "words first": (npz(caption=WORDS, score=LABELS, image=IMAGES, text=TEXTS), "pairs.npz"),
    "safetensors": (
        save({**NAMED, "score": LABELS}, metadata={"caption": json.dumps(CAPTIONS)}),
        "pairs.safetensors",
    ),
    "parquet": (
        parquet(
            image=[f"image {row + 1}" for row in range(N)],
            caption=CAPTIONS,
            image_embedding=IMAGES,
            text_embedding=TEXTS,
            score=LABELS,
        ),
        "pairs.parquet",
    ),
    "csv": (
        "\n".join(
            [
                "image\tcaption\tscore\timage_emb\ttext_emb",
                *(
                    f"image {row + 1}\t{CAPTIONS[row]}\t{LABELS[row]}\t"
                    f"{IMAGES[row].tolist()}\t{TEXTS[row].tolist()}"
                    for row in range(N)
                ),
            ]
        ).encode(),
        "pairs.tsv",
    ),
}


@pytest.mark.parametrize("kind", WITH_TEXTS)
def test_texts_and_labels_are_known_by_their_names(kind):
    table = read(*WITH_TEXTS[kind])
    assert table.pairs.first == tuple(f"image {row + 1}" for row in range(N))
    assert table.pairs.second == tuple(CAPTIONS)
    assert table.pairs.labels == pytest.approx(tuple(LABELS))
    found = vectors_by_text(table)
    np.testing.assert_allclose([found[one] for one in CAPTIONS], TEXTS, rtol=1e-5)
    keys = [note.key for note in reading_notes(table)]
    assert "reading.vectors" in keys
    assert "reading.by_position" not in keys


def test_triplets_have_a_matrix_for_each_role():
    third = np.random.RandomState(1).randn(N, WIDTH).astype(np.float32)
    table = read(npz(anchor=IMAGES, positive=TEXTS, negative=third), "triplets.npz")
    assert table.pairs.labels == (1.0, 0.0) * N
    found = vectors_by_text(table)
    np.testing.assert_array_equal(found["negative 2"], third[1])


def test_one_matrix_with_classes_is_pairs_of_one_class():
    table = read(
        npz(image=IMAGES, label=np.array(["cat", "dog", "cat", "owl", "dog", "cat"])), "x.npz"
    )
    pairs = [*zip(table.pairs.first, table.pairs.second, strict=True)]
    assert pairs == [
        ("image 1 (cat)", "image 3 (cat)"),
        ("image 2 (dog)", "image 5 (dog)"),
        ("image 3 (cat)", "image 6 (cat)"),
    ]
    np.testing.assert_array_equal(vectors_by_text(table)["image 6 (cat)"], IMAGES[5])


def test_a_text_of_several_vectors_is_numbered():
    """As two images of one caption may be: a text has one vector."""
    captions = np.array(["a cat", "a cat", *CAPTIONS[2:]])
    table = read(npz(image=IMAGES, text=TEXTS, caption=captions), "x.npz")
    assert table.pairs.second[:2] == ("a cat", "a cat · 2")
    same = TEXTS.copy()
    same[1] = same[0]
    table = read(npz(image=IMAGES, text=same, caption=captions), "x.npz")
    assert table.pairs.second[:2] == ("a cat", "a cat")


def test_the_columns_can_be_chosen_and_left():
    content = parquet(
        a=[f"the {row}" for row in CAPTIONS], b=CAPTIONS, u=IMAGES, v=TEXTS, score=LABELS
    )
    chosen = {"first": "a", "second": "b", "score": "score"}
    assert read(content, "x.parquet", columns=chosen).pairs.vectors is None
    own = {**chosen, "vectors_first": "u", "vectors_second": "v"}
    found = vectors_by_text(read(content, "x.parquet", columns=own))
    np.testing.assert_array_equal(found[CAPTIONS[3]], TEXTS[3])
    named = parquet(a=CAPTIONS, b=CAPTIONS[::-1], a_vector=IMAGES, b_vector=IMAGES[::-1])
    none = {"vectors_first": "none", "vectors_second": "none"}
    assert read(named, "x.parquet").pairs.vectors is not None
    assert read(named, "x.parquet", columns=none).pairs.vectors is None


def test_vectors_of_one_side_alone_are_not_taken():
    content = parquet(a=CAPTIONS, b=CAPTIONS[::-1], a_vector=IMAGES, b_vector=IMAGES[::-1])
    table = with_stored_vectors(
        read(content, "x.parquet", columns={"vectors_first": "none"}), "x.parquet"
    )
    assert (table.pairs.vectors, table.own_vectors) == (None, "")


def test_rows_without_a_usable_vector_are_left_out_with_the_reason():
    odd = IMAGES.copy()
    odd[1], odd[2], odd[3] = np.nan, 0, np.inf
    table = read(npz(image=odd, text=TEXTS), "x.npz")
    assert [(one.row, one.key) for one in table.skipped] == [
        (2, "problem.vector_not_finite"),
        (3, "problem.vector_zero"),
        (4, "problem.vector_not_finite"),
    ]
    assert len(table.pairs) == N - 3
    holes = rows_of(image_vector=IMAGES, text_vector=TEXTS)
    holes[0]["text_vector"] = None
    table = read(json.dumps(holes).encode(), "x.json")
    assert [(one.row, one.key) for one in table.skipped] == [(1, "problem.vector_missing")]


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def lying_zip(size):
    """An archive whose directory says that its array takes so many bytes."""
    content = bytearray(npz(image=IMAGES))
    at = content.rindex(b"PK\x01\x02")
    content[at + 24 : at + 28] = size.to_bytes(4, "little")
    return bytes(content)


def claiming(shape):
    """A .npy whose header names a larger array than there is."""
    return npy(IMAGES).replace(str(IMAGES.shape).encode(), shape.encode().ljust(6))


def test_nothing_is_unpickled(tmp_path):
    trap = tmp_path / "sprung"
    objects = np.array([Trap(trap)] * N, dtype=object)
    for content, name in (
        (npz(image=objects, text=TEXTS), "x.npz"),
        (npy(objects, allow_pickle=True), "x.npy"),
    ):
        with raises_problem("arrays_pickled", name=name):
            read(content, name)
    with raises_problem("file_not_packed", name="x.npy", kind="NumPy"):
        read(pickle.dumps(Trap(trap)), "x.npy")
    assert not trap.exists()


REFUSED = {
    "file_broken": [
        (npz(**NAMED)[:120], "x.npz"),
        (npy(IMAGES)[:100], "x.npy"),
        (npy(IMAGES) + b"more", "x.npy"),
        (claiming("(9, 9)"), "x.npy"),
        (save(NAMED)[:-8], "x.safetensors"),
        (b"PK\x03\x04 no archive", "x.npz"),
    ],
    "arrays_alone": [(npz(image=IMAGES), "x.npz"), (npy(IMAGES), "x.npy")],
    "arrays_lengths": [(npz(image=IMAGES, text=TEXTS[1:]), "x.npz")],
    "arrays_widths": [(npz(image=IMAGES, text=TEXTS[:, 1:]), "x.npz")],
    "arrays_shape": [(npz(image=np.zeros((N, 3, 8, 8)), text=TEXTS), "x.npz")],
    "arrays_none": [(npz(score=LABELS), "x.npz")],
    "arrays_no_pairs": [(npz(image=IMAGES, label=np.arange(N)), "x.npz")],
    "arrays_count": [
        (npz(**{f"m{at}": np.zeros(1) for at in range(MAX_ARRAYS + 1)}), "x.npz"),
    ],
    "file_too_large": [(lying_zip(UNPACKED_BYTES + 1), "x.npz")],
    "file_not_packed": [(b"hello world, no tensors", "x.safetensors")],
}


@pytest.mark.parametrize("key", REFUSED)
def test_what_cannot_be_used_gets_a_sentence(key):
    for content, name in REFUSED[key]:
        with pytest.raises(Problem) as refused:
            read(content, name)
        assert refused.value.key == f"problem.{key}"


def test_a_bomb_is_refused_before_it_is_unpacked():
    held = io.BytesIO()
    with (
        zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("image.npy", "w", force_zip64=True) as file,
    ):
        for _ in range(UNPACKED_BYTES // (8 * MIB) + 1):
            file.write(bytes(8 * MIB))
    content = held.getvalue()
    assert len(content) < MIB
    with raises_problem("file_too_large", name="x.npz", most=UNPACKED_BYTES // MIB):
        read(content, "x.npz")


def test_a_training_takes_no_made_names():
    with raises_problem("vectors_no_texts", name="x.npz"):
        read_table(npz(**NAMED), "x.npz")


# ---- As an encoder -------------------------------------------------------------------------------


def test_stored_vectors_are_an_encoder_of_their_texts():
    table = with_stored_vectors(read(*WITH_TEXTS["npz"]), "clip.npz")
    name = table.own_vectors
    assert is_own(name)
    assert file_of(name) == "clip.npz"
    encoder = locate(name)
    np.testing.assert_array_equal(encoder.encode(CAPTIONS[::-1]), TEXTS[::-1])
    with raises_problem("vectors_sentence", sentence="a dragon", name="clip.npz"):
        encoder.encode(["a dragon"])
    assert with_stored_vectors(read(*WITH_TEXTS["npz"]), "clip.npz").own_vectors == name


def test_vectors_that_left_say_so():
    name = store("clip.npz", ["a"], IMAGES[:1])
    uploads.find(name.partition("#")[2]).unlink()
    with raises_problem("vectors_gone", name="clip.npz"):
        locate(name)


def test_a_visitor_has_only_their_own(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    with as_visitor(new_key()):
        name = store("clip.npz", ["a"], IMAGES[:1])
        locate(name)
    with as_visitor(new_key()), raises_problem("vectors_gone", name="clip.npz"):
        locate(name)


def test_a_chosen_encoder_takes_the_place_of_own_vectors():
    own = "clip.npz#" + "0" * 32
    assert in_place_of("all-MiniLM-L6-v2", own) == own
    assert in_place_of("", own) == own
    assert in_place_of("BAAI/bge-m3", own) == "BAAI/bge-m3"
    assert in_place_of("all-MiniLM-L6-v2", "") == "all-MiniLM-L6-v2"
