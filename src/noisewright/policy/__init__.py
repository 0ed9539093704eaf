"""Policies: what is public about the columns of a table, and what is released about them."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.policy.policy import as_policy as as_policy
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "as_policy": "policy",
        },
    )
