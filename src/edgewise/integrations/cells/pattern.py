r"""How much an antenna radiates in a direction, and how tilting it turns that.

The pattern of 3GPP TR 36.814 (table A.2.1.1-2) and TR 38.901 (table 7.3-1): attenuations in decibel

.. math::
   A_H(\phi) = \min\Big\{12\Big(\frac{\phi}{\phi_3}\Big)^2, A_m\Big\}, \qquad
   A_V(\theta) = \min\Big\{12\Big(\frac{\theta - \theta_\text{tilt}}{\theta_3}\Big)^2, A_v\Big\},
   \qquad G = G_m - \min\{A_H + A_V, A_m\},

with :math:`\phi` the angle off the azimuth and :math:`\theta` the angle below the horizon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array
from edgewise.errors import InvalidArgument


@dataclass(frozen=True)
class TiltPattern:
    """The gain of a sector antenna. Angles are in degrees, gains in decibel."""

    peak: float = 15.0
    """:math:`G_m`, gain in the main direction."""
    width: float = 65.0
    """:math:`\\phi_3`, across which the gain falls by 3 dB to the sides."""
    height: float = 10.0
    """:math:`\\theta_3`, the same up and down."""
    side_lobes: float = 20.0
    """:math:`A_v`, the most that is lost up and down."""
    back: float = 30.0
    """:math:`A_m`, the most that is lost at all."""

    def __post_init__(self) -> None:
        if min(self.width, self.height, self.side_lobes, self.back) <= 0:
            raise InvalidArgument(
                f"{self}: widths and the most that is lost must be above 0; the pattern has no "
                "main direction otherwise"
            )

    def sideways(self, aside: Array) -> Array:
        """What is lost by angles off the azimuth, of any sign and number of turns."""
        off = np.abs((aside + 180.0) % 360.0 - 180.0)
        return np.minimum(12.0 * (off / self.width) ** 2, self.back)

    def upright(self, below: Array, tilt: Array | float) -> Array:
        """What is lost by angles below the horizon, with the antenna tilted down."""
        return np.minimum(12.0 * ((below - tilt) / self.height) ** 2, self.side_lobes)

    def gain(self, sideways: Array, upright: Array) -> Array:
        """The gain where so much is lost sideways and upright."""
        found: Array = self.peak - np.minimum(sideways + upright, self.back)
        return found
