"""Built-in instances."""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.border import border
from edgewise.errors import InvalidArgument


@border
def paper_instance(dimension: int = 5, omega: float = 0.1) -> tuple[Array, Array]:
    r"""Arms and matrix of the paper's experiments (Section 6).

    The basis :math:`e_1, \dots, e_d` and :math:`(\cos\omega, \sin\omega, 0, \dots)`;
    :math:`M = 2 e_1 e_1^\top`. The best pair is (0, 0); a small omega makes the last arm a close
    rival, at :math:`\omega = \pi/2` it equals :math:`e_2`.

    >>> arms, matrix = paper_instance(dimension=2, omega=0.1)
    >>> arms.shape, float(matrix[0, 0])
    ((3, 2), 2.0)
    """
    if dimension < 2:
        raise InvalidArgument(f"dimension is {dimension}; the paper's instance needs at least 2")
    arms = np.vstack([np.eye(dimension), np.zeros(dimension)])
    arms[-1, :2] = np.cos(omega), np.sin(omega)
    matrix = np.zeros((dimension, dimension))
    matrix[0, 0] = 2.0
    return arms, matrix
