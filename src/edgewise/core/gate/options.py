"""How strict the gate is, and what it looks at."""

from __future__ import annotations

from dataclasses import dataclass

from edgewise.base.border import border
from edgewise.base.choice import instead
from edgewise.core.gate.forms import FORMS
from edgewise.errors import InvalidArgument


@border
@dataclass(frozen=True)
class Gate:
    """What must stay silent for a certificate to count.

    Parameters
    ----------
    level
        Probability that data from the model are ever said to contradict it, over a whole run.
    forms
        What to look for: ``"level"``, ``"round"``, ``"drift"``, ``"edge"``, ``"cell"``,
        ``"direction"``, ``"noise"``, ``"calibration"`` (of the local model) and ``"outlier"``; the
        level is split evenly among those that apply.
    always
        Also where the sums it needs take more than 8 MB; about one number per parameter for every
        number that is measured.

    Examples
    --------
    >>> Gate(level=0.05, forms=("noise", "outlier")).level
    0.05
    """

    level: float = 0.01
    forms: tuple[str, ...] = tuple(FORMS)
    always: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.level, bool) or not 0.0 < self.level < 1.0:
            raise InvalidArgument(
                f"the gate's level is {self.level!r}; it is a probability and must lie strictly "
                "between 0 and 1, e.g. 0.01",
                argument="gate",
            )
        object.__setattr__(self, "forms", tuple(self.forms))
        for name in self.forms:
            if name not in FORMS:
                raise InvalidArgument(
                    f"the gate has no form {name!r}; {instead(name, FORMS)}", argument="gate"
                )
        if not self.forms:
            raise InvalidArgument(
                "the gate has no form to look for; name some, or pass trust_model=True",
                argument="gate",
            )
