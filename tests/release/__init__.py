"""What a release needs: types, style, documentation, notebooks and the wheel.

``python -m tests.release`` runs it with all tests that are marked ``thorough``: every loss, every
lesson, every question, every theme. CI runs it after ``python -m tests``.
"""
