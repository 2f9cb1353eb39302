"""A second encoder beside the trained one, applied to the same texts."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from lossprism.losses.sentence_transformers.duplicate_texts import rows_of_tokens
from lossprism.losses.sentence_transformers.trainer_batch import at_least_single


class Guide:
    """A frozen encoder: no parameter of the loss, and no part of its state.

    With the model's tokenizer it reads the model's tokens; otherwise texts are decoded from these,
    as sentence-transformers does for its GISTEmbedLoss.

    Raises:
        ValueError: if model or guide has no tokenizer.
    """

    def __init__(self, encoder: nn.Module, model: nn.Module) -> None:
        self.encoder = encoder.eval()
        for name, one in (("guide", encoder), ("model", model)):
            if getattr(one, "tokenizer", None) is None:
                raise ValueError(f"the {name} has no tokenizer; a guide reads the model's texts")
        mine, other = _tokenizer(model), _tokenizer(encoder)
        self.tokenizer = None if mine.get_vocab() == other.get_vocab() else mine
        if _longest(encoder) < _longest(model):
            self.tokenizer = mine

    @property
    def name(self) -> str:
        """The name for the model card."""
        card = getattr(self.encoder, "model_card_data", None)
        return getattr(card, "base_model", None) or type(self.encoder).__name__

    @torch.no_grad()
    def vectors(self, columns: Sequence[Mapping[str, Tensor]]) -> tuple[Tensor, ...]:
        """Return the guide's vectors [N, G] of each column of text."""
        device = next(self.encoder.parameters()).device
        target = columns[0]["input_ids"].device
        if device != target:
            self.encoder.to(target)
        vectors = (self.encoder(self._read(column, target)) for column in columns)
        return tuple(at_least_single(one["sentence_embedding"]) for one in vectors)

    def _read(self, column: Mapping[str, Tensor], device: torch.device) -> dict[str, object]:
        if self.tokenizer is None:
            return dict(column)
        written = getattr(self.tokenizer, "batch_decode", None) or self.tokenizer.decode_batch
        texts = written(list(rows_of_tokens(column)), skip_special_tokens=True)
        tokens = cast("Any", self.encoder).preprocess(texts)
        return {k: v.to(device) if isinstance(v, Tensor) else v for k, v in tokens.items()}


def _tokenizer(model: nn.Module) -> Any:
    return model.tokenizer


def _longest(model: nn.Module) -> float:
    """Return the number of tokens that it reads of a text."""
    length = getattr(model, "max_seq_length", None)
    return float("inf") if length is None else float(cast("float", length))
