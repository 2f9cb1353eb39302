"""Recognition of names of this computer."""

import contextlib
import ipaddress


def is_this_computer(name: str) -> bool:
    """Return whether a host name or address is localhost or a loopback address; False for ""."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(name).is_loopback
    return name == "localhost"
