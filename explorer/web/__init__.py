"""The pages, the server behind them, and the API."""

from lossprism.explorer.web.api.gradio_interface_files import leave_interface_files

leave_interface_files()  # before any module below imports Gradio
