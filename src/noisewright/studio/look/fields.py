"""Fields of forms. What is typed stays text, as at the command line, and the library reads it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from nicegui import ui

from noisewright.cli.shared.parameters import Option

__all__ = ["EPSILONS", "choice_field", "epsilon_field", "parameter_field"]

EPSILONS = (0.01, 10.0)
"""The ends of the slider; the text next to it takes any number."""

Changed = Callable[[str, str | None], None]


def parameter_field(parameter: Option, value: str | None, changed: Changed) -> None:
    """The field of one parameter: a slider for epsilon, a choice, a switch, or a line of text."""
    name, label = parameter.name, parameter.name.replace("_", " ") + (" *" if parameter.required else "")
    if name == "epsilon":
        epsilon_field(label, value or "1", lambda text: changed(name, text))
    elif parameter.flag:
        switch = ui.switch(label, value=value is not None)
        switch.on_value_change(lambda e: changed(name, "" if e.value else None))
    elif (
        "|" in parameter.shape
        and parameter.shape.replace("|", "").replace("-", "").isalnum()
        and parameter.shape.islower()
    ):
        known = parameter.shape.split("|")
        ui.select(
            known, label=label, value=value if value in known else None, clearable=not parameter.required
        ).on_value_change(lambda e: changed(name, e.value or None)).props("outlined dense")
    else:
        field = ui.input(label, value=value or "", placeholder=parameter.shape)
        field.props("outlined dense debounce=300")
        field.on_value_change(lambda e: changed(name, e.value or None))
    if parameter.help:
        ui.html(f'<p class="nw-note">{_escaped(parameter.help)}</p>', sanitize=False)


def choice_field(
    label: str, options: Sequence[str] | Mapping[str, str], value: str, changed: Callable[[str], None]
) -> ui.select:
    """One of a few; a value that a link brings and that is none of them is the first."""
    known = options if isinstance(options, Mapping) else {name: name for name in options}
    pick = ui.select(dict(known), label=label, value=value if value in known else next(iter(known)))
    pick.props("outlined dense").on_value_change(lambda e: changed(e.value))
    return pick


def epsilon_field(label: str, value: str, changed: Callable[[str], None], ends: tuple[float, float] = EPSILONS) -> None:
    """Epsilon: a slider in equal factors, and the number itself as it is typed, ``1/3`` say."""
    low, high = map(math.log10, ends)

    def slid(position: float) -> None:
        text = f"{10**position:.2g}"
        if text != number.value:
            number.value = text

    def typed(text: str) -> None:
        position = _position(text)
        if position is not None and abs(position - slider.value) > 0.005:
            slider.value = min(max(position, low), high)
        changed(text)

    number = ui.input(label, value=value).props("outlined dense debounce=200")
    slider = ui.slider(min=low, max=high, step=0.05, value=min(max(_position(value) or 0.0, low), high))
    slider.props('aria-label="epsilon, from more to less private" :marker-labels="false"')
    slider.on("update:model-value", lambda e: slid(float(e.args)), throttle=0.05)
    number.on_value_change(lambda e: typed(e.value or ""))


def _position(text: str) -> float | None:
    from noisewright.core.errors import NoisewrightError
    from noisewright.core.exact import positive_fraction

    try:
        return math.log10(positive_fraction(text, "epsilon"))
    except (NoisewrightError, ValueError, OverflowError):
        return None


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)
