"""Types of answers whose makers still build them field by field.

They are `TypedDict`s of the pages Doctor and Fine-tune, of runs, and of what a page is told when it
opens. All other answers are dataclasses beside their makers.
"""
