"""What a release needs besides working code: types, style, documentation, notebooks, the wheel.

``python -m tests.release`` runs it; CI does after ``python -m tests``.
"""
