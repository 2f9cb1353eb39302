"""Whether a name means this computer."""

from __future__ import annotations

import contextlib
import ipaddress


def is_this_computer(name: str) -> bool:
    """Whether a host name or address is localhost or a loopback address; "" is neither."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(name).is_loopback
    return name == "localhost"
