"""A figure that shows itself below a notebook's cell; imported when matplotlib is there."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A matplotlib figure that needs no pyplot to be seen in a notebook."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png", dpi=100)
        return content.getvalue()
