"""Planned columns: a mechanism fitted to the protection of a column, its privacy cost, and one block of rows through it."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.columns.arguments import label as label
    from noisewright.releases.columns.blocks import block_rows as block_rows
    from noisewright.releases.columns.blocks import output_schema as output_schema
    from noisewright.releases.columns.blocks import perturb_block as perturb_block
    from noisewright.releases.columns.fitting import Fitted as Fitted
    from noisewright.releases.columns.fitting import TooNearError as TooNearError
    from noisewright.releases.columns.fitting import distance_of as distance_of
    from noisewright.releases.columns.fitting import fitted as fitted
    from noisewright.releases.columns.fitting import width_of as width_of
    from noisewright.releases.columns.plan import ColumnPlan as ColumnPlan
    from noisewright.releases.columns.plan import compile_column as compile_column
    from noisewright.releases.columns.prices import charge as charge
    from noisewright.releases.columns.prices import diameter as diameter
    from noisewright.releases.columns.secret import Secret as Secret
    from noisewright.releases.columns.secret import kind_for as kind_for
    from noisewright.releases.columns.secret import secret_of as secret_of
    from noisewright.releases.columns.secret import title_of as title_of
    from noisewright.releases.columns.types import check_spelling as check_spelling
    from noisewright.releases.columns.types import check_stated as check_stated
    from noisewright.releases.columns.types import known_types as known_types
    from noisewright.releases.columns.types import source_for as source_for
    from noisewright.releases.columns.types import used_columns as used_columns
    from noisewright.releases.columns.words import protection_of as protection_of
else:
    __getattr__, __dir__ = door(__name__)
