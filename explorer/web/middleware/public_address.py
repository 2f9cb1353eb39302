"""The page's address for readers: the one it listens at, or a configured one.

Headers of a request about a proxy (X-Forwarded-Host and the like) are its sender's words. A hosted
page trusts them only on the hub, where every request passes the hub's own proxy; elsewhere it has
the address that it was started with.
"""

from urllib.parse import urlsplit

from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.web.middleware.asgi_messages import Application, Message, Receive, Send

# What a proxy says of the request that it was sent, and Gradio takes at its word.
OF_PROXIES = (b"forwarded", b"x-gradio-server")
OF_A_PROXY = b"x-forwarded-"


def read_address(text: str) -> str:
    """Read the address for readers, without a slash at its end; "" for the one listened at.

    It is complete, as https://example.org/losses, or only the path, as /losses.

    Raises ValueError if it is neither.
    """
    address = text.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # such as a port that is no number
        parts, whole = urlsplit(""), False
    path = address.startswith("/") and not address.startswith("//")
    plain = not set(address) & set("?#@\\") and address.isascii() and address.isprintable()
    if address and not (plain and " " not in address and (whole or path)):
        raise ValueError(
            f"The address of the page is {text!r}; accepted are a whole address, such as "
            "https://example.org/losses, and a path, such as /losses."
        )
    return address


class PublicAddressMiddleware:
    """Middleware that gives every request this address, whatever it says of proxies."""

    def __init__(self, app: Application, address: str = "") -> None:
        parts = urlsplit(address)
        self.app, self.scheme, self.root = app, parts.scheme, parts.path
        self.host, self.port = parts.hostname, parts.port

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        believed = deployment_policy().trusts_proxies
        # Uvicorn takes a header's word for the scheme, of any client on this computer.
        reached_by = scope["scheme"] if believed else "http"
        known = {**scope, "root_path": self.root, "scheme": self.scheme or reached_by}
        if self.host:
            known["server"] = self.host, self.port
        if self.root and not f"{scope['path']}/".startswith(f"{self.root}/"):
            known["path"] = self.root + scope["path"]  # the proxy has left it out
        if not believed:
            known["headers"] = [one for one in scope["headers"] if not _is_of_a_proxy(one[0])]

        async def below_the_path(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [(name, self._led(name, value)) for name, value in message["headers"]]
                message = {**message, "headers": headers}
            await send(message)

        await self.app(known, receive, below_the_path if self.root else send)

    def _led(self, name: bytes, value: bytes) -> bytes:
        """Return the target of a redirection with the path, which Gradio's omit."""
        root = self.root.encode()
        inside = value.startswith(b"/") and not value.startswith(b"//")
        if name != b"location" or not inside or (value + b"/").startswith(root + b"/"):
            return value
        return root + value


def _is_of_a_proxy(name: bytes) -> bool:
    return name in OF_PROXIES or name.startswith(OF_A_PROXY)
