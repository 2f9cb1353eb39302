"""Prompts before the sentences: the losses, the figures and the saved model are those of
sentence-transformers with the same prompts, by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from datasets import Dataset
from torch.nn.functional import cosine_similarity
from transformers import set_seed

from lossprism.explorer.lab.training import new_file_evaluation, starting_model
from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.ended_run_scores import measured
from lossprism.explorer.lab.training.held_out_metrics import HeldOut, live_sample
from lossprism.explorer.lab.training.plan import TrainingPlan
from tests.sentences import raises_problem
from tests.tiny import save_bert
from tests.unit.lab.training.taught import triplets

PROMPTS = {"query_prompt": "a red ", "document_prompt": "two dogs "}
SMALL = {"steps": 3, "batch_size": 8, "learning_rate": 0.01, "evaluations": 1}
# A text on both sides, as a question that is also the answer of another.
BOTH_SIDES = tuple(
    (f"the cat number {n}", f"the cat number {n + 1}", float(n % 3)) for n in range(24)
)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    from transformers import AutoModel

    folder = save_bert(tmp_path_factory.mktemp("bert"))
    model = AutoModel.from_pretrained(folder)
    torch.manual_seed(0)
    for weight in (one for one in model.parameters() if one.ndim > 1):
        torch.nn.init.normal_(weight, std=0.3)  # so that texts differ by more than rounding
    model.save_pretrained(folder)
    return folder


def saved_with_prompts(folder, prompts, default=None):
    """The folder of a model that has prompts in its configuration."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(save_bert(folder), device="cpu")
    model.prompts, model.default_prompt_name = prompts, default
    model.save_pretrained(str(folder / "saved"))
    return str(folder / "saved")


def by_hand(folder, pairs, prompts):
    """The cosine of each pair, as the library encodes both sides under these prompts."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    sides = ([pair[side] for pair in pairs] for side in (0, 1))
    vectors = [
        model.encode(side, prompt=prompt, convert_to_tensor=True, show_progress_bar=False)
        for side, prompt in zip(sides, prompts, strict=True)
    ]
    return cosine_similarity(*vectors).numpy()


def library_losses(encoder, columns, prompts, folder):
    """The losses that the library logs for its CoSENTLoss on these columns under these prompts."""
    from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
    from sentence_transformers.sentence_transformer import losses
    from sentence_transformers.sentence_transformer.training_args import (
        SentenceTransformerTrainingArguments as Arguments,
    )

    set_seed(0)
    model = SentenceTransformer(encoder, device="cpu")
    arguments = Arguments(
        output_dir=str(folder / "by_hand"),
        max_steps=3,
        per_device_train_batch_size=8,
        learning_rate=0.01,
        lr_scheduler_type="linear",
        weight_decay=1e-4,
        seed=0,
        prompts=prompts,
        dataloader_drop_last=True,
        save_strategy="no",
        logging_strategy="steps",
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    rows = Dataset.from_dict(columns)
    loss = losses.CoSENTLoss(model, scale=20.0)
    trainer = SentenceTransformerTrainer(model, arguments, train_dataset=rows, loss=loss)
    trainer.train()
    return [one["loss"] for one in trainer.state.log_history if "grad_norm" in one]


def logged(runs, name):
    return [record.loss for record in runs.history(name) if record.kind == "step"]


@pytest.mark.parametrize(
    "chosen",
    [PROMPTS, {"query_prompt": "a red ", "document_prompt": "a red "}, {"query_prompt": "a red "}],
    ids=["both", "the same", "one"],
)
def test_a_run_trains_measures_and_saves_as_the_library_does_by_hand(
    chosen, bert, runs, trained, tmp_path
):
    pairs = Corpus(BOTH_SIDES, BOTH_SIDES[:12])
    plan = TrainingPlan(
        encoder=bert, loss="cosent", warmup=0, sampler="shuffled", **SMALL, **chosen
    )
    name = trained(plan, pairs)
    prompts = [chosen["query_prompt"], chosen.get("document_prompt", "")]
    first, second, labels = map(list, zip(*BOTH_SIDES, strict=True))
    columns = {"sentence1": first, "sentence2": second, "label": labels}
    columns_prompts = dict(zip(("sentence1", "sentence2"), prompts, strict=True))
    assert logged(runs, name) == pytest.approx(
        library_losses(bert, columns, columns_prompts, tmp_path), rel=1e-5
    )
    run = runs.folder(name)
    for when, folder in (("before", bert), ("after", run.model)):
        expected = by_hand(folder, pairs.held_out, prompts)
        np.testing.assert_allclose(measured(run, when)["scores"], expected, atol=1e-5)
    saved = json.loads((run.model / "config_sentence_transformers.json").read_text())
    assert [saved["prompts"][side] for side in ("query", "document")] == prompts
    assert saved["default_prompt_name"] == ("query" if prompts[0] == prompts[1] else None)
    card = (run.model / "README.md").read_text()
    assert "a red" in card


@pytest.mark.parametrize("loss", ["info_nce", "list_net", "triplet"])
def test_each_form_of_rows_gets_the_prompt_of_its_side(loss, bert, runs, trained):
    """What the trainer read of each column begins with the prompt of its side."""
    rows = triplets((2,))
    name = trained(TrainingPlan(encoder=bert, loss=loss, **SMALL, **PROMPTS), rows)
    plan = runs.plan(name)
    columns = {"anchor": "", "positive": "", "negative_1": "", "negative_2": "", "label": 0}
    assert plan.prompts_for(columns) == {
        "anchor": PROMPTS["query_prompt"],
        **dict.fromkeys(("positive", "negative_1", "negative_2"), PROMPTS["document_prompt"]),
    }
    expected = by_hand(bert, rows.held_out, PROMPTS.values())
    np.testing.assert_allclose(measured(runs.folder(name), "before")["scores"], expected, atol=1e-5)


def test_a_file_of_unseen_pairs_is_measured_with_the_prompts(bert, runs, trained):
    pairs = Corpus(BOTH_SIDES, BOTH_SIDES[:12])
    requests = [PROMPTS, {}]
    plans = [TrainingPlan(encoder=bert, **SMALL, **chosen) for chosen in requests]
    folders = {name: runs.folder(name) for name in (trained(plan, pairs) for plan in plans)}
    unseen = new_file_evaluation.Unseen("other", BOTH_SIDES[::2], 12)
    found = new_file_evaluation.outcomes(folders, unseen, lambda *_, **__: None)
    for chosen, scores in zip(requests, found.values(), strict=True):
        prompts = [chosen.get(name, "") for name in PROMPTS]
        expected = by_hand(bert, BOTH_SIDES[::2], prompts)
        np.testing.assert_allclose(scores.scores["before"], expected, atol=1e-5)


def test_keys_are_found_among_keys_by_role():
    """The place of a key is the same whether its text is a query too, or is written differently."""
    pairs = [("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 1.0)]
    held_out = HeldOut.of(pairs, (), 0.5, sides_alike=False)
    assert held_out.sentences == ("a", "b", "b", "c", "c", "a")
    vectors = np.array([[1, 0], [0, 1], [1, 1], [0, 1], [1, 0], [0.9, 0.1]], dtype=np.float32)
    # Rows: query a, key b, query b, key c, query c, key a. The query's own text is passed over: a's
    # key b is as near as c, b's key c is farther than a, c's key a is nearer than b.
    assert held_out.places(vectors).tolist() == [2, 2, 1]


def test_a_probe_batch_of_lists_has_no_text_of_both_sides():
    lists = [(f"q{n}", f"d{n}{k}", float(k)) for n in range(4) for k in range(3)]
    mixed = [*lists, ("q9", "q0", 1.0), ("q9", "d", 0.0)]
    chosen, probe = live_sample(mixed, in_lists=True, sides_alike=False)
    assert {first for first, *_ in chosen[:probe]} == {"q0", "q1", "q2", "q3"}


def test_prompts_of_the_encoder_itself_are_named_and_not_used(runs, trained, tmp_path):
    own = {"query": "a red ", "document": "two dogs "}
    encoder = saved_with_prompts(tmp_path, own, "query")
    assert starting_model.own_prompts(encoder) == own
    pairs = Corpus(BOTH_SIDES, BOTH_SIDES[:12])
    name = trained(TrainingPlan(encoder=encoder, **SMALL), pairs)
    before = measured(runs.folder(name), "before")["scores"]
    np.testing.assert_allclose(before, by_hand(encoder, pairs.held_out, ["", ""]), atol=1e-5)
    saved = json.loads((runs.folder(name).model / "config_sentence_transformers.json").read_text())
    assert (saved["default_prompt_name"], any(saved["prompts"].values())) == (None, False)


@pytest.mark.parametrize("text", ["[]", "{", '{"prompts": ["a"]}', '{"prompts": {"query": 3}}'])
def test_an_odd_configuration_has_no_prompts(text, tmp_path):
    encoder = saved_with_prompts(tmp_path, {})
    (tmp_path / "saved" / "config_sentence_transformers.json").write_text(text)
    assert starting_model.own_prompts(encoder) == {}


def test_prompts_are_refused_where_they_would_not_be_used():
    with raises_problem("training_prompt_cross"):
        TrainingPlan(kind="cross", query_prompt="query: ")
    with raises_problem("training_prompt_classes"):
        TrainingPlan(loss="proxy_anchor", query_prompt="query: ")
    same = TrainingPlan(loss="proxy_anchor", query_prompt="a ", document_prompt="a ")
    assert same.prompts_for(["sentence", "label"]) == {"sentence": "a "}


def test_a_plan_of_before_prompts_has_none():
    stored = {k: v for k, v in TrainingPlan().to_json().items() if not k.endswith("_prompt")}
    plan = TrainingPlan.from_run(stored)
    assert plan == TrainingPlan()
    assert "prompts" not in plan.trainer_arguments(10, 100)


def test_vectors_of_a_text_on_both_sides_differ_by_its_prompt(bert):
    plan = TrainingPlan(encoder=bert, **PROMPTS)
    model = starting_model.untrained(plan, None, "cpu")
    held_out = HeldOut.of([("two dogs", "two dogs", 1.0)], (), 0.5, sides_alike=False)
    scores, vectors = held_out.scored(model, at_once=1)
    assert vectors.shape[0] == 2
    assert scores[0] == pytest.approx(
        by_hand(bert, [("two dogs",) * 2], PROMPTS.values())[0], abs=1e-5
    )
    assert torch.dist(*vectors) > 1e-4
