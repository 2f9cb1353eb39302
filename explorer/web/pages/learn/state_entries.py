"""The state of the Learn page: the step of a lesson, its lever, what was predicted, and a lecture's
list of lessons. Which lesson it is, its address says."""

from lossprism.explorer.web.pages.state_entry_type import Entry


def learn_table() -> list[Entry]:
    """Another step is a step of the browser's history; `at` is a stop of the lever."""
    return [
        Entry("step", 1, "whole", 1, 9, link="step", history=True),
        Entry("at", 0, "whole", 0, 99, link="at"),
        Entry("guess", "", "text", link="guess"),
        Entry("shown", False, "switch", link="shown"),
        Entry("list", "", "text", link="list"),
    ]
