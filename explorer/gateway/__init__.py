"""The process in front of a hosted app: it accepts connections, refuses excess, and forwards the
rest. It imports neither torch nor Gradio."""
