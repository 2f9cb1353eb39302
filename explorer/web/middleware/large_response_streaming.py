"""Sending of large answers piece by piece, counted until they are sent."""

from lossprism.explorer.runtime.unsent_response_bytes import UNSENT_BYTES
from lossprism.explorer.web.middleware.asgi_messages import Application, Message, Receive, Send
from lossprism.explorer.web.middleware.request_limits import PAGE_REQUESTS

PIECE_BYTES = 2**18


class ResponseStreamingMiddleware:
    """Middleware that passes a large body to the server piece by piece.

    The server waits before it takes another piece while the client reads nothing. Passed as a
    whole, a body would be copied into the server's buffer, and count as sent. Gradio's answers are
    counted here; those to pages from when they were made.
    """

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        async def in_pieces(message: Message) -> None:
            body = message.get("body", b"")
            if len(body) <= PIECE_BYTES:
                return await send(message)
            counted = 0 if PAGE_REQUESTS in scope["path"] else len(body)
            UNSENT_BYTES.take(counted)
            try:
                for at in range(0, len(body), PIECE_BYTES):
                    more = at + PIECE_BYTES < len(body) or message.get("more_body", False)
                    piece = body[at : at + PIECE_BYTES]
                    await send({**message, "body": piece, "more_body": more})
            finally:
                UNSENT_BYTES.release(counted)

        await self.app(scope, receive, in_pieces)
