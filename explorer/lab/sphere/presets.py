"""Films worth watching, each with what there is to see in it (`sphere.watch.<name>`).

`tests/unit/lab/sphere/test_presets.py` measures in each film what its sentence says.
"""

from dataclasses import dataclass

from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.sphere.film import Steps
from lossprism.explorer.lab.sphere.starting_points import Start


@dataclass(frozen=True)
class Preset:
    """A film, or two of different losses from the same start."""

    name: str
    sides: tuple[Side, ...]
    start: Start
    steps: Steps


def _side(loss: str, **parameters: object) -> Side:
    return Side(loss, parameters=tuple(parameters.items()))


PRESETS = (
    Preset(
        "collapse",
        (_side("alignment"),),
        Start(points=24, classes=1, dimension=3),
        Steps("momentum", 4.0),
    ),
    Preset(
        "spread",
        (_side("info_nce", temperature=1.0), _side("info_nce", temperature=0.1)),
        Start(points=32, classes=16),
        Steps("adam", 0.05),
    ),
    Preset(
        "hinge",
        (_side("pairwise_hinge", margin=0.3), _side("pairwise_hinge", margin=1.0)),
        Start(kind="random", points=32, labels="binary"),
        Steps("sgd", 0.1),
    ),
    Preset(
        "order",
        (_side("cosent"),),
        Start(kind="random", points=32, labels="binary"),
        Steps("sgd", 0.002),
    ),
    Preset(
        "values",
        (_side("cosine_mse"),),
        Start(kind="random", points=32, labels="graded"),
        Steps("sgd", 0.5),
    ),
    Preset(
        "false_negative",
        (_side("info_nce", temperature=0.1), _side("supcon", temperature=0.1)),
        Start(points=12, classes=4, spread=0.2, dimension=3, seed=1),
        Steps("adam", 0.02),
    ),
)
BY_NAME = {one.name: one for one in PRESETS}
