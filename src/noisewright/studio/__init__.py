"""The studio: pages in a browser, served from this machine."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.studio import pages as pages
    from noisewright.studio import services as services
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "pages": "pages:",
            "services": "services:",
        },
    )
