"""The class of each loss for trainers, by name."""

from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.combined.vector_queue import STORED_INPUTS
from lossprism.losses.generated_classes import made_class
from lossprism.losses.library_peer_record import SENTENCE_TRANSFORMERS as LIBRARY
from lossprism.losses.modules import module_name
from lossprism.losses.papers import citation
from lossprism.losses.sentence_transformers.given_triplet_training_loss import TripletTrainingLoss
from lossprism.losses.sentence_transformers.queued_loss import QueuedTrainingLoss
from lossprism.losses.sentence_transformers.teacher_vector_loss import VectorTrainingLoss
from lossprism.losses.sentence_transformers.token_and_layer_similarity_loss import LevelTrainingLoss
from lossprism.losses.sentence_transformers.training_loss_base import TrainingLoss
from lossprism.losses.sentence_transformers.training_losses_with_learned_weights import (
    ClassifierTrainingLoss,
    PrototypeTrainingLoss,
)

# Our classes that are taken for one of the library's of almost the same name.
NEAR_NAMES = {"distill_kl": "DistillKLDivLoss"}


def training_loss(name: str) -> type[TrainingLoss]:
    """Return the class for the loss of this name, also for one registered later, and for a sum:
    ``training_loss("info_nce+angle")(model, weight_of_angle=0.1)``. Its defaults are ours; by the
    name of a library's class they are that library's, of several those of sentence-transformers."""
    loss, convention = LOSSES.called(name, LIBRARY)
    return _made(LOSSES[loss], convention)


def exported_class(name: str) -> type[TrainingLoss]:
    """Return the class as the package exports it: if its name is that of a class of
    sentence-transformers, with the library's defaults and similarity."""
    convention = library_convention(LOSSES[name])
    return _made(LOSSES[name], convention) if convention else TRAINING_LOSSES[name]


def library_convention(spec: LossSpec) -> str:
    """Return the convention of the library's class with the name of ours; "" without one."""
    called = NEAR_NAMES.get(spec.name, module_name(spec.name)).lower()
    for convention in spec.conventions:
        if convention.name.startswith(LIBRARY) and called in convention.name.lower().split():
            return convention.name
    return ""


def _made(spec: LossSpec, convention: str) -> type[TrainingLoss]:
    attributes = {"name": spec.name, "library_convention": convention, "__module__": __package__}
    if cited := citation(spec.references):  # the card of a trained model asks for it
        attributes["citation"] = cited
    base, called = _base_for(spec), spec.under(convention)
    return made_class(module_name(spec.name), base, called, "for a trainer", attributes)


def trains_as_one(spec: LossSpec) -> bool:
    """Return whether all parts of a sum can learn from the same batches: losses on levels and
    classifiers train alone, losses against prototypes, which read single texts, with each other,
    and losses with a queue with losses that do not read inputs that the queue lengthens."""
    reads = [set(part.spec.reads.values()) for part in spec.parts]
    for part in spec.parts:
        if part.length and any(
            set(STORED_INPUTS[part.spec.name]) & set(other.spec.reads.values())
            for other in spec.parts
            if other is not part
        ):
            return False
    on_classes = ["prototypes" in one for one in reads]
    alone = any(one & {"level_scores", "pair_logits"} for one in reads)
    if any("teacher_embeddings" in one for one in reads):  # asked by the loss, for each text
        alone |= any(on_classes) or any(part.length for part in spec.parts)
    return not alone and (all(on_classes) or not any(on_classes))


def _base_for(spec: LossSpec) -> type[TrainingLoss]:
    """Return the base class. Raises ValueError for a sum whose parts cannot train together."""
    reads = set(spec.reads.values())
    if not trains_as_one(spec):
        raise ValueError(
            f"{spec.name} cannot be trained as one sum: losses on levels and classifiers train "
            "alone, losses against prototypes learn from single texts with a class, all others "
            "from pairs, and what one with a queue keeps is no part of another's batch; train with "
            "parts that take the same"
        )
    if "prototypes" in reads:
        return PrototypeTrainingLoss
    if "pair_logits" in reads:
        return ClassifierTrainingLoss
    if "level_scores" in reads:
        return LevelTrainingLoss
    if any(part.length for part in spec.parts):
        return QueuedTrainingLoss
    if "teacher_embeddings" in reads:
        return VectorTrainingLoss
    mined = any(parameter.name == "mining" for parameter in spec.parameters)
    return TripletTrainingLoss if mined else TrainingLoss


TRAINING_LOSSES: dict[str, type[TrainingLoss]] = {name: training_loss(name) for name in LOSSES}
EXPORTED: dict[str, type[TrainingLoss]] = {name: exported_class(name) for name in LOSSES}
