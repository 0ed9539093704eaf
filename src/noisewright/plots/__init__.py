"""Pictures: of mechanisms, what they cost and leak, surveys and populations. Needs the extra ``plots`` (matplotlib)."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.plots.attack import draw_new_row as draw_new_row
    from noisewright.plots.faces import draw_face_risks as draw_face_risks
    from noisewright.plots.figure import COLOURS as COLOURS
    from noisewright.plots.figure import blank_figure as blank_figure
    from noisewright.plots.figure import check_suffix as check_suffix
    from noisewright.plots.figure import save_figure as save_figure
    from noisewright.plots.leakage import draw_hasse as draw_hasse
    from noisewright.plots.leakage import draw_leakage as draw_leakage
    from noisewright.plots.leakage import draw_posteriors as draw_posteriors
    from noisewright.plots.leakage import draw_replacements as draw_replacements
    from noisewright.plots.mechanism import draw as draw
    from noisewright.plots.mechanism import draw_matrix as draw_matrix
    from noisewright.plots.mechanism import save_picture as save_picture
    from noisewright.plots.population import draw_estimate as draw_estimate
    from noisewright.plots.population import draw_estimates as draw_estimates
    from noisewright.plots.survey import draw_survey as draw_survey
    from noisewright.plots.utility import draw_utility as draw_utility
else:
    __getattr__, __dir__ = door(__name__)
