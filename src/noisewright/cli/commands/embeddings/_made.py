"""Text about an embedding that was just made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noisewright.cli.shared.output import emit, facts, heading

if TYPE_CHECKING:
    from noisewright.text.embeddings.importing import Imported

__all__ = ["report"]


def report(made: Imported, path: str, as_json: bool) -> None:
    """Report the place of the file, its content, and the effect of rounding."""
    embedding, rounding = made.embedding, made.rounding
    data: dict[str, Any] = {
        "path": path,
        "name": embedding.name,
        "from": made.format,
        "words": embedding.size,
        "dimension": embedding.dimension,
        "step": embedding.step,
        "sha256": embedding.resource.sha256,
        "licence": embedding.licence,
        "source": embedding.source,
        "rounding": {"largest": rounding.largest, "median": rounding.median, "median_norm": rounding.typical_norm},
        "repeated_vectors": rounding.repeated,
    }
    share = rounding.median / rounding.typical_norm if rounding.typical_norm else 0.0
    rows = [
        ("words", f"{embedding.size:,} in {embedding.dimension} dimensions"),
        ("licence", embedding.licence or "not stated (--licence states it)"),
        ("from", embedding.source or made.format),
        (
            "rounding",
            f"moved vectors by {rounding.median:.3g} (median) and {rounding.largest:.3g} (at most): {share:.2%} of a norm",
        ),
        ("sha256", embedding.resource.sha256),
    ]
    if rounding.repeated:
        rows.append(("note", f"{rounding.repeated} words have the vector of another word: nothing tells them apart"))
    emit(data, lambda: [heading(path, "written"), facts(rows)], as_json)
