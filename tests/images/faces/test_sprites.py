"""The made-up faces that come with the package: what the sheet holds, and that people can be told apart by it."""

from __future__ import annotations

import hashlib

import numpy as np

from noisewright.images import Recogniser, chunks_of, sprite_faces
from noisewright.images.faces.public_faces import EXPRESSIONS, PEOPLE, SHEET


def test_the_sheet_is_small_holds_pixels_alone_and_says_where_it_is_from() -> None:
    content = SHEET.read_bytes()
    assert len(content) <= 2_000_000
    assert chunks_of(content) == ["IHDR", "IDAT", "IEND"]
    notice = SHEET.with_name("NOTICE").read_text(encoding="utf-8")
    for word in ("sprites.png", "facesjs 5.0.3", "Apache License", "make_sprite_faces.py"):
        assert word in notice


def test_its_pixels_are_those_that_numbers_in_the_documentation_were_computed_from() -> None:
    assert hashlib.sha256(sprite_faces().pictures.tobytes()).hexdigest()[:16] == "3da968d886661217"


def test_every_person_has_every_expression_and_an_expression_changes_the_mouth_alone() -> None:
    faces = sprite_faces()
    assert len(np.unique(faces.pictures, axis=0)) == len(faces.pictures) == PEOPLE * len(EXPRESSIONS)
    for person in range(PEOPLE):
        own = faces.of([person])
        assert own.expressions.tolist() == list(EXPRESSIONS)
        assert set(own.genders.tolist()) == {("female", "male")[person % 2]}
        changed = (own.pictures != own.pictures[0]).any((0, 3))
        rows, columns = np.nonzero(changed)
        assert rows.min() >= 33
        assert rows.max() <= 38
        assert 19 <= columns.min() <= columns.max() <= 28


def test_people_are_told_apart_by_other_expressions_and_genders_by_other_people() -> None:
    faces = sprite_faces()
    neutral = faces.expressions == "neutral"
    recogniser = Recogniser().fit(faces.pictures[~neutral], faces.people[~neutral])
    assert (recogniser.predict(faces.pictures[neutral]) == faces.people[neutral]).mean() == 1
    public, others = faces.of(range(68)), faces.of(range(68, PEOPLE))
    genders = Recogniser().fit(public.pictures, public.genders)
    assert (genders.predict(others.pictures) == others.genders).mean() > 0.9
