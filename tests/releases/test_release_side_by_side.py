"""Two releases to one folder: the second is told before it spends anything."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.io.atomic import alive, place, started
from noisewright.ledger.ledger import Ledger
from noisewright.releases.staging import Staging

AGE = {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}
POLICY = {"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [AGE]}
OTHER = {**POLICY, "columns": [{**AGE, "within": [0, 120]}]}
"""Releases under one policy wait for one another; releases under two policies do not."""
AGES = pa.table({"age": [31, 47, 58]})


def test_a_second_release_to_the_same_folder_is_refused_before_it_spends(tmp_path):
    drawing, finish = threading.Event(), threading.Event()

    def wait(done, total):
        drawing.set()
        assert finish.wait(120)

    how = {"output": tmp_path / "out", "ledger": tmp_path / "ledger"}
    first = threading.Thread(target=nw.release, args=(POLICY, AGES), kwargs=how | {"progress": wait})
    first.start()
    try:
        assert drawing.wait(120)
        for more in ({}, {"replace": True}, {"again": True}):
            with pytest.raises(ParameterError, match="out is being written by another process; wait for its end"):
                nw.release(OTHER, AGES, **how, **more)
        assert nw.release(OTHER, AGES, **how | {"output": tmp_path / "other"}).rows == 3
    finally:
        finish.set()
        first.join()
    assert Ledger(tmp_path / "ledger").remaining("clinic").spent_epsilon == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger", "other", "out"]
    assert nw.release(POLICY, AGES, **how).reread


def test_a_process_that_ended_and_that_nobody_asked_about_does_not_count_as_running():
    child = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert alive(os.getpid(), started(os.getpid()), place())
    assert not alive(os.getpid(), "1", place())
    assert not alive(os.getpid(), started(os.getpid()), "0")
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays listed
    assert os.path.exists(f"/proc/{child.pid}")
    assert started(child.pid) == "0"
    child.communicate()


@pytest.mark.parametrize("kind", [FileFormatError, DataError])
def test_messages_name_the_folder_that_was_asked_for_and_not_the_hidden_one(tmp_path, kind):
    with pytest.raises(kind) as problem, Staging(tmp_path / "out") as work:
        raise kind(f"{work.folder}/data.parquet cannot be written: File too large.")
    assert str(problem.value) == f"{tmp_path}/out/data.parquet cannot be written: File too large."
    with pytest.raises(ParameterError, match=r"^something else$"), Staging(tmp_path / "out"):
        raise ParameterError("something else")
