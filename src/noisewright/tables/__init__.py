"""Tables as they come: files, frames, databases and sheets."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.tables.reading import table_of as table_of
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "table_of": "reading",
        },
    )
