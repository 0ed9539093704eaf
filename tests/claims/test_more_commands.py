"""Claims of commands about pictures, videos, texts, codes and ledgers are renderings of their records too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.claims.test_every_claim import TABLE, flat, of_mechanism, of_release, policies, printed, remains, strings

import noisewright as nw
from noisewright.certificates.certificate import guarantee_of, prove
from noisewright.certificates.checker import checker_release
from noisewright.claims import phrases, readings, totals
from noisewright.claims.figures import upward
from noisewright.cli.arguments import word_options
from noisewright.images import FaceMethod, PixelMethod, Video, private_faces
from noisewright.images.pipeline.methods import promise_of_each
from noisewright.images.pipeline.video import new_video
from noisewright.matching.scheme import Scheme
from noisewright.matching.service import Client
from noisewright.numerics.exact import as_fraction
from noisewright.text import private_documents, shipped, write_embedding

SIDE = 64
BOXES = {"one.png": [[4, 4, 12, 12], [30, 30, 12, 12]], "two.png": [[4, 4, 12, 12]], "three.png": []}
FILM = {"1-3": [[10, 10, 20, 20]], "4": [], "5-8": [[14, 10, 20, 20]]}
PICTURES: dict[str, tuple[str, ...]] = {
    "regions": ("in/one.png", "--region", "0,0,16,16", "--region", "32,32,16,16", "--epsilon", "30", "--block", "8"),
    "mask": (
        "in/one.png",
        "--mask",
        "mask.png",
        "--pixels",
        "9",
        "--epsilon",
        "5",
        "--block",
        "4",
        "--method",
        "laplace",
    ),
    "face": ("in/one.png", "--method", "faces", "--epsilon", "60", "--resize", "--draw-unlike"),
    "faces in regions": (
        *("in/one.png", "--method", "faces", "--region", "0,0,24,24", "--region", "30,30,24,24"),
        *("--epsilon", "121/3", "--draw-unlike"),
    ),
    "places": ("in", "--boxes", "boxes.json", "--epsilon", "10", "--method", "exponential", "--block", "8"),
    "faces in places": ("in", "--boxes", "boxes.json", "--epsilon", "40", "--method", "faces", "--draw-unlike"),
    "nothing": ("in/three.png", "--boxes", "boxes.json", "--epsilon", "10", "--method", "laplace"),
    "sizes": ("in", "--epsilon", "100", "--method", "laplace", "--block", "8", "--keep-names"),
}
VIDEOS: dict[str, tuple[str, ...]] = {
    "once": ("--epsilon", "100", "--method", "laplace", "--block", "8"),
    "every": ("--epsilon", "1/3", "--method", "laplace", "--block", "8", "--draw", "every"),
    "faces": ("--epsilon", "50", "--method", "faces", "--draw-unlike"),
}
TEXTS: dict[str, tuple[str, ...]] = {
    "sized": ("--epsilon", "3", "--size", "6"),
    "ordered": ("--epsilon", "1/3", "--keep-order", "--keep-names", "--unknown", "keep"),
    "laplace": ("--epsilon", "5", "--words", "laplace"),
}


def noise(height: int, width: int, seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, 255, (height, width, 3), np.uint8)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "4000")
    Path("in").mkdir()
    for name, (height, width) in {"one": (SIDE, SIDE), "two": (SIDE, 48), "three": (SIDE, SIDE)}.items():
        Image.fromarray(noise(height, width, len(name))).save(f"in/{name}.png")
    mask = np.zeros((SIDE, SIDE), np.uint8)
    mask[8:20, 8:20] = 255
    Image.fromarray(mask).save("mask.png")
    Path("boxes.json").write_text(json.dumps(BOXES))
    return tmp_path


def shown_by(*command: str, pages: tuple[str, ...] = (), clear: Callable[[], None] = lambda: None) -> dict[str, str]:
    """Return the text that a command prints for people, the pages that it writes, and the texts of its JSON."""
    found = {"page": flat(printed(*command))}
    found |= {name: flat(Path(name).read_text(encoding="utf-8")) for name in pages}
    clear()
    output = printed(*command, "--json")
    assert output.startswith("{"), output
    return found | {"json": " | ".join(strings(json.loads(output)))}


def of_files(*patterns: str) -> set[str]:
    """All renderings of the certificates that a command wrote."""
    found: set[str] = set()
    for path in [one for pattern in patterns for one in Path().glob(pattern)]:
        document = json.loads(path.read_text())
        claim, problem = prove(document)
        assert claim is not None, (path, problem)
        found |= of_mechanism(dict(claim.record), document) | of_draws(dict(claim.record))
    return found


def of_draws(record: dict[str, Any]) -> set[str]:
    """Return the sentences about several draws in one picture: without conditions, and at several distances."""
    secret = record.get("secret", {})
    found = {phrases.line({**record, "conditions": []})}
    for one in record["conditions"]:
        found |= set(phrases.measured_parts(one)) if one["code"] == "measured" else set()
    whole = guarantee_of({**record, "conditions": []})
    found |= {whole.in_words(many) for many in {1, secret.get("draws", 1), 9}} | {whole.reading(), str(whole)}
    return found


def of_each(*command: str) -> set[str]:
    """Return the sentences about one place, if several are drawn for epsilon each."""
    epsilon, found = as_fraction(command[command.index("--epsilon") + 1]), set[str]()
    if "faces" in command:
        made: Any = private_faces(epsilon=epsilon, unlike="draw")
        found |= set(phrases.measured_parts(made.measured))
    else:
        made = PixelMethod("exponential", epsilon, {"block": 8}).mechanisms(16, 16, 3)[0]
    part: Any = "region" if "--region" in command else "place"
    for many in (1, 2):
        promised = promise_of_each(made, many, part)
        assert promised.each is not None
        found |= {str(promised.each), readings.of_each_place(many, promised.each.record())}
        found |= {promised.guarantee.reading(), str(promised.guarantee), promised.alone}
    return found


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_say_what_their_certificates_have(here: Path, name: str) -> None:
    command = ("images", "obfuscate", *PICTURES[name])
    single = "in" not in command
    target = "out.png" if single else "out"
    sheet = () if name in ("nothing", "face", "faces in regions") else ("sheet.html",)
    words = (*command, "-o", target, *(("--sheet", "sheet.html") if sheet else ()))

    def clear() -> None:
        for path in [*Path().glob("out*"), *Path().glob("sheet.html")]:
            path.rename(f"before-{path.name}")

    shown = shown_by(*words, pages=sheet, clear=clear)
    known = of_files("out.certificate-*.json", "out/*.json") | {readings.NOTHING_HIDDEN}
    known |= {readings.not_hidden("three.png")} if name in ("nothing", "places", "faces in places") else set()
    known |= {phrases.OPEN} if name in ("nothing", "places", "faces in places") else set()
    if name in ("places", "faces in places", "faces in regions"):
        known |= of_each(*command)
    assert {kind: found for kind, text in shown.items() if (found := remains(text, known))} == {}
    assert name == "nothing" or any(one in shown["page"] for one in known if one.startswith("epsilon "))


@pytest.mark.parametrize("method", ["laplace", "faces"])
def test_a_preview_says_what_certificates_of_it_would_have(here: Path, method: str) -> None:
    more = ("--resize", "--draw-unlike") if method == "faces" else ("--block", "8")
    command = (
        "images",
        "preview",
        "in/one.png",
        "--epsilon",
        "100,121/3",
        "--method",
        method,
        "-o",
        "strip.png",
        *more,
    )
    shown = shown_by(*command, clear=Path("strip.png").unlink)
    known: set[str] = set()
    for word in ("100", "121/3"):
        epsilon = as_fraction(word)
        made: Any = (
            FaceMethod(private_faces(epsilon=epsilon, fit="resize", unlike="draw"))
            if method == "faces"
            else PixelMethod("laplace", epsilon, {"block": 8})
        )
        document = made.certificate(SIDE, SIDE, 3).document
        claim, _ = prove(document)
        assert claim is not None
        known |= of_mechanism(dict(claim.record), document) | of_draws(dict(claim.record))
    assert {kind: found for kind, text in shown.items() if (found := remains(text, known))} == {}


@pytest.mark.parametrize("name", VIDEOS)
def test_a_video_says_what_its_certificate_has(here: Path, name: str) -> None:
    with new_video(here / "film.avi", Video(here / "film.avi", 96, SIDE, 10)) as write:
        for number in range(8):
            write(np.roll(noise(SIDE, 96, 3), number, axis=1))
    Path("boxes.json").write_text(json.dumps(FILM))
    command = ("images", "video", "film.avi", "--boxes", "boxes.json", "-o", "out.avi", *VIDEOS[name])

    def clear() -> None:
        for path in Path().glob("out*"):
            path.rename(f"before-{path.name}")

    shown = shown_by(*command, clear=clear)
    known = of_files("out*.json")
    epsilon = as_fraction(VIDEOS[name][1])
    document = json.loads(next(Path().glob("out*.json")).read_text())
    draws = document["claim"]["secret"]["draws"]
    for longest in range(1, draws + 1):
        known.add(readings.one_person(longest, longest * epsilon, draws * epsilon))
    assert document["claim"]["secret"]["touching"] == draws
    assert {kind: found for kind, text in shown.items() if (found := remains(text, known))} == {}
    assert any(one in shown["page"] for one in known)


@pytest.fixture
def few(here: Path) -> str:
    """The words of two notes as an embedding, and the notes."""
    Path("notes").mkdir()
    notes = ("The patient reports cough and fever.", "Back pain after work; advised exercise, heat and rest.")
    for number, text in enumerate(notes):
        Path(f"notes/{number}.txt").write_text(text, encoding="utf-8")
    small = shipped()
    words = sorted({word.strip(".,;") for text in notes for word in text.lower().split()})
    rows = np.array([row for row in small.rows(words) if row >= 0])
    write_embedding(here / "few.nwe", small.words(rows), small.vectors(rows), licence="CC0-1.0")
    return "few.nwe"


@pytest.mark.parametrize("name", TEXTS)
def test_texts_say_what_their_certificate_has(few: str, name: str) -> None:
    command = ("text", "obfuscate", "notes", "-o", "out", "--embedding", few, *TEXTS[name], "--preview", "page.html")

    def clear() -> None:
        Path("out").rename("before")
        Path("page.html").unlink()

    shown = shown_by(*command, pages=("page.html",), clear=clear)
    document = json.loads(Path("out/certificate.json").read_text())
    known = of_files("out/certificate.json") if document["numerics"] == "exact" else set()
    if not known:  # drawn in floats: nothing is proved, and the claim is that of the mechanism
        stated = private_documents(word_options(few, "en")[0], epsilon=5, words="laplace").guarantee
        known = {stated.in_words(), stated.reading(), str(stated)}
    assert {kind: found for kind, text in shown.items() if (found := remains(text, known))} == {}


def test_codes_say_what_their_scheme_has(here: Path) -> None:
    np.save("people.npy", np.random.default_rng(0).standard_normal((30, 8)))
    printed("match", "seed", "-o", "scheme.json", "--dimension", "8", "--epsilon", "1/3", "--bits", "16")
    scheme = Scheme.from_json(Path("scheme.json").read_text())
    known = {Client(scheme).promise, readings.of_each_bit(upward(scheme.epsilon, 4)), readings.seed_note("0.05", 0.01)}
    encode = ("match", "encode", "people.npy", "--public", "scheme.json", "-o", "codes.nwc")
    shown = {f"encode {kind}": text for kind, text in shown_by(*encode, clear=Path("codes.nwc").unlink).items()}
    search = ("match", "search", "codes.nwc", "--public", "scheme.json", "-k", "2")
    shown |= {f"search {kind}": text for kind, text in shown_by(*search).items()}
    tried = ("match", "evaluate", "people.npy", "--public", "scheme.json", "-k", "2")
    shown |= {f"evaluate {kind}": text for kind, text in shown_by(*tried).items()}
    assert {kind: found for kind, text in shown.items() if (found := remains(text, known))} == {}


@pytest.mark.parametrize("place", range(0, 50, 7))
def test_a_ledger_says_what_the_certificate_of_its_release_has(here: Path, place: int) -> None:
    policy = list(policies())[place]
    nw.release(policy, TABLE, output="out", ledger="ledger.sqlite")
    document = json.loads(Path("out/certificate.json").read_text())
    record = checker_release.examine(document)
    known = of_release(record, document)
    known |= {f"{totals.GLOSSARY['Epsilon']} {totals.ADD_UP}"}
    kept = ("kind", "type", "distance", "unit", "metric")  # a ledger does not record what undeclared values count as
    recorded = [({key: one[key] for key in kept if key in one}, names) for one, names in phrases.ways_of(record)]
    known |= {phrases.between(record["neighbours"], recorded, phrases.same_in(record))}
    known |= {phrases.between(record["neighbours"], recorded)}
    shown = shown_by("ledger", "show", "ledger.sqlite")
    printed("ledger", "export", "ledger.sqlite", "-o", "ledger.csv")
    assert {kind: found for kind, text in shown.items() if (found := remains(text, known))} == {}
    assert phrases.neighbours(record["neighbours"]) in shown["page"]
    for part in record["parts"]:
        assert phrases.protected_by(part, record["neighbours"]) in shown["json"]
    for name in record["kept"]:
        assert f"{name}: released as it is" in shown["page"]
