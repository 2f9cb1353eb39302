"""What went wrong, as a sentence a user can act on, in the user's language."""

from __future__ import annotations

from explorer.locale import say


class Problem(ValueError):
    """Something that whoever sent the input can put right.

    `key` names a sentence of the catalogues under ``problem.``; `values` are put into its
    placeholders, a `locale.word` in the language of the sentence. The page shows it in its own
    language, everything else in English.
    """

    def __init__(self, key: str, **values: object) -> None:
        self.key = f"problem.{key}"
        self.values = values
        super().__init__(self.key)

    def __str__(self) -> str:
        return say("en", self.key, **self.values)

    def to_json(self) -> dict[str, object]:
        return {
            "key": self.key,
            "values": {
                name: value if isinstance(value, int | dict | list) else str(value)
                for name, value in self.values.items()
            },
        }
