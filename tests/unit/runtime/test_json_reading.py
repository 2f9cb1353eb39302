"""Bad JSON of every kind is a ValueError."""

from __future__ import annotations

import json

import pytest

from lossprism.explorer.runtime.json_reading import JsonReader, read_json

DEEP = ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000]
BAD = ["", "nul", "[1,", '"\ud800', "{'a': 1}", "1 2", "9" * 5000]


@pytest.mark.parametrize("text", [*DEEP, *BAD], ids=lambda text: text[:8])
@pytest.mark.parametrize("encode", [str, lambda text: text.encode("utf-8", "surrogatepass")])
def test_text_that_is_no_json_is_a_value_error(text, encode):
    with pytest.raises(ValueError, match=r"."):
        read_json(encode(text))


@pytest.mark.parametrize("value", [None, [], {"a": [1, 2.5, "é", True]}, "\U0001f600"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", "utf-8-sig"])
def test_values_come_back_from_text_and_from_bytes(value, encoding):
    text = json.dumps(value, ensure_ascii=False)
    assert read_json(text) == read_json(text.encode(encoding)) == value


def test_a_value_in_the_midst_of_text_that_is_nested_too_deeply():
    with pytest.raises(ValueError, match="nested too deeply"):
        JsonReader().raw_decode("x" + "[" * 100_000, 1)
