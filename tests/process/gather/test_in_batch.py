"""In-batch losses over several processes: each row feels what it would feel in the joined batch."""

import pytest
import torch

from lossprism.losses import LOSSES
from tests.process.gather.team import COUNTS, on_each, own_rows

CASES = [
    ("info_nce", {}, None),
    ("info_nce", {"symmetric": True}, None),
    ("info_nce", {}, "for all"),
    ("nt_xent", {}, None),
    ("nce", {}, None),
    ("nce", {"full": True}, None),
    ("nce", {"temperature": 0.5}, "for each"),
    ("siglip", {}, None),
]


def joined_batch(world, negatives):
    made = torch.Generator().manual_seed(1)
    count = sum(COUNTS[world])
    shapes = {None: (), "for all": ((count, 4),), "for each": ((count, 2, 4),)}[negatives]
    shapes = ((count, 4), (count, 4), *shapes)
    return [torch.randn(*shape, generator=made, dtype=torch.float64) for shape in shapes]


def joined_texts(world, negatives):
    """Numbers of the texts of each part of the batch, of which many are alike."""
    made = torch.Generator().manual_seed(2)
    names = ("query_texts", "key_texts", *(("negative_texts",) if negatives else ()))
    return {n: torch.randint(4, (sum(COUNTS[world]),), generator=made) for n in names}


def felt(name, parameters, batch, **how):
    batch = [part.clone().requires_grad_() for part in batch]
    temperature = torch.tensor(0.3, dtype=torch.float64).requires_grad_()
    learned = {"scale" if name == "siglip" else "temperature": temperature}
    named = {"negatives": batch[2]} if len(batch) > 2 else {}
    loss = LOSSES[name].function(*batch[:2], **named, **{**parameters, **learned}, **how)
    return loss.detach(), torch.autograd.grad(loss, [*batch, temperature])


def same_as_joined(rank, world):
    for name, parameters, negatives in CASES:
        joined = joined_batch(world, negatives)
        value, gradient = felt(name, parameters, joined)
        mine = [own_rows(part, rank, world) for part in joined]
        found, parts = felt(name, parameters, mine, gather=True)
        expected = [own_rows(part, rank, world) for part in gradient[:-1]] + [gradient[-1]]
        torch.testing.assert_close(found, value, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(list(parts), expected, rtol=1e-10, atol=1e-12)
        if negatives == "for each":
            continue  # each query has its own, which no text tells apart
        texts = joined_texts(world, negatives)
        own = {one: own_rows(numbers, rank, world) for one, numbers in texts.items()}
        value, gradient = felt(name, parameters, joined, **texts)
        found, parts = felt(name, parameters, mine, gather=True, **own)
        expected = [own_rows(part, rank, world) for part in gradient[:-1]] + [gradient[-1]]
        torch.testing.assert_close(found, value, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(list(parts), expected, rtol=1e-10, atol=1e-12)
    return True


@pytest.mark.parametrize("world", COUNTS)
def test_processes_together_are_one_batch(world):
    assert on_each(world, same_as_joined) == [True] * world


@pytest.mark.parametrize(("name", "parameters", "negatives"), CASES)
def test_one_process_gathers_nothing(name, parameters, negatives):
    batch = joined_batch(2, negatives)
    torch.testing.assert_close(
        felt(name, parameters, batch, gather=True), felt(name, parameters, batch), rtol=0, atol=0
    )
