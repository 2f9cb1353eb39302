"""The model that a run starts from: embedded, from a folder or the hub, or from scratch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from safetensors.torch import load_file, save_file
from torch import nn

from lossprism.explorer.core.models_of_scenario import about_model
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.trainer_rows import Pair, sentences_of
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders import check_consent, is_here, locate
from lossprism.explorer.sources.encoders.cross_encoder import CROSS_ENCODER
from lossprism.explorer.sources.encoders.safe_model_loading import ModelFolder, open_model
from lossprism.explorer.sources.encoders.sentence_encoder import SENTENCE_ENCODER
from lossprism.losses.sentence_transformers import layer_stack, move_only

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer
    from transformers import Trainer

    Encoder = SentenceTransformer | CrossEncoder

# In a checkpoint: the weights that move, by their names in the model.
TRAINED_WEIGHTS_FILE = "moving.safetensors"


def starting_model(
    plan: TrainingPlan, pairs: Sequence[Pair], start: Path, device: str | None
) -> Encoder:
    """Load the model to train, with its frozen part frozen.

    An encoder from scratch learns its word pieces from the `pairs` and is saved in the folder
    `start`, to start from again. The caller sets the seed. Raises Problem where there is no such
    model, or it is of another kind.
    """
    if plan.encoder == SCRATCH:
        if not start.exists():
            part = start.with_suffix(".part")
            made = from_scratch(sentences_of(pairs), plan.vocabulary, plan.dimension, device)
            made.save_pretrained(str(part))
            part.rename(start)
        return untrained(plan, start, device)
    model = untrained(plan, start, device)
    if plan.lora:
        add_adapters(model, plan.lora)
    elif plan.layers >= 0:
        move_only(model, plan.layers, head=plan.kind == "cross")
    if not any(weight.requires_grad for weight in model.parameters()):
        raise Problem("training_nothing_moves", layers=plan.layers)
    return model


def untrained(plan: TrainingPlan, start: Path, device: str | None) -> Encoder:
    """Load the model before its first step; one from scratch is in the folder `start`.

    The caller sets the seed, which initialises the new head of a cross-encoder.
    """
    if plan.encoder == SCRATCH:
        return _with_prompts(plan, _opened("bi", start, plan.encoder, device))
    folder = _folder(plan.encoder, plan.kind == "bi")
    return _with_prompts(plan, _opened(plan.kind, folder.path, folder.name, device))


def trained(plan: TrainingPlan, folder: Path, device: str | None) -> Encoder:
    """Load the model that a run saved in this folder."""
    return _with_prompts(plan, _opened(plan.kind, folder, str(folder), device))


def _with_prompts(plan: TrainingPlan, model: Encoder) -> Encoder:
    """Set exactly the prompts of the plan on a bi-encoder and in its saved configuration, so that
    it is measured as it is trained."""
    if plan.kind == "bi":
        prompts: dict[str, str | None] = {**plan.prompts}
        model.prompts = prompts
        model.default_prompt_name = default_prompt(plan)
    return model


def default_prompt(plan: TrainingPlan) -> str | None:
    """The name of the prompt for a text of either side; None where the sides have two."""
    return "query" if plan.query_prompt and plan.encodes_sides_alike else None


def own_prompts(name: str) -> dict[str, str]:
    """The prompts of an encoder's own configuration, by their names; empty where it has none, or is
    not on this computer."""
    if name == SCRATCH or not is_here(name):
        return {}
    try:
        file = _folder(name, encodes=True).path / "config_sentence_transformers.json"
        prompts = read_json(file.read_text(encoding="utf-8")).get("prompts")
    # There is none, or it is no such file.
    except (OSError, ValueError, AttributeError):
        return {}
    named = prompts.items() if isinstance(prompts, dict) else ()
    return {str(called): text for called, text in named if isinstance(text, str) and text}


def guide_of(plan: TrainingPlan, device: str | None) -> SentenceTransformer | None:
    """Load the guide of a plan's loss; None without one. Raises Problem for an unknown encoder."""
    if not plan.asks_guide:
        return None
    with about_model("guide"):
        folder = _folder(plan.guide, encodes=True)
        return cast("SentenceTransformer", _opened("bi", folder.path, folder.name, device))


def from_scratch(
    sentences: Iterable[str], vocabulary: int, dimension: int, device: str | None
) -> SentenceTransformer:
    """A static embedding of word pieces learnt from these sentences, Chinese as well as English."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    # Not WordPiece: its trainer numbers the letters differently at every start.
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()  # sets Chinese characters apart
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=["[UNK]"], show_progress=False
    )
    tokenizer.train_from_iterator(sorted(set(sentences)), trainer)
    words = StaticEmbedding(tokenizer, embedding_dim=dimension)
    return SentenceTransformer(modules=[words], device=device)


def _folder(name: str, encodes: bool) -> ModelFolder:
    """Return the folder of a model that a trainer loads. Raises Problem where it is none, or gives
    no vectors and `encodes` asks for them."""
    encoder = locate(name)
    if not isinstance(encoder, ModelFolder):
        raise Problem("encoder_id", about="encoder", encoder=name)
    if encodes and encoder.scores_pairs:
        raise Problem("encoder_is_cross", about="encoder", encoder=name)
    return encoder


def check(plan: TrainingPlan) -> None:
    """Check the models on this computer at once, and the permission to fetch others; the hub
    answers later.

    Raises Problem for the first that cannot be used.
    """
    for name in models_of(plan):
        check_consent(name)
    if plan.encoder != SCRATCH and is_here(plan.encoder):
        _folder(plan.encoder, plan.kind == "bi")
    if plan.asks_guide and is_here(plan.guide):
        with about_model("guide"):
            _folder(plan.guide, encodes=True)
    if plan.asks_teacher and is_here(plan.teacher_model):
        with about_model("teacher"):
            teacher = locate(plan.teacher_model)
            if plan.learns_vectors and teacher.scores_pairs:
                raise Problem("encoder_is_cross", about="encoder", encoder=plan.teacher_model)


def models_of(plan: TrainingPlan) -> list[str]:
    """The names of the models that a plan takes from elsewhere."""
    named = [plan.encoder] * (plan.encoder != SCRATCH)
    return [*named, *[plan.guide] * plan.asks_guide, *[plan.teacher_model] * plan.asks_teacher]


def _opened(kind: str, path: Path, name: str, device: str | None) -> Encoder:
    from sentence_transformers import CrossEncoder, SentenceTransformer

    if kind == "bi":
        return open_model(SentenceTransformer, SENTENCE_ENCODER, path, name, device)
    # A cross-encoder is trained without the activation that it may have been saved with.
    options = {"num_labels": 1, "activation_fn": nn.Identity()}
    return open_model(CrossEncoder, CROSS_ENCODER, path, name, device, **options)


def add_adapters(model: Encoder, rank: int) -> None:
    """Freeze the weights and put a trained low-rank update beside each linear map (LoRA)."""
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError:
        raise Problem("training_no_peft") from None
    inside = model.transformers_model
    if inside is None or not layer_stack(model):
        raise Problem("training_no_layers")
    wide = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear")
    # Not `add_adapter`: transformers refuses untested versions of peft there.
    inject_adapter_in_model(wide, inside)


def keeping_adapters(kind: Any) -> Callable[..., Trainer]:
    """Return this class of trainer with checkpoints of the trainable weights alone.

    The frozen ones are the same again at a second start.
    """

    class KeepsWhatMoves(kind):
        def _save(self, output_dir: str, state_dict: dict | None = None) -> None:
            Path(output_dir).mkdir(parents=True, exist_ok=True)
            weights = self.model.named_parameters()
            moving = {name: w.contiguous() for name, w in weights if w.requires_grad}
            save_file(moving, Path(output_dir) / TRAINED_WEIGHTS_FILE)

        def _load_from_checkpoint(self, checkpoint_path: str) -> None:
            moving = load_file(Path(checkpoint_path) / TRAINED_WEIGHTS_FILE)
            if unknown := self.model.load_state_dict(moving, strict=False).unexpected_keys:
                names = ", ".join(unknown)
                raise ValueError(f"{checkpoint_path} holds {names}, which the model does not have")

    return KeepsWhatMoves


def merge_adapters(model: nn.Module) -> None:
    """Add each low-rank update to its weight, so that the model needs no peft."""
    from peft.tuners.lora import LoraLayer

    for parent in list(model.modules()):
        for name, part in list(parent.named_children()):
            if isinstance(part, LoraLayer):
                part.merge()
                setattr(parent, name, part.get_base_layer())
