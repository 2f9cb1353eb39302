"""The process before the app of a hosted page: it takes connections, refuses what is too much, and
hands on what is left. It imports neither torch nor Gradio."""
