"""Figures of mechanisms, leakage and estimates."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.plotting.leakage import draw_face_risks as draw_face_risks
    from noisewright.plotting.mechanisms import save_figure as save_figure
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "draw_face_risks": "leakage",
            "save_figure": "mechanisms",
        },
    )
