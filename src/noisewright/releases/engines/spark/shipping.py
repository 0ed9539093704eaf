"""Public files on their way to Spark's workers: sent once, called by their SHA-256, found by it.

A plan that travels to a worker carries the names and digests of its public files, never their content. The files go next to it
with ``SparkContext.addFile``, once for each application; Spark keeps them for as long as it lives, since any later task
on a new machine fetches them again.
"""

from __future__ import annotations

import atexit
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from noisewright.core.resource import Resource, look_in
from noisewright.files.scratch import scratch_folder
from noisewright.releases.columns.plan import ColumnPlan

__all__ = ["carrying", "ship"]

Work = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_sent: dict[str, set[str]] = {}


def carrying(session: Any, plans: Iterable[ColumnPlan], work: Work) -> Work:
    """The same work, which finds the public files of the plans wherever Spark runs it."""
    resources = tuple(dict.fromkeys(resource for plan in plans for resource in plan.resources))
    if not resources:
        return work
    ship(session, resources)

    def found(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import SparkFiles

        look_in(SparkFiles.getRootDirectory())
        yield from work(batches)

    return found


def ship(session: Any, resources: Iterable[Resource]) -> int:
    """Send public files to all workers; how many were not there yet."""
    context = session.sparkContext
    sent = _sent.setdefault(context.applicationId, set())
    new = [resource for resource in dict.fromkeys(resources) if resource.sha256 not in sent]
    for resource in new:
        resource.open()  # it is here, and the one that was named
        context.addFile(str(_by_digest(resource)))
        sent.add(resource.sha256)
    return len(new)


def _by_digest(resource: Resource) -> Path:
    """The file under the name of its digest: the same file where the disk allows a second name, otherwise a copy."""
    place, target = resource.place(), _folder() / resource.sha256
    assert place is not None
    if not target.exists():
        try:
            os.link(place.resolve(), target)
        except OSError:
            shutil.copyfile(place, target)
    return target


@cache
def _folder() -> Path:
    """It goes when this process ends, and not before: Spark reads from it whenever a worker asks."""
    stack = ExitStack()
    atexit.register(stack.close)
    return Path(stack.enter_context(scratch_folder()))
