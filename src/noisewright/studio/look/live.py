"""Answers that follow typed text: the latest question is answered, those that were overtaken are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from nicegui import background_tasks, run, ui

from noisewright.cli.app import sentence

__all__ = ["Live", "beside"]

T = TypeVar("T")


class Live(Generic[T]):
    """``ask(compute)`` runs ``compute`` next to the page and shows its answer, or the sentence in which it was refused."""

    def __init__(self, show: Callable[[T], None], refuse: Callable[[str], None]) -> None:
        self._show, self._refuse, self._client = show, refuse, ui.context.client
        self._next: Callable[[], T] | None = None
        self._busy = False

    def ask(self, compute: Callable[[], T]) -> None:
        """Answer this as soon as the current computation is done."""
        self._next = compute
        if not self._busy:
            self._busy = True
            background_tasks.create(self._work(), name="studio answer")

    async def _work(self) -> None:
        try:
            while self._next is not None and not self._client.is_deleted:
                compute, self._next = self._next, None
                try:
                    answer = await run.io_bound(compute)
                    if answer is not None and not self._client.is_deleted:
                        with self._client:
                            self._show(answer)
                except Exception as problem:  # what no person should see as a trace is said in a sentence
                    if not self._client.is_deleted:
                        with self._client:
                            self._refuse(sentence(problem))
        finally:
            self._busy = False


async def beside(refuse: Callable[[str], None], compute: Callable[..., T], *arguments: Any) -> T | None:
    """Return the result of ``compute``, run next to the page; None after the sentence in which it was refused."""
    try:
        return await run.io_bound(compute, *arguments)
    except Exception as problem:  # as above
        refuse(sentence(problem))
        return None
