"""For authors of mechanisms and column types: whether one keeps what others rely on."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.testing.mechanisms import ConformanceError as ConformanceError
    from noisewright.testing.mechanisms import check_mechanism as check_mechanism
    from noisewright.testing.plugins import check_entry as check_entry
    from noisewright.testing.plugins import check_kind as check_kind
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "ConformanceError": "mechanisms",
            "check_entry": "plugins",
            "check_kind": "plugins",
            "check_mechanism": "mechanisms",
        },
    )
