"""``noisewright compare A B --join ORDER`` and ``--meet ORDER``: one mechanism above both, or below both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noisewright.claims.readings import told_apart
from noisewright.cli.shared.channels import load_thing
from noisewright.cli.shared.output import chance, emit, facts, heading, label, plural, printable, working
from noisewright.cli.shared.targets import target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.core.channels.channel import Channel

__all__ = ["bound_page"]

MOST_SHOWN = 8
"""Secrets and outputs of a channel that is shown whole."""
WHAT = {
    "join": "may replace both, and whatever else may do so may replace it",
    "meet": "both may replace it, and whatever else they both may replace, it may replace too",
}
AGAINST = {"max": "against every adversary, at worst", "privacy": "for every pair of secrets"}


def bound_page(
    first: str, second: str, *, join: str | None, meet: str | None, output: str | None, as_json: bool
) -> None:
    """Find the join or the meet of two channels in an order that has them, show it, and write it."""
    from noisewright.adversary.replacement.joins import max_join, max_meet
    from noisewright.adversary.replacement.privacy_lattice import privacy_join, privacy_meet
    from noisewright.core.choices import one_of
    from noisewright.core.errors import ParameterError
    from noisewright.files.channels import save

    kind, order = ("meet", str(meet)) if join is None else ("join", join)
    if order == "average":
        raise ParameterError(
            f"the average order has no {kind}s: two channels may have several bounds and no best one. Ask for max or privacy."
        )
    one_of(order, f"--{kind}", tuple(AGAINST))
    target = None if output is None else target_file(output, "a channel", (".csv", ".json", ".npz"))
    with working("looking for it"):
        things = load_thing(first), load_thing(second)
        if order == "max":
            channel = (max_join if kind == "join" else max_meet)(*things).channel
        else:
            channel = (privacy_join if kind == "join" else privacy_meet)(*things).channel()
    if target is not None:
        save(channel, target)
    losses = channel.distinguishability()
    data: dict[str, Any] = {
        "first": first,
        "second": second,
        "bound": kind,
        "order": order,
        "secrets": [str(secret) for secret in channel.inputs],
        "outputs": len(channel.outputs),
        "matrix": channel.matrix.tolist(),
        "losses": losses.tolist(),
        "file": None if target is None else str(target),
    }
    emit(data, lambda: _page(data, channel), as_json)


def _page(data: dict[str, Any], channel: Channel) -> list[RenderableType]:
    from rich.padding import Padding

    rows = [
        ("A, B", f"{data['first']}, {data['second']}"),
        ("It", WHAT[data["bound"]]),
        ("Order", f"{data['order']}: {AGAINST[data['order']]}"),
        ("Size", f"{plural(len(channel.inputs), 'secret')}, {plural(len(channel.outputs), 'output')}"),
        ("Largest loss", _largest(data["losses"])),
        ("Channel", f"written to {data['file']}" if data["file"] else "not written; -o FILE.csv writes it"),
    ]
    page: list[RenderableType] = [
        heading(data["bound"], f"of two mechanisms in the {data['order']} order"),
        facts((what, printable(text)) for what, text in rows),
    ]
    if max(channel.matrix.shape) <= MOST_SHOWN:
        page.append(Padding(_matrix(channel), (1, 0, 0, 2)))
    return page


def _largest(losses: list[list[float]]) -> str:
    from noisewright.cli.shared.output import round_up

    return told_apart(round_up(max(map(max, losses))))


def _matrix(channel: Channel) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for title in ("secret", *(f"output {k}" for k in range(len(channel.outputs)))):
        table.add_column(title, justify="left" if title == "secret" else "right")
    for secret, row in zip(channel.inputs, channel.matrix, strict=True):
        table.add_row(label(secret), *(chance(float(v)) for v in row))
    return table
