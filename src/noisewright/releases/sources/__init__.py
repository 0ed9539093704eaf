"""Sources of rows: files, frames and tables of other libraries, in the types of the policy."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.sources.connection import Connection as Connection
    from noisewright.releases.sources.delimited import Delimited as Delimited
    from noisewright.releases.sources.delimited import check_spelled as check_spelled
    from noisewright.releases.sources.delimited import header_of as header_of
    from noisewright.releases.sources.delimited import in_sql as in_sql
    from noisewright.releases.sources.delimited import misfit as misfit
    from noisewright.releases.sources.delimited import read_delimited as read_delimited
    from noisewright.releases.sources.delimited import relation_of as relation_of
    from noisewright.releases.sources.duck import MEMORY as MEMORY
    from noisewright.releases.sources.duck import check_names as check_names
    from noisewright.releases.sources.duck import connected as connected
    from noisewright.releases.sources.duck import identifier as identifier
    from noisewright.releases.sources.duck import literal as literal
    from noisewright.releases.sources.duck import quiet as quiet
    from noisewright.releases.sources.files import files_of as files_of
    from noisewright.releases.sources.files import format_of as format_of
    from noisewright.releases.sources.files import from_arrow as from_arrow
    from noisewright.releases.sources.files import from_path as from_path
    from noisewright.releases.sources.files import names_without_types as names_without_types
    from noisewright.releases.sources.formulas import harmless as harmless
    from noisewright.releases.sources.formulas import original as original
    from noisewright.releases.sources.frames import from_pandas as from_pandas
    from noisewright.releases.sources.frames import from_polars as from_polars
    from noisewright.releases.sources.frames import in_memory as in_memory
    from noisewright.releases.sources.open import source_of as source_of
    from noisewright.releases.sources.open import table_of as table_of
    from noisewright.releases.sources.sheets import SheetWriter as SheetWriter
    from noisewright.releases.sources.source import BATCH as BATCH
    from noisewright.releases.sources.source import SUFFIXES as SUFFIXES
    from noisewright.releases.sources.source import Format as Format
    from noisewright.releases.sources.source import Source as Source
    from noisewright.releases.sources.source import SourceKind as SourceKind
    from noisewright.releases.sources.source import dataset_of as dataset_of
    from noisewright.releases.sources.source import stamps_of as stamps_of
    from noisewright.releases.sources.spark import arrow_schema as arrow_schema
    from noisewright.releases.sources.spark import sentences as sentences
    from noisewright.releases.sources.spark import silent_python as silent_python
    from noisewright.releases.sources.spark import spark_schema as spark_schema
    from noisewright.releases.sources.spark import through_spark as through_spark
    from noisewright.releases.sources.spark import zoned as zoned
    from noisewright.releases.sources.sqlite import read_sqlite as read_sqlite
    from noisewright.releases.sources.workbooks import Sheet as Sheet
    from noisewright.releases.sources.workbooks import open_sheet as open_sheet
    from noisewright.releases.sources.written import read_written as read_written
    from noisewright.releases.sources.written import written_batches as written_batches
else:
    __getattr__, __dir__ = door(__name__)
