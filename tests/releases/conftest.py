"""One Spark session serves all tests of a process that need one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from noisewright.releases.engines.spark.session import start_spark


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    session, started = start_spark("local[2]")
    yield session
    if started:
        session.stop()
