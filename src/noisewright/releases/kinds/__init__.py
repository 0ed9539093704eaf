"""Kinds of columns: the conversion of an Arrow column to the values of a mechanism, and back.

A policy calls a kind by its name; a package adds one by an entry point of the group ``noisewright.kinds``.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.kinds.binary import BYTES as BYTES
    from noisewright.releases.kinds.binary import IMAGE as IMAGE
    from noisewright.releases.kinds.binary import Bytes as Bytes
    from noisewright.releases.kinds.binary import Image as Image
    from noisewright.releases.kinds.booleans import BOOLEAN as BOOLEAN
    from noisewright.releases.kinds.booleans import Boolean as Boolean
    from noisewright.releases.kinds.casts import fits as fits
    from noisewright.releases.kinds.casts import fits_json as fits_json
    from noisewright.releases.kinds.casts import recast as recast
    from noisewright.releases.kinds.dates import DATE as DATE
    from noisewright.releases.kinds.dates import TIME as TIME
    from noisewright.releases.kinds.dates import ZONED as ZONED
    from noisewright.releases.kinds.dates import Date as Date
    from noisewright.releases.kinds.dates import Time as Time
    from noisewright.releases.kinds.kept import visible as visible
    from noisewright.releases.kinds.kept import visible_type as visible_type
    from noisewright.releases.kinds.kind import BLOCK as BLOCK
    from noisewright.releases.kinds.kind import BLOCK_BYTES as BLOCK_BYTES
    from noisewright.releases.kinds.kind import Chart as Chart
    from noisewright.releases.kinds.kind import Form as Form
    from noisewright.releases.kinds.kind import Kind as Kind
    from noisewright.releases.kinds.kind import Speech as Speech
    from noisewright.releases.kinds.kind import not_a_date as not_a_date
    from noisewright.releases.kinds.kind import rows_of as rows_of
    from noisewright.releases.kinds.numbers import INTEGER as INTEGER
    from noisewright.releases.kinds.numbers import NUMBER as NUMBER
    from noisewright.releases.kinds.numbers import Integer as Integer
    from noisewright.releases.kinds.numbers import Number as Number
    from noisewright.releases.kinds.registry import KINDS as KINDS
    from noisewright.releases.kinds.registry import describe as describe
    from noisewright.releases.kinds.registry import every_kind as every_kind
    from noisewright.releases.kinds.registry import kind_named as kind_named
    from noisewright.releases.kinds.registry import kind_names as kind_names
    from noisewright.releases.kinds.registry import kind_of as kind_of
    from noisewright.releases.kinds.registry import place_in as place_in
    from noisewright.releases.kinds.registry import present as present
    from noisewright.releases.kinds.rows import Mask as Mask
    from noisewright.releases.kinds.rows import all_true as all_true
    from noisewright.releases.kinds.rows import as_array as as_array
    from noisewright.releases.kinds.rows import restore as restore
    from noisewright.releases.kinds.rows import take_present as take_present
    from noisewright.releases.kinds.spans import UNITS as UNITS
    from noisewright.releases.kinds.spans import Span as Span
    from noisewright.releases.kinds.texts import DOCUMENT as DOCUMENT
    from noisewright.releases.kinds.texts import TEXT as TEXT
    from noisewright.releases.kinds.texts import Document as Document
    from noisewright.releases.kinds.texts import Text as Text
    from noisewright.releases.kinds.texts import is_text as is_text
    from noisewright.releases.kinds.texts import plain_text as plain_text
    from noisewright.releases.kinds.vectors import VECTOR as VECTOR
    from noisewright.releases.kinds.vectors import Vector as Vector
else:
    __getattr__, __dir__ = door(__name__)
