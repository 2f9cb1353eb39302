"""Similarities of positives and negatives in the forms in which people have them: recognised, with
the right means and the right change; and no pairs, log or ids are taken for some."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lossprism.explorer.lab.doctor.pasted_input import read_pasted
from lossprism.explorer.lab.doctor.similarity_file_reader import read_similarities
from lossprism.explorer.lab.doctor.terminal_commands import doctor
from lossprism.explorer.web.api.dataset_diagnosis import doctor_data
from lossprism.explorer.web.api.pasted_text_diagnosis import doctor_pasted
from tests.sentences import pattern_of
from tests.unit.lab.doctor.test_terminal_commands import typed_doctor

BEFORE = ([0.5, 0.6], [0.3, 0.4]), ([0.7], [0.2])
AFTER = ([0.4, 0.45], [0.1, 0.1]), ([0.6], [0.05])
QUERIES = [[{"pos": own, "neg": other} for own, other in one] for one in (BEFORE, AFTER)]
FIRST = [dict(query[0]) for query in QUERIES]


def lines(records):
    return "\n".join(map(json.dumps, records))


def joined(**moments):
    return {f"{side}_{name}": one[side] for name, one in moments.items() for side in one}


# Each holds the first query before and after, or all.
FORMS = {
    "moments of lists": json.dumps({"before": QUERIES[0], "after": QUERIES[1]}),
    "indented": json.dumps({"before": QUERIES[0], "after": QUERIES[1]}, indent=1),
    "moments of one": json.dumps({"before": FIRST[0], "after": FIRST[1]}),
    "with its settings": json.dumps({"model": "bge", "before": FIRST[0], "after": FIRST[1]}),
    "names of both": json.dumps(joined(before=FIRST[0], after=FIRST[1])),
    "lines of both": lines(
        joined(before=one, after=other) for one, other in zip(*QUERIES, strict=True)
    ),
    "within the side": json.dumps(
        {side: {"before": FIRST[0][side], "after": FIRST[1][side]} for side in ("pos", "neg")}
    ),
    "lines of stages": lines(
        {"stage": name, "positive_scores": one["pos"], "negative_scores": one["neg"]}
        for name, one in zip(("before", "after"), FIRST, strict=True)
    ),
    "labels": "label,before,after\n1,0.5,0.4\n1,0.6,0.45\n0,0.3,0.1\n0,0.4,0.1\n",
    "labels by query": "qid\tlabel\tsim_before\tsim_after\n"
    "1\t1\t.5\t.4\n1\t1\t.6\t.45\n1\t0\t.3\t.1\n1\t0\t.4\t.1\n2\t1\t.7\t.6\n2\t0\t.2\t.05\n",
    "Chinese": json.dumps({"训练前": {"正例": [0.5, 0.6], "负例": [0.3, 0.4]},
                           "训练后": {"正例": [0.4, 0.45], "负例": [0.1, 0.1]}}),
}  # fmt: skip
OF_ALL = {"moments of lists", "indented", "lines of both", "labels by query"}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_same_means(form):
    found = read_similarities(FORMS[form].encode())
    names = ["训练前", "训练后"] if form == "Chinese" else ["before", "after"]
    assert [one.name for one in found.moments] == names
    for moment, queries in zip(found.moments, (BEFORE, AFTER), strict=True):
        some = queries if form in OF_ALL else queries[:1]
        for side, mean in enumerate((moment.positive, moment.negative)):
            assert mean == pytest.approx(np.mean(np.concatenate([one[side] for one in some])))
    assert [one.name for one in found.faults] == ["gap_wider"]


@pytest.mark.parametrize(
    "text",
    [
        '{"query": "a", "pos": ["b"], "neg": ["c"], "pos_scores": [0.9], "neg_scores": [0.1]}',
        '{"query": "a", "positive": "b", "negative": "c", "positive_score": 0.9}',
        '{"qid": 3, "pos": [12, 33], "neg": [4]}',
        '{"step": 1, "pos_sim": 0.5, "neg_sim": 0.1}\n{"step": 2, "pos_sim": 0.6, "neg_sim": 0.1}',
        "step,loss,pos_sim,neg_sim\n1,0.9,0.5,0.1\n2,0.8,0.5,0.1\n",
        "sentence1,sentence2,label,score\na b,c d,1,0.9\ne,f,0,0.2\n",
        "text,label\nthe sun,0\na cat,1\n",
        '{"pos": [0.5], "neg": []}',
        '{"pos": [0.5], "neg": ["nan"]}',
        '{"before": {"pos": [0.5], "neg": [0.4]}, "after": {"pos": [0.5]}}',
        '{"pos": ' * 3000,
        "",
    ],
)
def test_pairs_logs_ids_and_broken_texts_are_none(text):
    assert read_similarities(text.encode()) is None


@pytest.mark.parametrize("seed", range(20))
def test_the_change_is_what_the_numbers_say(seed):
    """Counted anew from the definition, over random queries of both moments."""
    draw = np.random.default_rng(seed)
    queries = [
        [(draw.random(draw.integers(1, 4)), draw.random(draw.integers(1, 5))) for _ in range(5)]
        for _ in range(2)
    ]
    value = {
        name: [{"pos": own.tolist(), "neg": other.tolist()} for own, other in some]
        for name, some in zip(("before", "after"), queries, strict=True)
    }
    found = read_similarities(json.dumps(value).encode())
    gaps, orders = [], []
    for some in queries:
        means = [np.concatenate(side).mean() for side in zip(*some, strict=True)]
        gaps.append(means[0] - means[1])
        won = [one > two for own, other in some for one in own for two in other]
        orders.append(np.mean(won))
    names = [one.name for one in found.faults]
    assert ("order_worse" in names) == (orders[1] < orders[0])
    if orders[1] >= orders[0]:
        assert ("gap_wider" in names) == (gaps[1] > gaps[0])
        assert ("gap_narrower" in names) == (gaps[1] < gaps[0])
    reversed_queries = [at for at, (own, other) in enumerate(queries[1], 1)
                        if any(two > one for one in own for two in other)]  # fmt: skip
    rows = [one.rows for one in found.faults if one.name == "reversed"]
    assert rows == ([tuple(reversed_queries)] if reversed_queries else [])
    for one in found.faults:
        for language in ("en", "zh"):
            assert "{" not in " ".join([one.written(language), *one.advised(language)])


def test_the_same_answer_in_a_terminal_and_for_programs(tmp_path, capsys):
    text = FORMS["moments of lists"]
    assert read_pasted(text.encode()).kind == "table"
    path = tmp_path / "similarities.json"
    path.write_text(text)
    assert doctor(typed_doctor(str(path), "--json")) == 0
    answer = json.loads(capsys.readouterr().out)
    assert doctor_data("cosent", table=text) == answer
    assert doctor_pasted(text)["data"] == answer
    assert answer["moments"][1]["gap"] == pytest.approx(np.mean([0.4, 0.45, 0.6]) - 0.25 / 3)
    assert doctor(typed_doctor(str(path), "--language", "zh")) == 0
    assert "差距" in capsys.readouterr().out
    for words in (("--clean", str(tmp_path / "c.csv")), ("--encoder", "minilm")):
        assert doctor(typed_doctor(str(path), *words)) == 2
        assert pattern_of("problem.similarities_no_texts").search(capsys.readouterr().err)
