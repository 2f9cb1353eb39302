"""Projections of vectors into a plane: principal components, t-SNE and UMAP.

scikit-learn and UMAP are imported when they are used: they take seconds, and UMAP is optional. This
module imports nothing else of the app, so that a process begun for one projection starts quickly.
"""

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

METHODS = ("pca", "tsne", "umap")
NEIGHBOURS = 10  # of a point, that trustworthiness asks for
UMAP_NEIGHBOURS = 15
PERPLEXITY = 30.0
POINTS_PER_PERPLEXITY = 3  # as scikit-learn advises: a point has about so many neighbours


@dataclass(frozen=True, eq=False)
class Projection:
    """Points [S, 2], or [S, D] of so many principal components. `shares` of the variance along each
    axis, for principal components alone; `trustworthiness`, from 0 to 1, of any other: 1 if the
    nearest points were all near before. None for fewer points than it asks for."""

    points: np.ndarray
    shares: tuple[float, ...] | None = None
    trustworthiness: float | None = None


def is_installed(method: str) -> bool:
    """Return whether the library of a method is installed."""
    library = {"tsne": "sklearn", "umap": "umap"}.get(method)
    return library is None or find_spec(library) is not None


def principal_components(vectors: np.ndarray, dimension: int = 2) -> Projection:
    """Project vectors [S, D] onto the plane, or the space of this `dimension`, of their largest
    variance.

    Each axis has the sign under which its largest entry is positive.
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    # The triangular factor has the same axes in D rows, however many vectors there are.
    _, values, axes = np.linalg.svd(np.linalg.qr(centred, mode="r"), full_matrices=False)
    points = np.zeros((len(vectors), dimension))
    points[:, : len(values)] = centred @ axes[:dimension].T
    largest = np.abs(points).argmax(axis=0)
    points *= np.where(points[largest, np.arange(dimension)] < 0, -1.0, 1.0)
    variances = np.zeros(dimension)
    variances[: len(values)] = values[:dimension] ** 2
    total = np.square(values).sum()
    shares = variances / total if total > 0 else np.eye(dimension)[0]
    return Projection(points, shares=tuple(shares.tolist()))


def embedded(method: str, vectors: np.ndarray, seed: int) -> Projection:
    """Project vectors [S, D] by t-SNE or UMAP. The same seed gives the same points: one thread adds
    in one order."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        points = _EMBEDDINGS[method](vectors, seed).astype(np.float64)
        return Projection(points, trustworthiness=_trustworthiness(vectors, points))


def _tsne(vectors: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.manifold import TSNE

    perplexity = min(PERPLEXITY, (len(vectors) - 1) / POINTS_PER_PERPLEXITY)
    chosen = TSNE(2, perplexity=perplexity, init="pca", random_state=seed)
    return chosen.fit_transform(vectors)


def _umap(vectors: np.ndarray, seed: int) -> np.ndarray:
    from umap import UMAP  # pyright: ignore[reportMissingImports]

    neighbours = min(UMAP_NEIGHBOURS, len(vectors) - 1)
    chosen = UMAP(n_neighbors=neighbours, random_state=seed, n_jobs=1)
    return np.asarray(chosen.fit_transform(vectors))


_EMBEDDINGS = {"tsne": _tsne, "umap": _umap}


def _trustworthiness(vectors: np.ndarray, points: np.ndarray) -> float | None:
    from sklearn.manifold import trustworthiness

    if len(vectors) <= 2 * NEIGHBOURS:
        return None
    return float(trustworthiness(vectors, points, n_neighbors=NEIGHBOURS))
