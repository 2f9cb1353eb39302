"""Names by which a server may be called, in the header Host of a request."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlsplit

from lossprism.explorer.runtime.deployment_policy import SPACE
from lossprism.explorer.runtime.loopback import is_this_computer
from lossprism.explorer.web.middleware.host_and_origin_of_request import Origin, name_in, origin_of

# Addresses at which a server listens to all that reach its computer.
WILDCARDS = ("0.0.0.0", "::", "")


class CloudNotebook(NamedTuple):
    """A notebook in the cloud: the ends of the names by which it shows the page, and sources of
    the pages that frame it."""

    suffixes: tuple[str, ...]
    frames: str


# By the environment variable that tells of it.
NOTEBOOKS: Mapping[str, CloudNotebook] = {
    "COLAB_RELEASE_TAG": CloudNotebook(
        (".googleusercontent.com", ".colab.dev"),
        "https://colab.research.google.com https://*.googleusercontent.com https://*.colab.dev",
    ),
    "KAGGLE_KERNEL_RUN_TYPE": CloudNotebook(
        (".kaggle.net", ".kaggle.com"),
        "https://*.kaggle.com https://*.kaggle.net https://*.kaggleusercontent.com",
    ),
    "CODESPACES": CloudNotebook(
        (".app.github.dev", ".github.dev"), "https://*.app.github.dev https://*.github.dev"
    ),
}


@dataclass(frozen=True)
class HostNames:
    """The names by which readers find this server, beside those of this computer.

    `hosts` are complete names, `suffixes` the ends of names, and `origins` complete origins.
    `any_number` accepts numeric addresses, which nobody can point elsewhere; `any_name` accepts all
    names, if only a proxy can reach the server.
    """

    hosts: frozenset[str]
    suffixes: tuple[str, ...] = ()
    origins: frozenset[Origin] = frozenset()
    any_number: bool = False
    any_name: bool = False

    def also(self, address: str) -> HostNames:
        """Return these names and those of one more address for readers."""
        host, origin = name_in(urlsplit(address).netloc), origin_of(address)
        origins = self.origins | frozenset(filter(None, [origin]))
        return replace(self, hosts=self.hosts | {host}, origins=origins)

    def know(self, host: str) -> bool:
        """Return whether a header Host has one of these names."""
        name = name_in(host)
        if not name:
            return False
        if self.any_name or is_this_computer(name) or name in self.hosts:
            return True
        return name.endswith(self.suffixes) or (self.any_number and _is_number(name))


def accepted_names(
    host: str, address: str = "", environment: Mapping[str, str] = os.environ
) -> HostNames:
    """Return the names of a server that listens at `host` and that readers find at `address`.

    A Space has the name that the hub gives it, a notebook in the cloud those of its service. A
    JupyterHub does not tell its name; but a server there is reached through its proxy alone.
    """
    listens_to_all = host in WILDCARDS
    of_space = environment.get("SPACE_HOST", "")
    found = {name_in(urlsplit(address).netloc), *map(name_in, of_space.split(","))}
    found |= set() if listens_to_all else {host.strip("[]").lower()}
    if listens_to_all:
        found |= {socket.gethostname().lower(), f"{socket.gethostname().lower()}.local"}
    suffixes = [end for one in cloud_notebooks(environment) for end in one.suffixes]
    on_a_space = bool(environment.get(SPACE))
    return HostNames(
        hosts=frozenset(found - {""}),
        suffixes=tuple(suffixes),
        origins=frozenset(filter(None, [origin_of(address)])),
        any_number=listens_to_all or on_a_space,
        any_name=bool(environment.get("JUPYTERHUB_SERVICE_PREFIX"))
        or (on_a_space and not of_space),
    )


def cloud_notebooks(environment: Mapping[str, str]) -> list[CloudNotebook]:
    return [one for variable, one in NOTEBOOKS.items() if environment.get(variable)]


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
