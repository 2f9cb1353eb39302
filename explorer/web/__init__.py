"""The pages, the server behind them, and the API."""

from lossprism.explorer.web.api.faster_gradio_import import shorten_gradio_import

shorten_gradio_import()  # before any module below imports Gradio
