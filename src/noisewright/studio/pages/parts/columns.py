"""The fields of a release: the known facts about every column without looking at the data, and who gets how much of the
budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nicegui import ui

from noisewright.claims.phrases import OPEN
from noisewright.core.errors import NoisewrightError
from noisewright.core.exact import fraction_or_none, upward
from noisewright.studio.answers.releases.policies import (
    KEPT,
    Column,
    Field,
    Form,
    fields_of,
    mechanisms_for,
    rebalanced,
    total_of,
)
from noisewright.studio.look import words

__all__ = ["ColumnFields", "Trading"]

OUT = "left out"
AS_IT_IS = f"released as it is, {OPEN}"
PUBLIC = "public knowledge"
CHOICES = {
    "refuse": "refuse the whole release",
    "clamp": "move it to the nearest end",
    "keep": "leave it missing, for all to see",
}


class ColumnFields:
    """A box for each column of the form that ``held`` gives; ``changed`` gets it as typed now, and whether a budget is new."""

    def __init__(self, held: Callable[[], Form], changed: Callable[[Form, bool], None]) -> None:
        self.held, self.changed = held, changed
        self.notes: dict[tuple[str, ...], ui.html] = {}
        with ui.element("div").classes("nw-grid"):
            for column in held().columns:
                self._box(column)

    def _box(self, column: Column) -> None:
        with ui.element("div").classes("nw-box").props('role="group"') as box:
            box.props["aria-label"] = f"column {column.title}"
            ui.html(f"<h3>{words.text(column.title)}</h3>{words.note(column.words)}", sanitize=False)
            options = {"": OUT, **{name: name for name in mechanisms_for(column.kind)}}
            options |= {KEPT: AS_IT_IS} if len(column.names) == 1 else {}
            pick = ui.select(options, value=column.mechanism, label="what happens to it").props("outlined dense")
            inner = ui.element("div").classes("nw-fields")
        pick.on_value_change(lambda e: self._choose(column.names, e.value, inner))
        self._fill(column.names, inner)

    def warn(self, told: Callable[[Column], str]) -> None:
        """Show next to the range of each column what ``told`` says of it."""
        for names, note in self.notes.items():
            text = told(self._column(names))
            note.content = words.warning(text) if text else ""

    def _column(self, names: tuple[str, ...]) -> Column:
        return next(column for column in self.held().columns if column.names == names)

    def _fill(self, names: tuple[str, ...], inner: ui.element) -> None:
        inner.clear()
        self.notes.pop(names, None)
        column = self._column(names)
        with inner:
            for field in fields_of(column.kind, column.mechanism):
                if field.key != "epsilon":
                    self._field(column, field)
                if field.key == "high":
                    self.notes[names] = ui.html("", sanitize=False).props('role="status"')

    def _field(self, column: Column, field: Field) -> None:
        names, value = column.names, column.value(field.key)
        if field.choices:
            options = {choice: CHOICES.get(choice, choice) for choice in field.choices}
            pick = ui.select(options, value=value or field.choices[0], label=field.label).props("outlined dense")
            pick.on_value_change(lambda e: self._type(names, field.key, e.value))
            return
        hint = "; ".join(filter(None, (PUBLIC if field.public else "", field.hint)))
        entry = ui.input(field.label, value=value).props("outlined dense debounce=300 stack-label")
        entry.props["hint"] = hint
        entry.on_value_change(lambda e: self._type(names, field.key, e.value or ""))

    def _choose(self, names: tuple[str, ...], mechanism: str, inner: ui.element) -> None:
        form, column = self.held(), self._column(names)
        epsilon = column.value("epsilon") or next((c.value("epsilon") for c in form.columns if c.protected), "1")
        self.changed(form.having(replace(column, mechanism=mechanism).having(epsilon=epsilon)), True)
        self._fill(names, inner)

    def _type(self, names: tuple[str, ...], key: str, text: str) -> None:
        self.changed(self.held().having(self._column(names).having(**{key: text})), False)


class Trading:
    """A slider for the epsilon of each protected column; the others give way, so that the total stays."""

    def __init__(self, held: Callable[[], Form], changed: Callable[[Form], None]) -> None:
        self.held, self.changed, self.fixed = held, changed, True
        switch = ui.switch("keep the total: what one column gets, the others give", value=True)
        switch.on_value_change(lambda e: self._keep(bool(e.value)))
        self.total = ui.html("", sanitize=False)
        self.rows = ui.element("div").classes("nw-grid")

    def show(self) -> None:
        """Show the columns that have a part of the budget now."""
        self.numbers: list[ui.input] = []
        self.sliders: list[ui.slider] = []
        self._told = False
        self.rows.clear()
        most = float(total_of(self._shares()) or 3)
        with self.rows:
            for place, column in enumerate(self._parts()):
                self._row(place, column, most)
        self._sum()

    def _parts(self) -> list[Column]:
        return [column for column in self.held().columns if column.protected]

    def _shares(self) -> list[str]:
        return [column.value("epsilon") for column in self._parts()]

    def _row(self, place: int, column: Column, most: float) -> None:
        with ui.element("div").classes("nw-box"):
            number = ui.input(f"epsilon of {column.title}", value=column.value("epsilon"))
            number.props("outlined dense debounce=300")
            slider = ui.slider(min=0.01, max=max(most, 0.02), step=0.01, value=_position(column.value("epsilon"), most))
            slider.props["aria-label"] = f"epsilon of {column.title}"
        number.on_value_change(lambda e: self._type(place, e.value or ""))
        slider.on("update:model-value", lambda e: self._slide(place, float(e.args)), throttle=0.1)
        slider.on(
            "change", lambda e: self._slide(place, float(e.args))
        )  # where the hand came to rest, whatever was skipped
        self.numbers.append(number)
        self.sliders.append(slider)

    def _keep(self, fixed: bool) -> None:
        self.fixed = fixed

    def _slide(self, place: int, position: float) -> None:
        wanted = f"{position:.2f}"
        try:
            shares = rebalanced(self._shares(), place, wanted) if self.fixed else self._shares()
        except NoisewrightError as problem:
            self.total.content = words.alarm(str(problem))
            return
        if not self.fixed:
            shares[place] = wanted
        self._set(shares, but=place)

    def _type(self, place: int, text: str) -> None:
        if self._told or text == self._shares()[place]:
            return
        shares = self._shares()
        shares[place] = text
        self._set(shares)

    def _set(self, shares: list[str], but: int = -1) -> None:
        """Show and report epsilons; the slider that is being moved is left to the person's hand."""
        self._told, form = True, self.held()
        for place, (column, text) in enumerate(zip(self._parts(), shares, strict=True)):
            form = form.having(column.having(epsilon=text))
            self.numbers[place].value = text
            if place != but:
                self.sliders[place].value = _position(text, self.sliders[place]._props["max"])
        self._told = False
        self.changed(form)
        self._sum()

    def _sum(self) -> None:
        found = total_of(self._shares())
        self.total.content = words.note(
            "Every epsilon must be a number." if found is None else f"All columns together: epsilon {upward(found)}."
        )


def _position(text: str, most: float) -> float:
    value = fraction_or_none(text)
    return 0.01 if value is None else min(max(float(value), 0.01), most)
