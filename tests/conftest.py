"""One Hypothesis profile for every test: the same examples on every run, and no deadline on a busy machine.

One Spark session serves all tests of a process that need one. The package of somebody else's that is installed beside ours
(``examples/signbits``) is out of sight, unless a test asks for ``guests``. What is computed once about a public file is kept in a
folder of this run, so that no earlier run answers for this one. Matrices are multiplied by one thread.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import Any

import one_thread  # noqa: F401  (before NumPy is loaded)
import pytest
from hypothesis import HealthCheck, settings

from noisewright._utils.lazy import Addresses

settings.register_profile(
    "noisewright",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("noisewright")

_cache = tempfile.TemporaryDirectory(prefix="noisewright-cache-")
os.environ["NOISEWRIGHT_CACHE"] = _cache.name

_state = tempfile.TemporaryDirectory(prefix="noisewright-state-")
os.environ["XDG_STATE_HOME"] = _state.name


@pytest.fixture(autouse=True)
def own_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has witnesses of its own: what one test spends in a copy of a ledger, no other test has seen."""
    monkeypatch.setenv("XDG_STATE_HOME", tempfile.mkdtemp(dir=_state.name))


EVERYBODY: Any = Addresses.__dict__["_entry_points"]


def _ours(table: Addresses) -> dict[str, Any]:
    found = EVERYBODY.fget(table)
    return {name: point for name, point in found.items() if getattr(point.dist, "name", "") != "noisewright-signbits"}


Addresses._entry_points = property(_ours)  # type: ignore[method-assign,assignment]


_places: dict[str, list[Any]] = {}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Where public files lie that were written while tests were collected."""
    from noisewright import resources as resource

    for digest, known in resource._places.items():
        _places.setdefault(digest, list(known))


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Some tests begin as a process does that knows no file; the others know them again."""
    from noisewright import resources as resource

    for digest, known in _places.items():
        resource._places.setdefault(digest, list(known))


@pytest.fixture
def guests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Addresses, "_entry_points", EVERYBODY)


@pytest.fixture
def coded_afresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The toy mechanism with a public file is registered, and this process knows no public file yet."""
    from resource_support import coded_registered, forget_places

    from noisewright.resources import FOLDERS

    monkeypatch.delenv(FOLDERS, raising=False)
    forget_places()
    with coded_registered():
        yield


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    from noisewright.engines.spark_session import start_spark

    session, started = start_spark("local[2]")
    yield session
    if started:
        session.stop()
