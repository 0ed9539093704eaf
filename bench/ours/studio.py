"""People who move sliders in the studio at the same time: the real server, asked over its sockets as browsers ask it."""

from __future__ import annotations

import asyncio
import atexit
import json
import re
import tempfile
import time
import uuid
from pathlib import Path
from statistics import median
from typing import Any

from tools.serving import running

from bench.work import Work

__all__ = ["allowed", "sliding"]

LOOK = 0.5
"""Seconds for which a person looks at an answer before the slider is moved again."""
SLIDER = "epsilon, from more to less private"
LEFT = -1.0
"""Where the slider begins: an epsilon of a tenth."""


def sliding(users: int, secrets: int, moves: int) -> Work:
    """``users`` on the page of a geometric mechanism over so many secrets; what counts is the median time to an answer."""
    serving = running(Path(tempfile.mkdtemp(prefix="studio-")))
    address, _ = serving.__enter__()
    atexit.register(serving.__exit__, None, None, None)
    path = f"/design/number?mechanism=geometric&epsilon=1&within=0:{secrets - 1}"

    def run() -> list[float]:
        return asyncio.run(_all(address, path, users, moves))

    return Work(run, 1, lambda waited: float(len(waited)), median)


def allowed(seconds: float, answers: int) -> Work:
    """An answer in this time, to hold beside it."""
    return Work(lambda: seconds, 1, lambda _: float(answers), float)


async def _all(address: str, path: str, users: int, moves: int) -> list[float]:
    waited = await asyncio.gather(*(_user(address, path, number / users, moves) for number in range(users)))
    return [seconds for one in waited for seconds in one]


async def _user(address: str, path: str, start: float, moves: int) -> list[float]:
    """One person: opens the page, moves the slider, waits until the page shows that epsilon, looks, and moves on."""
    import aiohttp
    import socketio

    async with aiohttp.ClientSession() as session, session.get(address + path) as page:
        text = await page.text()
    client, slider, listeners = _slider(text)
    shown: asyncio.Queue[str] = asyncio.Queue()
    browser = socketio.AsyncClient(reconnection=False)
    browser.on("update", lambda data: shown.put_nowait(json.dumps(data)))
    query = (
        f"client_id={client}&next_message_id=0&implicit_handshake=true&document_id={uuid.uuid4()}&tab_id={uuid.uuid4()}"
    )
    await browser.connect(f"{address}?{query}", socketio_path="/_nicegui_ws/socket.io", transports=["websocket"])
    found = []
    await asyncio.sleep(1 + LOOK * start)  # the first answer is that of the page
    for move in range(moves):
        position = LEFT + 0.02 * ((7 * move + round(40 * start)) % 90)
        asked = {"id": slider, "client_id": client, "args": [json.dumps(position)]}
        began = time.perf_counter()
        for listener in listeners:
            await browser.emit("event", {**asked, "listener_id": listener})
        while f"--epsilon {10**position:.2g} " not in await asyncio.wait_for(shown.get(), 30):
            pass
        found.append(time.perf_counter() - began)
        await asyncio.sleep(LOOK)
    await browser.disconnect()
    return found


def _slider(page: str) -> tuple[str, int, list[str]]:
    """The name of an open page, its slider, and who is told where that is moved to."""
    client = re.search(r"'client_id': '([0-9a-f-]+)'", page)
    held = re.search(r"parseElements\(String\.raw`(.*?)`\)", page, re.DOTALL)
    if client is None or held is None:
        raise RuntimeError("the page is not laid out as it was")
    elements: dict[str, Any] = json.loads(held[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    number, slider = next((n, e) for n, e in elements.items() if e.get("props", {}).get("aria-label") == SLIDER)
    return client[1], int(number), [e["listener_id"] for e in slider["events"] if e["type"] == "update:modelValue"]
