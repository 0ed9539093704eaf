"""Columns of tables: Arrow in and out, labels, and the types of columns that policies name."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.columns.arrow import as_array as as_array
    from noisewright.columns.arrow import restore as restore
    from noisewright.columns.arrow import take_present as take_present
    from noisewright.columns.column_type import BLOCK as BLOCK
    from noisewright.columns.column_type import Kind as Kind
    from noisewright.columns.nested import BYTES as BYTES
    from noisewright.columns.nested import IMAGE as IMAGE
    from noisewright.columns.nested import TEXT as TEXT
    from noisewright.columns.nested import VECTOR as VECTOR
    from noisewright.columns.nested import Text as Text
    from noisewright.columns.registry import KINDS as KINDS
    from noisewright.columns.registry import fits as fits
    from noisewright.columns.registry import kind_named as kind_named
    from noisewright.columns.registry import kind_names as kind_names
    from noisewright.columns.registry import kind_of as kind_of
    from noisewright.columns.registry import present as present
    from noisewright.columns.registry import recast as recast
    from noisewright.columns.scalars import INTEGER as INTEGER
    from noisewright.columns.scalars import TIME as TIME
    from noisewright.columns.scalars import ZONED as ZONED
    from noisewright.columns.scalars import Integer as Integer
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "BLOCK": "column_type",
            "BYTES": "nested",
            "IMAGE": "nested",
            "INTEGER": "scalars",
            "Integer": "scalars",
            "KINDS": "registry",
            "Kind": "column_type",
            "TEXT": "nested",
            "TIME": "scalars",
            "Text": "nested",
            "VECTOR": "nested",
            "ZONED": "scalars",
            "as_array": "arrow",
            "fits": "registry",
            "kind_named": "registry",
            "kind_names": "registry",
            "kind_of": "registry",
            "present": "registry",
            "recast": "registry",
            "restore": "arrow",
            "take_present": "arrow",
        },
    )
