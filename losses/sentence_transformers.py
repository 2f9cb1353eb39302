"""Every loss for the trainers of sentence-transformers: ``CosentLoss(model, scale=20.0)``.

    from losses.sentence_transformers import CosentLoss
    SentenceTransformerTrainer(model=model, train_dataset=pairs, loss=CosentLoss(model)).train()

The class of each loss in `LOSSES` is made below and takes a SentenceTransformer (a bi-encoder) or
a CrossEncoder; `training_loss("cosent")` gives the same class by name. What it reads follows from
the columns of the data set:

    two texts and a label       pairs with scores: every loss, by the rules below
    two texts                   positive pairs: losses on in-batch negatives, and mined triplets
    three texts or more         anchor, positive, negatives
    one text and a label        classes: supcon, mined triplets, and losses against prototypes

The rules, as on the page: a pair whose label reaches `threshold` is positive; the other pairs'
second sentences are further negatives (unless `extra_negatives` is False); labels from
`label_range` are brought to 0..1 where a loss wants that; both sentences of a positive pair are
one class. Losses on in-batch negatives want a batch in which no sentence stands twice
(``batch_sampler="no_duplicates"``). A cross-encoder trains with losses on pair scores alone.

Several processes (``accelerate launch``, ``torchrun``) take the mean of their gradients. With
``gather=True`` each compares with the batches of all, and the model moves as it would in one
process on the joined batch; else it is the mean over batches that do not know of each other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
import torch.distributed as distributed
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

from losses import LOSSES, LossSpec, geometry
from losses.gather import for_mean, gather_rows, gathered, processes
from losses.modules import Settled, module_name
from losses.spec import READABLE


@dataclass(frozen=True)
class Examples:
    """A batch as the trainer hands it over, read as pairs.

    What a loss reads has a property of its name in `losses.spec.READABLE`; what has none here, the
    loss learns itself.

    `columns` has the vectors [N, D] of each text column (none for a cross-encoder), `outputs` all
    that the model gave for it. `labels` [P] belong to the pairs, which are more than N, the
    `rows`, where a row has several negatives; so do `pair_scores`, which a cross-encoder gives.
    A pair whose label reaches `bound` is positive. `joined` is whether the batches of all
    processes are one, `before` how many rows of it other processes have ahead of these.
    """

    columns: tuple[Tensor, ...]
    outputs: tuple[Mapping[str, Tensor], ...]
    pair_scores: Tensor | None
    labels: Tensor
    rows: int
    bound: float
    labelled: bool
    extra_negatives: bool = True
    label_range: tuple[float, float] = (0.0, 1.0)
    joined: bool = False
    before: int = 0

    # Which row of the columns laid below each other a pair's sentences have: [P] each.

    @cached_property
    def first_rows(self) -> Tensor:
        return torch.arange(len(self.labels), device=self.labels.device) % self.rows

    @cached_property
    def second_rows(self) -> Tensor:
        return torch.arange(len(self.labels), device=self.labels.device) + self.rows

    @cached_property
    def positive(self) -> Tensor:
        return self.labels >= self.bound

    @property
    def scores(self) -> Tensor:
        """[P]; of a bi-encoder the cosines, column by column: picking rows would cost more."""
        if self.pair_scores is not None:
            return self.pair_scores
        anchors, *others = self.columns
        cosines = [geometry.cosine(anchors, other) for other in others]
        return torch.cat(cosines) if len(cosines) > 1 else cosines[0]

    def some(self, pairs: Tensor) -> bool:
        """Whether any pair is among these: of all processes, where they are joined."""
        return bool(gathered(self.joined, pairs)[0].any())

    @property
    def embeddings(self) -> Tensor:
        return torch.cat(self.columns)

    @property
    def classes(self) -> Tensor:
        """The class of each embedding: that of its row, where a positive pair holds it."""
        if len(self.columns) == 1:
            return self.labels.long()
        numbers = torch.arange(len(self.columns) * self.rows, device=self.labels.device)
        numbers[self.second_rows[self.positive]] = self.first_rows[self.positive]
        return numbers + self.before * len(self.columns)  # no class of another process

    paired_classes = classes

    @property
    def binary_labels(self) -> Tensor:
        return self.positive.float()

    @property
    def pair_classes(self) -> Tensor:
        return self.positive.long()

    @property
    def unit_labels(self) -> Tensor:
        lowest, highest = self.label_range
        return (self.labels - lowest) / (highest - lowest)

    @property
    def first(self) -> Tensor:
        return _even(self.embeddings[self.first_rows])

    @property
    def second(self) -> Tensor:
        return _even(self.embeddings[self.second_rows])

    @property
    def queries(self) -> Tensor:
        return self.embeddings[self.first_rows[self.positive]]

    @property
    def keys(self) -> Tensor:
        return self.embeddings[self.second_rows[self.positive]]

    @property
    def negatives(self) -> Tensor | None:
        if not self.extra_negatives or not self.some(~self.positive):
            return None
        return self.embeddings[self.second_rows[~self.positive]]


def _even(vectors: Tensor) -> Tensor:
    """A zero column more where the width is odd: AnglE halves it; no cosine changes."""
    return pad(vectors, (0, vectors.shape[1] % 2))


def _given(examples: Examples, reads: Mapping[str, str], *but: str) -> dict[str, Tensor]:
    """By argument name what the batch has of what is read."""
    read = {name: getattr(examples, what) for name, what in reads.items() if name not in but}
    return {name: value for name, value in read.items() if value is not None}


class TrainingLoss(Settled):
    """One loss that a trainer calls with the columns of a batch. Subclasses name the loss.

    Args:
        model: the SentenceTransformer or CrossEncoder to be trained.
        threshold: a pair with this label or more is positive.
        label_range: the labels that count as 0 and as 1.
        extra_negatives: whether the other pairs' second sentences serve as negatives.
        gather: whether the batches of all processes of torch.distributed are one.
        convention: the loss as another library defines it; see `LossSpec.conventions`.
        **settings: the parameters of the loss; an `nn.Parameter` is learned.
    """

    name: str

    def __init__(
        self,
        model: nn.Module,
        *,
        threshold: float = 0.5,
        label_range: tuple[float, float] = (0.0, 1.0),
        extra_negatives: bool = True,
        gather: bool = False,
        convention: str = "",
        **settings: object,
    ) -> None:
        super().__init__()
        self.model = model
        ours = LOSSES[self.name]
        self.spec = ours.under(convention)
        self.function = ours.function
        if self.spec.definition is not ours.definition:  # another library's, fast if it can be
            fast = {other.name: other.function for other in ours.conventions}[convention]
            self.function = fast or self.spec.definition
        self.convention = convention
        apart = {o.name: o.given_triplets for o in ours.conventions}.get(convention, {})
        self.given_triplets = {n: v for n, v in apart.items() if n not in settings}
        self.threshold, self.label_range = threshold, tuple(label_range)
        self.extra_negatives, self.gather = extra_negatives, gather
        self.settings = self._settings(settings)
        self._shared = False

    def _settings(self, chosen: Mapping[str, object]) -> dict[str, object]:
        named = inspect.signature(self.function).parameters
        defaults = {
            p.name: p.default if self.convention else named[p.name].default
            for p in self.spec.parameters
        }
        for name in chosen:
            if name not in defaults:
                said = ", ".join(defaults) or "none"
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}; it has: {said}")
        return {**defaults, **chosen}

    def settings_for(self, examples: Examples) -> dict[str, object]:
        """The parameters for this batch: a convention may have others for given triplets."""
        return {**self.settings, **(self.given_triplets if len(examples.columns) > 2 else {})}

    def forward(
        self,
        columns: Sequence[Mapping[str, Tensor]] | Sequence[Sequence[str]],
        labels: Tensor | None = None,
        prompt: str | None = None,
        task: str | None = None,
    ) -> Tensor:
        examples = self.examples(list(columns), labels, prompt, task)
        if not examples.labelled and self.spec.reads_labels:
            raise ValueError(
                f"{type(self).__name__} learns from labels, and the data set has two columns of "
                "text and no label; add a column of labels, or one of negatives"
            )
        of_positives = any(reading.positives_only for reading in self.spec.readings)
        if of_positives and not examples.some(examples.positive):
            return 0 * examples.embeddings.sum()  # nothing to learn from in this batch
        self._share_own_weights()
        given = self.arguments(examples)
        if self.gather:
            given = {name: self._joined(name, value) for name, value in given.items()}
        return self.function(**given, **self.settings_for(examples))

    def _joined(self, name: str, value: Tensor) -> Tensor:
        axes = READABLE[self.spec.reads[name]].axes if name in self.spec.reads else ("",)
        if axes[0] == "class":  # prototypes: the same in all processes
            return value
        if axes[0] == "level":  # the pairs are its columns
            return gather_rows(for_mean(value.T))[0].T
        return gather_rows(for_mean(value))[0]

    def _share_own_weights(self) -> None:
        """What the loss learns itself: alike in all processes, as the model is, which the trainer
        wraps for that. Their gradients are averaged as they arrive."""
        if processes() == 1 or self._shared:
            return
        self._shared = True
        for name, weight in self.named_parameters():
            if not name.startswith("model."):
                distributed.broadcast(weight.data, src=0)
                weight.register_hook(_mean_of_processes)

    def arguments(self, examples: Examples) -> dict[str, Tensor]:
        """What the loss's function is called with, beside its parameters."""
        return _given(examples, self.spec.reads)

    def examples(
        self, columns: list, labels: Tensor | None, prompt: str | None, task: str | None
    ) -> Examples:
        embedded = isinstance(columns[0], Mapping)
        if len(columns) == 1 and not (embedded and labels is not None and self._takes_classes):
            raise ValueError(
                f"{type(self).__name__} needs two columns of text; one column and a class for "
                "each row suffice for losses that read classes only, with a bi-encoder"
            )
        if embedded:
            outputs = tuple(self.model(column) for column in columns)
            vectors = tuple(_at_least_single(output["sentence_embedding"]) for output in outputs)
            count, scores, device = len(vectors[0]), None, vectors[0].device
        else:
            outputs, vectors = (), ()
            count, scores = len(columns[0]), self._cross_scores(columns, prompt, task)
            device = scores.device
        others = max(len(columns) - 1, 1)
        labelled = labels is not None or others > 1
        if others > 1:
            labels = torch.cat([torch.ones(count), torch.zeros((others - 1) * count)])
        labels = torch.ones(count) if labels is None else labels.view(-1)
        labels = labels.to(device)
        return Examples(
            columns=vectors,
            outputs=outputs,
            pair_scores=scores,
            labels=labels,
            rows=count,
            bound=self.threshold if others == 1 and labelled else 1.0,
            labelled=labelled,
            extra_negatives=self.extra_negatives,
            label_range=self.label_range,
            joined=self.gather,
            before=gather_rows(labels)[1].start // others if self.gather else 0,
        )

    def _cross_scores(self, columns: list, prompt: str | None, task: str | None) -> Tensor:
        """The score of the first text of each row with each of its others."""
        if not self.spec.reads_scores_only:
            kinds = ("scores", "labels")
            unread = [w for w in self.spec.reads.values() if READABLE[w].made_of not in kinds]
            raise ValueError(
                f"{type(self).__name__} reads {', '.join(unread)}; a cross-encoder gives one "
                "score for a pair. Train a bi-encoder with it, or choose a loss on pair scores"
            )
        pairs = [pair for other in columns[1:] for pair in zip(columns[0], other, strict=True)]
        tokens = self.model.preprocess(pairs, prompt=prompt, task=task)
        device = self.model.device
        on_device = {k: v.to(device) if isinstance(v, Tensor) else v for k, v in tokens.items()}
        scores = self.model(on_device)["scores"]
        if scores.ndim > 1 and scores.shape[1] > 1:
            raise ValueError(f"the cross-encoder gives {scores.shape[1]} numbers; one is needed")
        return _at_least_single(scores.view(-1))

    @property
    def _takes_classes(self) -> bool:
        return all(reading.axes[0] in ("sentence", "class") for reading in self.spec.readings)

    def get_config_dict(self) -> dict[str, object]:
        """For the model card."""
        rules = {"threshold": self.threshold, "label_range": self.label_range}
        rules |= {"gather": True} if self.gather else {}
        convention = {"convention": self.convention} if self.convention else {}
        settled = {n: v for n, v in self.settings.items() if n not in self.given_triplets}
        return {**settled, **rules, **convention}


class TripletTrainingLoss(TrainingLoss):
    """With mining "given" it reads the columns anchor, positive, negatives as they stand."""

    def arguments(self, examples: Examples) -> dict[str, Tensor]:
        if self.settings_for(examples).get("mining") != "given":
            return super().arguments(examples)
        if len(examples.columns) < 3:
            raise ValueError(
                'mining is "given", which needs three columns: anchor, positive, negative; '
                'for pairs or classes, choose mining "all", "semi_hard" or "hard"'
            )
        anchors, positives, *negatives = examples.columns
        return {
            "anchors": anchors.repeat(len(negatives), 1),
            "positives": positives.repeat(len(negatives), 1),
            "negatives": torch.cat(negatives),
        }


class PrototypeTrainingLoss(TrainingLoss):
    """It learns one prototype for each of `class_count` classes."""

    def __init__(self, model: nn.Module, *, class_count: int, **settings: object) -> None:
        super().__init__(model, **settings)
        width = model.get_embedding_dimension()
        self.prototypes = nn.Parameter(torch.empty(class_count, width))
        nn.init.xavier_uniform_(self.prototypes)

    def arguments(self, examples: Examples) -> dict[str, Tensor]:
        if len(examples.columns) != 1:
            raise ValueError(
                f"{type(self).__name__} knows its classes from one data set to the next batch: "
                "it needs one column of text and a class for each row, 0 … class_count − 1"
            )
        (head,) = (name for name, what in self.spec.reads.items() if what == "prototypes")
        return {**_given(examples, self.spec.reads, head), head: self.prototypes}


class ClassifierTrainingLoss(TrainingLoss):
    """It has a classifier of its own, for "positive" or not.

    The classifier reads (u, v, |u − v|) of a bi-encoder, as Sentence-BERT does, and the score of
    a cross-encoder.
    """

    def __init__(self, model: nn.Module, **settings: object) -> None:
        super().__init__(model, **settings)
        width = getattr(model, "get_embedding_dimension", lambda: None)()
        self.classifier = nn.Linear(3 * width if width else 1, 2)

    def arguments(self, examples: Examples) -> dict[str, Tensor]:
        (head,) = (name for name, what in self.spec.reads.items() if what == "pair_logits")
        if examples.columns:
            first, second = (
                examples.embeddings[rows] for rows in (examples.first_rows, examples.second_rows)
            )
            seen = torch.cat([first, second, (first - second).abs()], dim=1)
        else:
            seen = examples.scores[:, None]
        return {**_given(examples, self.spec.reads, head), head: self.classifier(seen)}


class LevelTrainingLoss(TrainingLoss):
    """It ranks the same pairs by their similarity at several levels of the model.

    `levels` names them: "token", each token against the nearest of the other sentence, averaged
    both ways; "layer:3", the mean token state behind the third layer; "dimension:0.25", the first
    quarter of the sentence vector; "sentence". Left out: token, the middle layer and sentence
    where the model has tokens and layers, else a quarter, half and all of the dimensions.
    """

    def __init__(
        self, model: nn.Module, *, levels: Sequence[str] | None = None, **settings: object
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

    def examples(self, columns: list, *given: object) -> Examples:
        self._states.clear()
        return super().examples(columns, *given)

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
                _mean_of_tokens(_at_least_single(state), output["attention_mask"])
                for state, output in zip(self._states[int(place)], examples.outputs, strict=True)
            ]
            vectors = torch.cat(means)
        elif kind == "token":
            anchor, *others = examples.outputs
            return torch.cat([_token_similarity(anchor, other) for other in others])
        return geometry.cosine(vectors[examples.first_rows], vectors[examples.second_rows])


def layer_stack(model: nn.Module) -> nn.ModuleList | tuple[()]:
    """The layers of the model's transformer, from the first on; empty if it has none."""
    stacks = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    size = {id(s): sum(p.numel() for p in s.parameters()) for s in stacks}
    return max(stacks, key=lambda stack: size[id(stack)], default=())


def move_only(model: nn.Module, layers: int, *, head: bool = False) -> None:
    """Freeze all but the last `layers` of the transformer, and its `head` if it uses one."""
    stack = layer_stack(model)
    if not stack or layers >= len(stack):
        return
    kept = stack[len(stack) - layers :]
    moving = {id(weight) for layer in kept for weight in layer.parameters()}
    if head:
        named = model.named_parameters()
        moving |= {id(weight) for name, weight in named if "pooler" in name or "class" in name}
    transformer = next(part for part in model.children() if any(m is stack for m in part.modules()))
    for weight in transformer.parameters():
        weight.requires_grad_(id(weight) in moving)


def _mean_of_tokens(states: Tensor, mask: Tensor) -> Tensor:
    weights = mask[:, :, None].to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp_min(1)


def _token_similarity(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> Tensor:
    """For each pair, the mean over tokens of the nearest of the other sentence, both ways: [N]."""
    one, two = (
        normalize(_at_least_single(side["token_embeddings"]), dim=2) for side in (first, second)
    )
    here, there = (side["attention_mask"].bool() for side in (first, second))
    cosines = one @ two.transpose(1, 2)
    to_second = cosines.masked_fill(~there[:, None, :], -2).amax(dim=2)
    to_first = cosines.masked_fill(~here[:, :, None], -2).amax(dim=1)
    forth = _mean_of_tokens(to_second[:, :, None], here)[:, 0]
    back = _mean_of_tokens(to_first[:, :, None], there)[:, 0]
    return (forth + back) / 2


def _mean_of_processes(gradient: Tensor) -> Tensor:
    gradient = gradient.clone()
    distributed.all_reduce(gradient)
    return gradient / processes()


def _at_least_single(tensor: Tensor) -> Tensor:
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def training_loss(name: str) -> type[TrainingLoss]:
    """The class for the loss of this name, also for one that was registered later."""
    spec = LOSSES[name]
    held = {"name": name, "__module__": __name__, "__doc__": f"{spec.title} for a trainer."}
    return type(module_name(name), (_base_for(spec),), held)


def _base_for(spec: LossSpec) -> type[TrainingLoss]:
    reads = set(spec.reads.values())
    if "prototypes" in reads:
        return PrototypeTrainingLoss
    if "pair_logits" in reads:
        return ClassifierTrainingLoss
    if "level_scores" in reads:
        return LevelTrainingLoss
    mined = any(parameter.name == "mining" for parameter in spec.parameters)
    return TripletTrainingLoss if mined else TrainingLoss


TRAINING_LOSSES: dict[str, type[TrainingLoss]] = {name: training_loss(name) for name in LOSSES}
globals().update({made.__name__: made for made in TRAINING_LOSSES.values()})

__all__ = [
    "TRAINING_LOSSES",
    "TrainingLoss",
    "layer_stack",
    "move_only",
    "training_loss",
    *(made.__name__ for made in TRAINING_LOSSES.values()),
]
