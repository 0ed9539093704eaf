"""Long work: it tells how far it is, ends well or in a sentence, and can be cancelled."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from noisewright.exceptions import DataError
from noisewright.studio.sessions import Job, State


def squares(count: int, told: Callable[..., None]) -> list[int]:
    told(1, count)
    return [n * n for n in range(count)]


def refuses(told: Callable[..., None]) -> None:
    raise DataError("there are no rows.")


def dies(told: Callable[..., None]) -> None:
    os._exit(9)


def sleeps(told: Callable[..., None]) -> None:
    told(1, 2)
    time.sleep(600)


def wait(job: Job, until: Callable[[State], Any]) -> State:
    for _ in range(12_000):
        state = job.look()
        if until(state):
            return state
        time.sleep(0.05)
    raise AssertionError("the job did not come so far")


def test_a_job_gives_what_its_function_returns() -> None:
    state = wait(Job(squares, 4), lambda s: s.ended)
    assert (state.result, state.refused) == ([0, 1, 4, 9], None)


def test_a_refusal_is_its_sentence() -> None:
    assert wait(Job(refuses), lambda s: s.ended).refused == "there are no rows."


def test_a_job_that_dies_is_told_of() -> None:
    assert "ended before it was done" in (wait(Job(dies), lambda s: s.ended).refused or "")


def test_a_job_can_be_cancelled() -> None:
    job = Job(sleeps)
    assert wait(job, lambda s: s.of) == State(1, 2)
    job.cancel()
    assert job.look() == State(ended=True, refused="cancelled.")
    assert not job._process.is_alive()


def test_a_job_ends_with_its_server() -> None:
    code = (
        "import time\n"
        "from noisewright.studio.sessions import Job\n"
        "if __name__ == '__main__':\n"
        "    job = Job(time.sleep, 600)\n"
        "    print(job._process.pid, flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        job = int(server.stdout.readline())
        server.kill()
    for _ in range(1200):
        if not Path(f"/proc/{job}").exists():
            return
        time.sleep(0.05)
    raise AssertionError("the job goes on")


def writes_later(where: str, told: Callable[..., None]) -> None:
    told(1, 2)
    time.sleep(2)
    told(2, 2)  # to nobody
    Path(where).write_text("done")


def test_a_job_may_outlive_its_server(tmp_path: Path) -> None:
    server = (
        "import os, time\n"
        "from noisewright.studio.sessions import Job\nfrom tests.studio.test_jobs import writes_later\n"
        "if __name__ == '__main__':\n"
        f"    job = Job(writes_later, {str(tmp_path / 'done')!r}, outlives=True)\n"
        "    while not job.look().of:\n        time.sleep(0.05)\n    os.kill(os.getpid(), 9)\n"
    )
    script = tmp_path / "server.py"
    script.write_text(server)
    here = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, script], env={**os.environ, "PYTHONPATH": f"{here / 'src'}:{here}"}, check=False
    )
    assert done.returncode == -9
    for _ in range(600):
        if (tmp_path / "done").exists():
            return
        time.sleep(0.05)
    raise AssertionError("the job ended with its server")
