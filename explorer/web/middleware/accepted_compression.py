"""The compression that a client accepts."""

from collections.abc import Mapping

from lossprism.explorer.runtime.deployment_policy import deployment_policy


def is_compressed(headers: Mapping[str, str]) -> bool:
    """Return whether the answer to a request with these headers is compressed: on a hosted page,
    for a client that accepts brotli."""
    listed = (entry.split(";") for entry in headers.get("accept-encoding", "").split(","))
    parts = [[part.strip() for part in entry] for entry in listed]
    accepts = any(name == "br" and "q=0" not in more for name, *more in parts)
    return deployment_policy().compresses_answers and accepts
