"""What people read: sentences of claims, and the parts of pages in HTML and on the terminal."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.render.claims import audit_meaning as audit_meaning
    from noisewright.render.claims import meaning as meaning
    from noisewright.render.claims import part_pair as part_pair
    from noisewright.render.claims import short as short
    from noisewright.render.claims import smallest as smallest
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "audit_meaning": "claims",
            "meaning": "claims",
            "part_pair": "claims",
            "short": "claims",
            "smallest": "claims",
        },
    )
