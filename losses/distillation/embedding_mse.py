"""The student's vectors as the teacher's, number by number."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from losses import inputs


def embedding_mse_definition(embeddings: Tensor, teacher_embeddings: Tensor) -> Tensor:
    errors = embeddings - teacher_embeddings
    terms = errors.square()
    loss = terms.mean()
    return loss


def embedding_mse(embeddings: Tensor, teacher_embeddings: Tensor) -> Tensor:
    r"""mean over rows and dimensions of (z_id − t_id)².

    >>> embedding_mse(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 0.0]]))
    tensor(0.5000)

    Args:
        embeddings: [N, D], the student's, as they are: lengths count.
        teacher_embeddings: [N, D], the teacher's of the same sentences.
    """
    embeddings, teacher_embeddings = inputs.paired(
        embeddings=embeddings, teacher_embeddings=teacher_embeddings
    )
    return functional.mse_loss(embeddings, teacher_embeddings)
