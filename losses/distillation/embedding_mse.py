"""The student's vectors against the teacher's, number by number."""

from functools import partial

from torch import Tensor
from torch.nn import functional

from lossprism.losses import input_checks
from lossprism.losses.geometry import cosine, unit
from lossprism.losses.sentence_transformers_equivalent_record import Equivalent
from lossprism.losses.spec import Convention, LossSpec, Symbol
from lossprism.losses.symbols import each_sentence


def embedding_mse_definition(embeddings: Tensor, teacher_embeddings: Tensor) -> Tensor:
    errors = embeddings - teacher_embeddings
    terms = errors.square()
    loss = terms.mean()
    return loss


def embedding_mse(embeddings: Tensor, teacher_embeddings: Tensor) -> Tensor:
    r"""mean over rows and dimensions of (z_id − t_id)² (Reimers & Gurevych 2020).

    >>> embedding_mse(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 0.0]]))
    tensor(0.5000)

    Args:
        embeddings: [N, D], the student's, as they are: lengths count.
        teacher_embeddings: [N, D], the teacher's of the same sentences.
    """
    embeddings, teacher_embeddings = input_checks.paired(
        embeddings=embeddings, teacher_embeddings=teacher_embeddings
    )
    one, other = map(input_checks.recordable, (embeddings, teacher_embeddings))
    return functional.mse_loss(one, other)


def embedding_cosine_definition(embeddings: Tensor, teacher_embeddings: Tensor) -> Tensor:
    """EmbedDistillLoss of sentence-transformers by default: directions alone."""
    similarities = cosine(embeddings, teacher_embeddings)
    errors = 1 - similarities
    loss = errors.mean()
    return loss


def _collapse(tensors: dict[str, Tensor]) -> float:
    """Return the value for one vector for everything, the best one: the mean of the teacher's."""
    teacher = tensors["teacher_embeddings"].double()
    return float((teacher - teacher.mean(dim=0)).square().mean())


def _collapse_of_cosines(tensors: dict[str, Tensor]) -> float:
    """Return the same value for directions."""
    return 1 - float(unit(tensors["teacher_embeddings"].double()).mean(dim=0).norm())


def _equivalent(kind: str) -> Equivalent:
    return Equivalent(
        kind,
        {"embeddings": "embeddings", "teacher_embeddings": "teacher_embeddings"},
        f"theirs = {kind}(None)\n"
        "loss = theirs.compute_loss_from_embeddings([embeddings], [teacher_embeddings])\n",
    )


EMBEDDING_MSE = LossSpec(
    function=embedding_mse,
    definition=embedding_mse_definition,
    title="Embedding MSE",
    about="Makes the student's vectors equal to the teacher's, number by number.",
    steps={
        "embeddings": "The student's vectors of the sentences, as they are: lengths count.",
        "errors": "How far the student is off.",
        "similarities": "The cosine of student and teacher.",
        "teacher_embeddings": "The teacher's vectors of the same sentences; they stay as they are.",
        "terms": "Its square.",
    },
    group="distillation",
    formula=r"\frac{1}{S D} \sum_i \sum_d (z_{id} - t_{id})^2",
    symbols={
        "embeddings": Symbol(r"z_{id}", ("sentence", "dimension"), indices=("i", "d")),
        "teacher_embeddings": Symbol(
            r"t_{id}", ("sentence", "teacher_dimension"), indices=("i", "d")
        ),
        "errors": Symbol(
            r"e_{id} = z_{id} - t_{id}",
            ("sentence", "dimension"),
            "«embeddings[r,c]» - «teacher_embeddings[r,c]»",
            indices=("i", "d"),
        ),
        "terms": Symbol(
            r"\ell_{id} = e_{id}^2",
            ("sentence", "dimension"),
            "(«errors[r,c]»)^2",
            signed=False,
            indices=("i", "d"),
        ),
        "loss": Symbol(
            r"\mathcal L = \frac{1}{S D} \sum_{i,d} \ell_{id}",
            live=r"\frac{«Σ terms»}{«terms.numel()»}",
        ),
    },
    terms="errors",
    collapse=_collapse,
    collapse_formula=r"\frac{1}{S D} \sum_i \lVert t_i - \bar t \rVert^2",
    floor=lambda tensors: 0.0,
    floor_formula="0",
    equivalent=partial(_equivalent, "MSELoss"),
    aliases=("MSELoss", "EmbedDistillLoss", "EmbedDistill", "embedding distillation"),
    references=("Reimers & Gurevych 2020", "Kim et al. 2023 (EmbedDistill)"),
    note="At collapse all vectors are the mean of the teacher's, which costs least. Lengths "
    "count: vectors of length 1 cannot equal longer ones of a teacher.",
    conventions=(
        Convention(
            "sentence-transformers 6.2 MSELoss",
            note="The library can learn a projection to the teacher's dimension "
            "(projection_dim); here both have the same dimension.",
            aliases=("SparseMSELoss",),
        ),
        Convention(
            "sentence-transformers 6.2 EmbedDistillLoss (cosine)",
            {},
            embedding_cosine_definition,
            formula=r"\frac1S \sum_i \bigl(1 - \cos(z_i, t_i)\bigr)",
            symbols={
                "similarities": each_sentence(r"c_i = \cos(z_i, t_i)"),
                "errors": each_sentence(r"e_i = 1 - c_i", "1 - «similarities[r]»", signed=False),
                "loss": Symbol(
                    r"\mathcal L = \frac1S \sum_i e_i", live=r"\frac{«Σ errors»}{«len(errors)»}"
                ),
            },
            note='distance_metric="mse" of the same class gives the library\'s MSELoss.',
            equivalent=partial(_equivalent, "EmbedDistillLoss"),
            collapse=_collapse_of_cosines,
            collapse_formula=r"1 - \bigl\lVert\, \overline{t_i / \lVert t_i \rVert}\, \bigr\rVert",
            floor=lambda tensors: 0.0,
        ),
    ),
)
