"""Kinds of columns: what a mechanism sees of an Arrow column, and how it is written back."""

from typing import TYPE_CHECKING

from noisewright.core.doors import door

if TYPE_CHECKING:
    from noisewright.releases.kinds.casts import ARROW as ARROW
    from noisewright.releases.kinds.casts import ZONED as ZONED
    from noisewright.releases.kinds.casts import TypeName as TypeName
    from noisewright.releases.kinds.casts import fits as fits
    from noisewright.releases.kinds.casts import fits_json as fits_json
    from noisewright.releases.kinds.casts import name_of as name_of
    from noisewright.releases.kinds.casts import recast as recast
    from noisewright.releases.kinds.codecs import Kind as Kind
    from noisewright.releases.kinds.codecs import as_array as as_array
    from noisewright.releases.kinds.codecs import as_scalar as as_scalar
    from noisewright.releases.kinds.codecs import can_hold as can_hold
    from noisewright.releases.kinds.codecs import fill_missing as fill_missing
    from noisewright.releases.kinds.codecs import in_words as in_words
    from noisewright.releases.kinds.codecs import kind_of as kind_of
    from noisewright.releases.kinds.codecs import output_type as output_type
    from noisewright.releases.kinds.codecs import plain_text as plain_text
    from noisewright.releases.kinds.codecs import present as present
    from noisewright.releases.kinds.codecs import read_numbers as read_numbers
    from noisewright.releases.kinds.codecs import restore as restore
    from noisewright.releases.kinds.codecs import take_present as take_present
    from noisewright.releases.kinds.codecs import write as write
    from noisewright.releases.kinds.codecs import write_numbers as write_numbers
    from noisewright.releases.kinds.dates import day_or_second as day_or_second
    from noisewright.releases.kinds.spans import UNITS as UNITS
    from noisewright.releases.kinds.spans import Span as Span
else:
    __getattr__, __dir__ = door(__name__)
