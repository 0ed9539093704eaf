"""Quick runs of experiments, each made once: tests that share one are in one group, which one worker runs."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from experiments.report import Result

import experiments


@cache
def quick_result(name: str) -> Result:
    """The result of a quick run."""
    experiment = experiments.load(name)
    return experiment.result(True, **({} if experiment.runs is None else {"runs": experiment.runs[0]}))


def shares(name: str) -> Any:
    """The mark of a test that asks for :func:`quick_result`."""
    return pytest.mark.xdist_group(f"experiment {name}")
