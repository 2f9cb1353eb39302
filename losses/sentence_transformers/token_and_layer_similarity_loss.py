"""A loss on several levels of a model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from lossprism.losses import geometry
from lossprism.losses.sentence_transformers.layer_freezing import layer_stack
from lossprism.losses.sentence_transformers.trainer_batch import Examples, at_least_single
from lossprism.losses.sentence_transformers.training_loss_base import TrainingLoss


class LevelTrainingLoss(TrainingLoss):
    """A loss that ranks the same pairs by their similarity at several levels of the model.

    `levels` names them: "token", each token against the nearest of the other sentence, averaged
    both ways; "layer:3", the mean token state after the third layer; "dimension:0.25", the first
    quarter of the sentence vector; "sentence". By default: token, the middle layer and sentence if
    the model has tokens and layers, else a quarter, half and all of the dimensions.
    """

    def __init__(
        self, model: nn.Module, *, levels: Sequence[str] | None = None, **settings: Any
    ) -> None:
        super().__init__(model, **settings)
        stack = layer_stack(model)
        if levels is None:
            middle = f"layer:{max(len(stack) // 2, 1)}" if stack else ""
            parts = ("dimension:0.25", "dimension:0.5", "sentence")
            levels = ("token", middle, "sentence") if stack else parts
        self.levels = tuple(levels)
        self._states: dict[int, list[Tensor]] = {}
        for level in self.levels:
            kind, _, place = level.partition(":")
            if kind == "layer":
                if not stack or not 1 <= int(place) <= len(stack):
                    raise ValueError(f"{level} does not exist; the model has {len(stack)} layers")
                stack[int(place) - 1].register_forward_hook(self._keeper(int(place)))
            elif kind not in ("token", "dimension", "sentence"):
                raise ValueError(
                    f"level {level!r} is unknown; there are token, layer:3, "
                    "dimension:0.25 and sentence"
                )

    def _keeper(self, place: int) -> Callable:
        def keep(_layer: nn.Module, _given: object, state: Tensor | tuple[Tensor, ...]) -> None:
            if torch.is_grad_enabled():  # not while the model is evaluated
                kept = state[0] if isinstance(state, tuple) else state
                self._states.setdefault(place, []).append(kept)

        return keep

    def examples(
        self,
        columns: list,
        labels: Tensor | Sequence[Tensor] | None,
        prompt: str | None,
        task: str | None,
    ) -> Examples:
        self._states.clear()
        return super().examples(columns, labels, prompt, task)

    def arguments(self, examples: Examples) -> dict[str, Tensor]:
        (head,) = (n for n, w in self.spec.reads.items() if w == "level_scores")
        scores = [self._scores(level, examples) for level in self.levels]
        self._states.clear()  # else the graph of this batch would outlive it
        return {head: torch.stack(scores), "labels": examples.labels}

    def _scores(self, level: str, examples: Examples) -> Tensor:
        kind, _, place = level.partition(":")
        vectors = examples.embeddings
        if kind == "dimension":
            vectors = vectors[:, : max(1, round(float(place) * vectors.shape[1]))]
        elif kind == "layer":
            means = [
                _mean_of_tokens(at_least_single(state), output["attention_mask"])
                for state, output in zip(self._states[int(place)], examples.outputs, strict=True)
            ]
            vectors = torch.cat(means)
        elif kind == "token":
            anchor, *others = examples.outputs
            return torch.cat([_token_similarity(anchor, other) for other in others])
        return geometry.cosine(vectors[examples.first_rows], vectors[examples.second_rows])


def _mean_of_tokens(states: Tensor, mask: Tensor) -> Tensor:
    weights = mask[:, :, None].to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp_min(1)


def _token_similarity(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> Tensor:
    """Return for each pair the mean over tokens of the nearest of the other sentence, both ways:
    [N]."""
    one, two = (
        normalize(at_least_single(side["token_embeddings"]), dim=2) for side in (first, second)
    )
    here, there = (side["attention_mask"].bool() for side in (first, second))
    cosines = one @ two.transpose(1, 2)
    to_second = cosines.masked_fill(~there[:, None, :], -2).amax(dim=2)
    to_first = cosines.masked_fill(~here[:, :, None], -2).amax(dim=1)
    forth = _mean_of_tokens(to_second[:, :, None], here)[:, 0]
    back = _mean_of_tokens(to_first[:, :, None], there)[:, 0]
    return (forth + back) / 2
