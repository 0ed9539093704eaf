"""Answers that follow what is typed: the latest question is answered, those that were overtaken are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from nicegui import background_tasks, run, ui

from noisewright.cli.app import sentence

__all__ = ["Live"]

T = TypeVar("T")


class Live(Generic[T]):
    """``ask(compute)`` runs ``compute`` beside the page and shows its answer, or the sentence in which it was refused."""

    def __init__(self, show: Callable[[T], None], refuse: Callable[[str], None]) -> None:
        self._show, self._refuse, self._client = show, refuse, ui.context.client
        self._next: Callable[[], T] | None = None
        self._busy = False

    def ask(self, compute: Callable[[], T]) -> None:
        """Answer this as soon as what is being computed is done."""
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
                except Exception as problem:  # what no person should see as a trace is said in a sentence
                    with self._client:
                        self._refuse(sentence(problem))
                    continue
                if answer is not None and not self._client.is_deleted:
                    with self._client:
                        self._show(answer)
        finally:
            self._busy = False
