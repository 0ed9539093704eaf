"""Files: atomic writing, channels and certificates on disk, models that are fetched."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.io.model_files import read_model as read_model
    from noisewright.io.model_files import write_model as write_model
    from noisewright.io.serialization import load as load
    from noisewright.io.serialization import load_certificate as load_certificate
    from noisewright.io.serialization import save as save
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "load": "serialization",
            "load_certificate": "serialization",
            "read_model": "model_files",
            "save": "serialization",
            "write_model": "model_files",
        },
    )
