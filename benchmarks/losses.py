"""Our losses beside a direct implementation and the installed peers, in one run.

``python -m benchmarks losses``: forward and backward on the CPU (or ``--device``), float32, every
case interleaved with its rivals over several rounds; medians and ratios. A ratio below 1 means
that ours is faster.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.machine import describe
from losses import LOSSES

ROUNDS = 9


def direct_cosent(scores: Tensor, labels: Tensor) -> Tensor:
    """What one writes without a library: mask, concatenate the zero, logsumexp."""
    differences = 20.0 * (scores[:, None] - scores[None, :])
    differences = differences.masked_fill(labels[:, None] >= labels[None, :], -torch.inf)
    return torch.logsumexp(torch.cat([differences.new_zeros(1), differences.flatten()]), dim=0)


def direct_hinge(scores: Tensor, labels: Tensor) -> Tensor:
    gaps = (labels[None, :] - labels[:, None]).relu()
    missed = (scores[:, None] - scores[None, :] + 0.3).relu()
    return (gaps * missed).sum() / (gaps.sum() + 1e-6)


def direct_info_nce(queries: Tensor, keys: Tensor) -> Tensor:
    logits = F.normalize(queries) @ F.normalize(keys).T / 0.05
    return F.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


def direct_contrastive(first: Tensor, second: Tensor, labels: Tensor) -> Tensor:
    distances = (first - second).norm(dim=1)
    return (labels * distances**2 + (1 - labels) * (2.0 - distances).relu() ** 2).mean()


def checked(direct: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same, refusing NaN and inf as ours do, in the shortest way."""

    def loss(*inputs: Tensor) -> Tensor:
        for tensor in inputs:
            if not torch.isfinite(tensor).all():
                raise ValueError("not finite")
        return direct(*inputs)

    return loss


def peers() -> dict[str, Callable[..., Tensor]]:
    from sentence_transformers.sentence_transformer import losses as theirs

    cosent = theirs.CoSENTLoss(nn.Identity(), similarity_fct=lambda a, b: a[:, 0])
    ranking = theirs.MultipleNegativesRankingLoss(nn.Identity())
    return {
        "cosent": lambda scores, labels: cosent.compute_loss_from_embeddings(
            [scores[:, None], scores[:, None]], labels
        ),
        "info_nce": lambda queries, keys: ranking.compute_loss_from_embeddings(
            [queries, keys], None
        ),
    }


def cases(device: str) -> list[tuple[str, int, tuple[Tensor, ...], Callable[..., Tensor]]]:
    torch.manual_seed(0)
    made = []
    for size in (8, 64, 512, 2048):
        scores = torch.rand(size, device=device, requires_grad=True)
        labels = torch.randint(0, 6, (size,), device=device).float()
        made.append(("cosent", size, (scores, labels), direct_cosent))
        made.append(("pairwise_hinge", size, (scores, labels), direct_hinge))
        first = torch.randn(size, 384, device=device, requires_grad=True)
        second = torch.randn(size, 384, device=device, requires_grad=True)
        made.append(("info_nce", size, (first, second), direct_info_nce))
        binary = (labels > 2).float()
        made.append(("contrastive", size, (first, second, binary), direct_contrastive))
    return made


def once(function: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> float:
    """Milliseconds of one forward and backward pass, averaged over a few."""
    repeats = 20 if inputs[0].shape[0] <= 512 else 3
    started = time.perf_counter()
    for _ in range(repeats):
        function(*inputs).backward()
    if inputs[0].is_cuda:
        torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - started) / repeats


def measure(rivals: dict[str, Callable], inputs: tuple[Tensor, ...]) -> dict[str, float]:
    """Median milliseconds of each rival, their rounds interleaved."""
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for turn in range(ROUNDS + 1):
        for name, function in rivals.items():
            taken = once(function, inputs)
            if turn:  # the first round warms up
                times[name].append(taken)
    return {name: statistics.median(taken) for name, taken in times.items()}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--csv", metavar="FILE")
    chosen = parser.parse_args(arguments)
    known = peers()
    print(describe(chosen.device))
    heads = (
        f"{'ours ms':>10}{'direct ms':>11}{'ratio':>7}{'checked ms':>12}{'ratio':>7}"
        f"{'peer ms':>10}{'ratio':>7}"
    )
    print(f"{'loss':16}{'N':>6}{heads}")
    rows = []
    for name, size, inputs, direct in cases(chosen.device):
        rivals = {"ours": LOSSES[name].function, "direct": direct, "checked": checked(direct)}
        if name in known:
            rivals["peer"] = known[name]
        found = measure(rivals, inputs)
        ours, plain, peer = found["ours"], found["direct"], found.get("peer")
        theirs = f"{peer:10.3f}{ours / peer:7.2f}" if peer else f"{'—':>10}{'':>7}"
        same = found["checked"]
        fair = f"{plain:11.3f}{ours / plain:7.2f}{same:12.3f}{ours / same:7.2f}"
        print(f"{name:16}{size:6}{ours:10.3f}{fair}{theirs}")
        to_peer = ours / peer if peer else ""
        to_direct = [plain, ours / plain, same, ours / same]
        rows.append([name, size, ours, *to_direct, peer or "", to_peer])
    if chosen.csv:
        with open(chosen.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([describe(chosen.device)])
            writer.writerow(
                [
                    "loss",
                    "N",
                    "ours",
                    "direct",
                    "to-direct",
                    "checked",
                    "to-checked",
                    "peer",
                    "to-peer",
                ]
            )
            writer.writerows(rows)
