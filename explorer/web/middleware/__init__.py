"""ASGI middleware: what a request passes before and after the code that answers it."""
