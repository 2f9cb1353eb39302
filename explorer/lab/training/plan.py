"""The plan of a run: all of its settings, as one frozen value that fits into a file."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lossprism.explorer.core.explore import longest_prefix
from lossprism.explorer.core.loss_lookup import name_as_registered
from lossprism.explorer.core.resolved_scenario import parameters_for, spec_for
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.runtime import validation
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.sources.drawn_batches import SAMPLERS
from lossprism.explorer.sources.encoders.bundled_encoder import (
    EMBEDDED,
    EMBEDDED_WIDTH,
    is_embedded,
)
from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.loss_name_matching import LIBRARY
from lossprism.losses.spec import ParameterValue

SCRATCH = "scratch"
KINDS = ("bi", "cross")
SOURCES = ("rows", "file", "example", "hub")
SCHEDULES = ("linear", "cosine", "source")
AUGMENTATIONS = ("cutoff", "reorder")
DUPLICATE_RULES = ("apart", "leave_out", "keep")


@dataclass(frozen=True)
class TrainingData:
    """The pairs to learn from, and those to hold out.

    `rows` are typed (sentence, sentence, score) as text, `teacher` another model's scores, in the
    same form; with `triplets` each positive is followed by the negatives of its row; `file` is a
    path, `name` the user's name for it, or else that of the file, `columns` its roles and
    `encoding` that of its text, as `read_file` takes them; `example` a textbook example; `hub` the
    id of a dataset on the hub, `split` its part. A `held_out_file` (`held_out_name` to the user)
    has its roles in the same columns where it has those; without one, the `held_out_share` of the
    pairs is held out, so that no sentence stands on both sides. `alternatives` are columns of the
    file with another wording of the first sentence (a back-translation, synonyms), `augment` the
    kinds of `AUGMENTATIONS` that add a varied copy of each training pair. Of more than `most` pairs
    a random sample is taken.
    """

    source: str = "example"
    example: str = "graded_english"
    rows: tuple[tuple[str, str, str], ...] = ()
    teacher: tuple[tuple[str, str, str], ...] = ()
    triplets: bool = False
    file: str = ""
    name: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    encoding: str = ""
    hub: str = ""
    split: str = "train"
    held_out_file: str = ""
    held_out_name: str = ""
    held_out_share: float = 0.2
    alternatives: tuple[str, ...] = ()
    augment: tuple[str, ...] = ()
    most: int = 100_000

    def __post_init__(self) -> None:
        for file, name in (("file", "name"), ("held_out_file", "held_out_name")):
            called = getattr(self, name) or Path(getattr(self, file)).name
            object.__setattr__(self, name, called)


@dataclass(frozen=True)
class TrainingPlan:
    """The settings of one run.

    `encoder` is `EMBEDDED`, an id of the hub, a folder, or `SCRATCH`: a static embedding of
    `dimension` numbers for each of `vocabulary` word pieces, learnt from the training sentences.
    `query_prompt` stands before every first sentence and `document_prompt` before every other one
    ("query: ", "passage: "), in training as in measuring; "" for none, whatever prompts the encoder
    has of its own. `kind` is "bi" or "cross". `guide` is a second encoder for a loss that excludes
    negatives by one; "" has the model guide itself. A loss that has a teacher learns the cosines,
    or the scores, of the `teacher_model`, an encoder or a cross-encoder, in place of a column of
    the data; one that learns vectors has those of the `teacher_model`, an encoder. `own_loss` is
    the file.py:function of a user's own loss.

    `similarity` is that of a bi-encoder's scores under a convention on dot products: "dot", or
    "cosine" in runs of before it was written down; "" for any other loss. `threshold`,
    `label_range` and `extra_negatives` are the rules of the page. `twins` is the rule for a text
    that would stand in a batch twice, for a loss whose negatives are the others of the batch: its
    pair is kept out of the batch ("apart", the sampler no_duplicates), or, for a loss that reads
    texts, its keys are left out of the loss ("leave_out"), or it is kept. Batches are drawn by a
    `sampler` of `SAMPLERS`, whatever `twins` is; with "" by no_duplicates where texts are kept
    apart, and shuffled elsewhere.

    With `steps` 0 it runs `epochs`. `learning_rate` 0 is the default of the encoder. `schedule`
    "source" is S1 eq. 51; `warmup` is a share of the steps. `layers` of a transformer that move,
    from the last on: −1 for all and the embeddings too. `lora` is the rank of adapters that move in
    place of the weights, 0 for none. `evaluations` are spread evenly over the run. A checkpoint is
    written every `checkpoint_seconds`.
    """

    data: TrainingData = field(default_factory=TrainingData)
    encoder: str = EMBEDDED
    kind: str = "bi"
    vocabulary: int = 8000
    dimension: int = 128
    query_prompt: str = ""
    document_prompt: str = ""
    guide: str = ""
    teacher_model: str = ""
    loss: str = "cosent"
    convention: str = ""
    parameters: tuple[tuple[str, object], ...] = ()
    own_loss: str = ""
    similarity: str = ""
    threshold: float | None = None
    label_range: tuple[float, float] | None = None
    extra_negatives: bool = True
    twins: str = "apart"
    sampler: str = ""
    steps: int = 0
    epochs: float = 1.0
    batch_size: int = 16
    learning_rate: float = 0.0
    schedule: str = "linear"
    warmup: float = 0.1
    weight_decay: float = 1e-4
    clipping: float = 1.0
    seed: int = 0
    layers: int = -1
    lora: int = 0
    bf16: bool = False
    evaluations: int = 10
    checkpoint_seconds: float = 30.0

    def __post_init__(self) -> None:
        name_as_registered(self, LIBRARY)
        _check(self)
        object.__setattr__(self, "similarity", self._similarity())

    def _similarity(self) -> str:
        """Similarity of a bi-encoder, where the convention does not compare cosines."""
        own = "cosine" if self.kind == "cross" else self.spec.similarity
        named = "similarity" in self.spec.defaults  # it is a parameter, and stored as one
        return "" if own == "cosine" or named else self.similarity or own

    @functools.cached_property
    def spec(self) -> LossSpec:
        return spec_for(Scenario(loss=self.loss, convention=self.convention))

    @functools.cached_property
    def settings(self) -> dict[str, ParameterValue]:
        """The parameters of the loss, checked, the defaults included."""
        return parameters_for(self.spec, dict(self.parameters))

    @property
    def rate(self) -> float:
        """The learning rate: as chosen, or what suits the encoder."""
        usual = 0.02 if self.encoder == SCRATCH else 1e-3 if self.lora else 2e-5
        return self.learning_rate or usual

    def steps_for(self, examples: int) -> int:
        """The steps of the whole run on this many training examples."""
        by_epoch = max(examples // self.batch_size, 1)
        return self.steps or max(math.ceil(by_epoch * self.epochs), 1)

    def warmup_steps(self, steps: int) -> int:
        return max(round(self.warmup * steps), 1 if self.schedule == "source" else 0)

    @property
    def forms_classes(self) -> bool:
        """True if the loss learns from sentences with classes instead of from pairs."""
        return "prototypes" in self.spec.reads.values()

    @property
    def asks_guide(self) -> bool:
        return bool(self.guide.strip()) and self.spec.reads_guide

    @property
    def asks_teacher(self) -> bool:
        return bool(self.teacher_model.strip()) and self.spec.reads_teacher

    @property
    def learns_vectors(self) -> bool:
        """True if the loss learns the vectors of another encoder."""
        return "teacher_vectors" in self.spec.needs

    @property
    def leaves_duplicates_out(self) -> bool:
        return self.twins == "leave_out" and self.spec.reads_texts

    @property
    def keeps_texts_apart(self) -> bool:
        """True if no text stands twice in a batch, where the others of it are the negatives."""
        kept = self.twins == "keep" or self.leaves_duplicates_out or self.sampler
        return self.sampler == "no_duplicates" or (self.spec.negatives_of_batch and not kept)

    @property
    def drawn_by(self) -> str:
        """The sampler in force, one of `SAMPLERS`."""
        return self.sampler or ("no_duplicates" if self.keeps_texts_apart else "shuffled")

    @property
    def prompts(self) -> dict[str, str]:
        """The prompts by the names that sentence-transformers has for both sides."""
        return {"query": self.query_prompt, "document": self.document_prompt}

    @property
    def encodes_sides_alike(self) -> bool:
        """True if a text has the same vector as a first sentence and as a second one."""
        return self.query_prompt == self.document_prompt

    def prompts_for(self, columns: Iterable[str]) -> dict[str, str]:
        """The prompt of each of these columns of the dataset; empty without prompts."""
        first, *others = (name for name in columns if name != "label")
        if not (self.query_prompt or self.document_prompt):
            return {}
        return {first: self.query_prompt, **dict.fromkeys(others, self.document_prompt)}

    def trainer_arguments(
        self, steps: int, examples: int, columns: Iterable[str] = ("sentence1", "sentence2")
    ) -> dict[str, Any]:
        """Return the arguments of sentence-transformers' trainer, for a dataset of so many
        `examples` with these `columns`."""
        prompts = self.prompts_for(columns)
        warmup = self.warmup_steps(steps)
        # S1 eq. 51 is lr₀ · min(1, t/T) / √max(t, T): the library's form starts from lr₀/√T.
        by_source = self.schedule == "source"
        return {
            "max_steps": steps,
            "per_device_train_batch_size": self.batch_size,
            "learning_rate": self.rate / math.sqrt(warmup) if by_source else self.rate,
            "lr_scheduler_type": "inverse_sqrt" if by_source else self.schedule,
            "warmup_steps": warmup,
            "weight_decay": self.weight_decay,
            "max_grad_norm": self.clipping,
            "seed": self.seed,
            "bf16": self.bf16,
            # The trainer knows the others by the same names.
            "batch_sampler": "batch_sampler" if self.drawn_by == "shuffled" else self.drawn_by,
            "dataloader_drop_last": examples >= self.batch_size,
            **({"prompts": prompts} if prompts else {}),
        }

    def loss_arguments(
        self, threshold: float, label_range: tuple[float, float], classes: int
    ) -> Json:
        """Return the arguments of the loss of `losses.sentence_transformers` beside its model."""
        own = {"class_count": classes} if self.forms_classes else {}
        named = {"convention": self.convention} if self.convention else {}
        rules = {"threshold": threshold, "label_range": label_range}
        rules["extra_negatives"] = self.extra_negatives
        if self.leaves_duplicates_out:
            rules["twins"] = self.twins
        if self.similarity:
            rules["similarity"] = self.similarity
        # A convention that treats given triplets otherwise goes by the columns.
        by_columns = LOSSES[self.loss].for_given_triplets(self.convention)
        left = set(by_columns) - set(dict(self.parameters))
        settings = {name: v for name, v in self.settings.items() if name not in left}
        return {**own, **named, **rules, **settings}

    def to_json(self) -> Json:
        return {**dataclasses.asdict(self), "parameters": dict(self.parameters)}

    @classmethod
    def from_json(cls, chosen: object) -> TrainingPlan:
        """Read what `to_json` wrote, or any part of it; what is left out has its default.

        Raises Problem, naming the first entry that does not fit.
        """
        return validation.read(cls, chosen, "plan", _READERS, _unknown)

    @classmethod
    def from_run(cls, stored: Mapping[str, object]) -> TrainingPlan:
        """Read the plan in a run's folder. Runs of before `similarity` was written down trained on
        cosines under every convention, and go on so."""
        return cls.from_json({"similarity": "cosine", **stored})


# Least and most of each number. The loss's own parameters have theirs in its LossSpec.
RANGES: dict[str, tuple[float, float]] = {
    "steps": (0, 1_000_000),
    "epochs": (0.01, 1000),
    "batch_size": (2, 4096),
    "learning_rate": (0, 10),
    "warmup": (0, 1),
    "weight_decay": (0, 1),
    "clipping": (0, 1000),
    "seed": (0, 2**32 - 1),
    "layers": (-1, 1000),
    "lora": (0, 256),
    "evaluations": (1, 1000),
    "checkpoint_seconds": (0, 86_400),
    "vocabulary": (100, 200_000),
    "dimension": (2, 4096),
    "held_out_share": (0.01, 0.9),
    "most": (4, 1_000_000),
}
_CHOICES = {
    "kind": KINDS,
    "schedule": SCHEDULES,
    "source": SOURCES,
    "twins": DUPLICATE_RULES,
    "sampler": ("", *SAMPLERS),
    "similarity": ("", "cosine", "dot"),
}


def _check(plan: TrainingPlan) -> None:
    for part in (plan.data, plan):
        for entry in dataclasses.fields(part):
            value = getattr(part, entry.name)
            if entry.name in RANGES:
                low, high = RANGES[entry.name]
                if not low <= value <= high:
                    details = {"low": typed(low), "high": typed(high), "value": value}
                    raise Problem("parameter_range", about="loss", name=entry.name, **details)
            known = _CHOICES.get(entry.name)
            if known and value not in known:
                details = ", ".join(filter(None, known))
                raise Problem(
                    "parameter_choice", about="loss", name=entry.name, value=value, known=details
                )
    for kind in plan.data.augment:
        if kind not in AUGMENTATIONS:
            known = ", ".join(AUGMENTATIONS)
            raise Problem("parameter_choice", about="loss", name="augment", value=kind, known=known)
    if plan.kind == "cross" and plan.encoder == SCRATCH:
        raise Problem("training_scratch_cross", about="encoder", embedded=EMBEDDED)
    if plan.kind == "cross" and (plan.query_prompt or plan.document_prompt):
        raise Problem("training_prompt_cross", about="encoder")
    if not plan.own_loss:
        plan.settings  # noqa: B018 raises where a parameter does not fit
        if plan.forms_classes and not plan.encodes_sides_alike:
            raise Problem("training_prompt_classes", about="encoder", loss=plan.loss)
        _check_prefixes(plan)


def _check_prefixes(plan: TrainingPlan) -> None:
    """Check the prefixes of encoders whose width is known before they are loaded; for others the
    loss does."""
    width = plan.dimension if plan.encoder == SCRATCH else 0
    if is_embedded(plan.encoder):
        width = EMBEDDED_WIDTH
    longest = longest_prefix(plan.spec)
    if width and longest > width and plan.kind == "bi":
        raise Problem("training_prefix_too_long", about="loss", longest=longest, dimension=width)


# Reading


def _unknown(where: str) -> Problem:
    return Problem("training_entry_unknown", where=where)


def _columns(value: object, where: str) -> object:
    """Pairs, or an object."""
    return validation.rows(2)(list(value.items()) if isinstance(value, dict) else value, where)


_BY_TYPE = {int: validation.whole, float: validation.finite, tuple: validation.texts}
_READERS: validation.Readers = {
    **{
        (kind, entry.name): _BY_TYPE[type(entry.default)]
        for kind in (TrainingData, TrainingPlan)
        for entry in dataclasses.fields(kind)
        if type(entry.default) in _BY_TYPE
    },
    (TrainingData, "rows"): validation.rows(),
    (TrainingData, "teacher"): validation.rows(3),
    (TrainingData, "columns"): _columns,
    (TrainingPlan, "parameters"): validation.parameters,
    (TrainingPlan, "threshold"): validation.optional(validation.finite),
    (TrainingPlan, "label_range"): validation.optional(validation.label_range),
}
