"""One Hypothesis profile for every test: the same examples on every run, and no deadline on a busy machine.

One Spark session serves all tests of a process that need one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "noisewright",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("noisewright")


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    from noisewright.releases.engines.spark.session import start_spark

    session, started = start_spark("local[2]")
    yield session
    if started:
        session.stop()
