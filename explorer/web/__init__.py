"""The pages, the server behind them, and the API."""

from lossprism.explorer.web.api.gradio_imports import shorten_gradio_import

shorten_gradio_import()  # before any module below imports Gradio
