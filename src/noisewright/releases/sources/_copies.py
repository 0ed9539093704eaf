"""Copies of what can be read only once, in a private file that goes when the source goes."""

from __future__ import annotations

import tempfile
from collections.abc import Collection

import pyarrow as pa
import pyarrow.ipc

from noisewright.files.scratch import Spool
from noisewright.releases.sources.connection import Batches
from noisewright.releases.sources.duck import check_names, quiet, valid
from noisewright.releases.sources.source import Source, SourceKind, stamps_of

__all__ = ["spooled", "used_part"]


def spooled(
    kind: SourceKind,
    name: str,
    reader: pa.RecordBatchReader | Batches,
    used: Collection[str] | None,
) -> Source:
    """Write what can be read once to a temporary file, which goes when the source goes."""
    check_names(name, reader.schema.names, used)
    kept = used_part(reader.schema, used)
    spool, rows = Spool(), 0
    options = pa.ipc.IpcWriteOptions(compression="lz4", unify_dictionaries=True)
    with (
        quiet(f"{name} cannot be read to its end, or there is no room for a copy in {tempfile.gettempdir()}"),
        pa.OSFile(spool.path, "wb") as file,
        pa.ipc.new_file(file, kept, options=options) as writer,
    ):
        for batch in reader:
            rows += batch.num_rows
            writer.write_batch(valid(batch.select(kept.names)))
    return Source(
        kind,
        name,
        "arrow",
        kept.remove_metadata(),
        rows,
        (spool.path,),
        held=spool,
        stamps=stamps_of((spool.path,)),
    )


def used_part(schema: pa.Schema, used: Collection[str] | None) -> pa.Schema:
    """The columns that are used; one at least, to count rows by."""
    return pa.schema([one for one in schema if used is None or one.name in used] or [schema.field(0)])
