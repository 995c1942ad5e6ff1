"""Wake models of FLORIS by name."""

from __future__ import annotations

from typing import Any

_PLAIN = {
    "enable_secondary_steering": False,
    "enable_yaw_added_recovery": False,
    "enable_transverse_velocities": False,
}
WAKES: dict[str, dict[str, Any]] = {
    "gch": {"velocity_model": "gauss", "deflection_model": "gauss"},
    "cc": {"velocity_model": "cc", "deflection_model": "gauss"},
    "jensen": {"velocity_model": "jensen", "deflection_model": "jimenez", **_PLAIN},
    "empirical gauss": {
        "velocity_model": "empirical_gauss",
        "deflection_model": "empirical_gauss",
        "turbulence_model": "wake_induced_mixing",
        **_PLAIN,
        "enable_yaw_added_recovery": True,
    },
}
"""Wake models by name, as changes to FLORIS' default input (Gauss-curl hybrid)."""
