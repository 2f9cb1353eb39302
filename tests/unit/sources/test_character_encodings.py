"""Texts in the encodings of the world, detected from their content, or chosen."""

from __future__ import annotations

import codecs

import pytest

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import character_encodings
from lossprism.explorer.sources.character_encodings import (
    ENCODINGS,
    decode,
    known_encoding,
    previews,
)
from lossprism.explorer.sources.pairs_from_tables import read_table

SENTENCES = {
    "ru": ("Чай ещё горячий, не обожгись.", "Мальчик играет на гитаре."),
    "uk": ("Чай ще гарячий, не обпечися.", "Сьогодні гарна погода, їдемо до Києва."),
    "tw": ("今天天氣很好，我們去公園。", "孩子們在花園裡玩耍。"),
    "zh": ("今天天气很好，我们去公园。", "孩子们在花园里玩耍。"),
    "ja": ("今日は天気がいいので、公園に行きましょう。", "子供たちが庭で遊んでいる。"),
    "ko": ("오늘은 날씨가 좋아서 공원에 갑니다.", "아이들이 정원에서 놀고 있다."),
    "he": ("התה עדיין חם, היזהרו.", "הילד מנגן בגיטרה."),
    "ar": ("الشاي ما زال ساخنا، انتبه.", "الولد يعزف على الجيتار."),
    "el": ("Το τσάι είναι ακόμα ζεστό.", "Το αγόρι παίζει κιθάρα."),
    "pl": ("Herbata jest jeszcze gorąca, uważaj.", "Spotkanie przełożono na środę."),
    "cs": ("Čaj je ještě horký, dávej pozor.", "Schůzka byla přeložena na středu."),
    "hu": ("A tea még forró, vigyázz.", "A találkozót szerdára halasztották, őszintén."),
    "tr": ("Çay hâlâ sıcak, dikkat et.", "Çocuk bahçede gitar çalıyor."),
    "th": ("ชายังร้อนอยู่ ระวังด้วย", "เด็กชายเล่นกีตาร์"),
    "fr": ("Le café est fermé cet été.", "Où est la clé ?"),
    "de": ("Der Tee ist noch heiß, Vorsicht.", "Für später ist schönes Wetter."),
}
WRITTEN = [
    *(("ru", codec) for codec in ("cp1251", "koi8-r", "cp866", "iso8859-5", "mac-cyrillic")),
    *(("uk", codec) for codec in ("cp1251", "koi8-u")),
    *(("tw", codec) for codec in ("big5", "cp950", "gb18030")),
    *(("zh", codec) for codec in ("gbk", "gb18030", "hz", "utf-7")),
    *(("ja", codec) for codec in ("shift_jis", "euc-jp", "iso2022_jp")),
    *(("ko", codec) for codec in ("euc-kr", "cp949", "johab", "iso2022_kr")),
    *(("he", codec) for codec in ("cp1255", "iso8859-8")),
    *(("ar", codec) for codec in ("cp1256", "iso8859-6")),
    *(("el", codec) for codec in ("cp1253", "iso8859-7")),
    *((country, codec) for country in ("pl", "cs", "hu") for codec in ("cp1250", "iso8859-2")),
    *(("tr", codec) for codec in ("cp1254", "iso8859-9")),
    ("th", "cp874"),
    *(("fr", codec) for codec in ("cp1252", "latin1", "iso8859-15")),
    *(("de", codec) for codec in ("cp1252", "latin1")),
    *(("zh", f"utf-{bits}{end}") for bits in (16, 32) for end in ("", "-le", "-be")),
]


def table_of(country: str) -> str:
    """A table of one row, in which the separator stands between quotation marks."""
    return 'sentence1,sentence2,score\n"{}","{}",1\n'.format(*SENTENCES[country])


@pytest.mark.parametrize(("country", "codec"), WRITTEN)
def test_one_row_shows_its_encoding(country, codec):
    data = table_of(country).encode(codec)
    table = read_table(data, "x.csv")
    assert table.pairs.rows == ((*SENTENCES[country], "1"),)
    assert not table.skipped
    assert table.encoding in ENCODINGS
    # It reads the same where it is chosen, under the name that was shown and under its own.
    for message in (table.encoding, codec):
        assert read_table(data, "x.csv", encoding=message).pairs.rows == table.pairs.rows


def test_words_among_a_megabyte_of_english_are_found():
    text = "sentence1,sentence2,score\n" + "The tea is hot,It is warm,1\n" * 20_000
    data = text.encode() + table_of("ru").partition("\n")[2].encode("koi8-r")
    assert read_table(data, "x.csv", most=10**6).pairs.first[-1] == SENTENCES["ru"][0]


@pytest.mark.parametrize(
    "text",
    [
        "Use +Foo- or +Bar-,C++-ABC- is +AGE-,1",
        r"a ~{\bf x~} b,see ~{ and ~} there,1",
        "red \x1b[31mred\x1b[0m,plain,1",
        "1+1=2+abc,a+b+c+d,1",
    ],
)
def test_plain_text_with_the_marks_of_an_encoding_stays_plain(text):
    table = read_table(f"sentence1,sentence2,score\n{text}\n".encode(), "x.csv")
    assert table.encoding == "UTF-8"
    assert table.pairs.rows == ((*text.split(",")[:2], "1"),)


@pytest.mark.parametrize("data", [b"\x81\x20\x8d,b,1", b"a,\xf7\xe1\xea,1"])
def test_too_few_letters_for_an_encoding_need_an_answer(data):
    with pytest.raises(Problem) as caught:
        read_table(data, "x.csv")
    assert (caught.value.key, caught.value.about) == ("problem.file_encoding", "encoding")


def test_letters_that_read_the_same_in_all_that_is_likely_are_read():
    for text in ("café,b,1", "x,a–b’s,1"):
        assert decode(text.encode("cp1252"), "x") == (text, "Windows-1252")


def test_a_chosen_encoding_is_used():
    data = table_of("ru").encode("koi8-r")
    table = read_table(data, "x.csv", encoding="windows-1251")
    assert table.encoding == "Windows-1251"
    assert table.pairs.first[0] == SENTENCES["ru"][0].encode("koi8-r").decode("cp1251")
    with pytest.raises(Problem) as caught:
        read_table(data, "x.csv", encoding="utf-8")
    assert caught.value.key == "problem.file_not_in_encoding"
    assert caught.value.values == {"name": "x.csv", "encoding": "UTF-8", "line": 2}
    for unknown in ("morse", "", "\0", "x" * 1000):
        with pytest.raises(Problem) as caught:
            known_encoding(unknown)
        assert caught.value.key == "problem.encoding_unknown"


def test_every_encoding_is_named_by_itself_and_by_its_codec():
    for message, codec in ENCODINGS.items():
        assert codecs.lookup(codec)
        assert (
            known_encoding(message)
            == known_encoding(message.lower())
            == known_encoding(codec)
            == message
        )


def test_previews_show_how_each_would_read():
    data = b"plain words first\n" * 100 + "The word чай горячий".encode("koi8-r")
    shown = dict(previews(data))
    assert "чай горячий" in shown["KOI8-R"]
    assert "чай" not in shown["Windows-1251"]
    assert "UTF-8" not in shown
    assert list(shown).index("KOI8-R") < 3


def test_a_damaged_byte_late_in_a_long_file_names_its_line():
    row = table_of("tw").partition("\n")[2].encode("big5")
    data = b"sentence1,sentence2,score\n" + row * (
        character_encodings.SAMPLE_BYTES // len(row) + 10
    )
    with pytest.raises(Problem) as caught:
        read_table(data + b"\xff\xff,b,1\n", "x.csv")
    assert caught.value.key == "problem.file_not_in_encoding"
    assert caught.value.values["line"] == data.count(b"\n") + 1


@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff\ufeff"])
def test_a_mark_of_byte_order_inside_a_file_is_in_no_sentence(mark):
    once = f'{mark}sentence1,sentence2,score\n"a","b",1\n'
    table = read_table((once + mark + '"c","d",0\n').encode(), "x.csv")
    assert table.pairs.rows == (("a", "b", "1"), ("c", "d", "0"))
    lines = '{"s1": "\\ufeffa", "s2": "b", "score": 1}\n{"s1": "\\ufeff", "s2": "b", "score": 1}'
    table = read_table(lines.encode(), "x.jsonl")
    assert table.pairs.rows == (("a", "b", "1"),)
    assert [skip.problem.key for skip in table.skipped] == ["problem.sentence_missing"]
