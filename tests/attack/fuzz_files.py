"""Embeddings, profiles, models and received folders with bytes changed, given to the commands that read them."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import random
import shutil
import struct
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from noisewright.cli import run
from tests.attack.fuzz import spoken
from tests.attack.fuzz_data import mutated

__all__ = ["embedding", "folder", "model", "profile"]

WORDS = ["tea", "coffee", "ship", "boat"]
VECTORS = np.array([[0.5, 1, -2], [0.25, 1, -2], [4, 3, 2], [4, 3, 1]], np.float32)
NUMBERS = b'0 -1 1 3 4 5 99999999999999999999 4294967296 1e999 nan True [] {} ""'.split()
SIGNS = [*(bytes([sign]) for sign in b"()[]{}'\",: \n\0\x80"), b"O", b"|V8", b"<f8", b"<U9", b">i2"]


def said(words: list[str]) -> str:
    """Run a command, hold what it says to the rules, and return what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    assert code in (0, 1, 2), f"{words}: {code}"
    whole = out.getvalue() + err.getvalue()
    for word in ("Traceback", "went wrong inside", "more memory than there is"):
        assert word not in whole, f"{words} said {whole[:400]!r}"
    assert all(c.isprintable() or c == "\n" for c in whole), f"{words} said {whole[:400]!r}"
    if code == 2 and "--json" not in words:
        spoken(err.getvalue())
        assert not out.getvalue(), f"{words} said {whole[:400]!r}"
    return out.getvalue()


def changed(content: bytes, chance: random.Random) -> bytes:
    """A file with bytes, numbers or signs changed, most of them near its beginning, where lengths and shapes are."""
    if chance.random() < 0.4:
        return mutated(content, chance)
    for _ in range(chance.choice([1, 1, 2, 4])):
        place = chance.randrange(min(len(content), chance.choice([40, 200, 2000])) or 1)
        if chance.random() < 0.5:
            digits = [at for at in range(len(content[:2000])) if content[at : at + 1].isdigit()]
            place = chance.choice(digits or [place])
            new = chance.choice(NUMBERS)
        else:
            new = chance.choice(SIGNS)
        content = content[:place] + new + content[place + chance.choice([0, 1, 1, len(new)]) :]
    return content


def _npy(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version)
    return file.getvalue()


@cache
def _embeddings() -> dict[str, bytes]:
    rows = "".join(f"{w} {' '.join(map(str, v))}\n" for w, v in zip(WORDS, VECTORS.tolist(), strict=True)).encode()
    binary = b"".join(w.encode() + b" " + v.astype("<f4").tobytes() for w, v in zip(WORDS, VECTORS, strict=True))
    wink = {"precision": 8, "size": 4, "dimensions": 3, "words": WORDS}
    wink["vectors"] = {w: [*v, 1.5, i] for i, (w, v) in enumerate(zip(WORDS, VECTORS.tolist(), strict=True))}
    with tempfile.TemporaryDirectory() as place:
        Path(place, "a.vec").write_bytes(b"4 3\n" + rows)
        said(["embeddings", "import", f"{place}/a.vec", "-o", f"{place}/e.nwe"])
        own = Path(place, "e.nwe").read_bytes()
    return {
        "e.nwe": own, "a.vec": b"4 3\n" + rows, "a.bin": b"4 3\n" + binary, "a.glove": rows, "a.npy": _npy(VECTORS),
        "b.npy": _npy(VECTORS, (2, 0)), "a.json": json.dumps(wink).encode(), "a.gz": gzip.compress(rows, mtime=0),
    }  # fmt: skip


def embedding(chance: random.Random, place: Path) -> None:
    """An embedding, imported or used."""
    name = chance.choice(sorted(_embeddings()))
    (place / name).write_bytes(changed(_embeddings()[name], chance))
    listed = "\n".join(WORDS).encode()
    (place / "words.txt").write_bytes(changed(listed, chance) if chance.random() < 0.2 else listed)
    if name == "e.nwe":
        said(["embeddings", "info", str(place / name)])
        (place / "t.txt").write_text("tea and coffee")
        words = ["--epsilon", "2", "--size", "3", "--embedding", str(place / name)]
        said(["text", "obfuscate", str(place / "t.txt"), "-o", str(place / "out"), *words])
    else:
        words = ["--words", str(place / "words.txt")] if name.endswith(".npy") else []
        said(["embeddings", "import", str(place / name), "-o", str(place / "made.nwe"), *words])
        if (place / "made.nwe").exists():
            said(["embeddings", "info", str(place / "made.nwe")])


@cache
def _profiles() -> dict[str, bytes]:
    from scipy import sparse

    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for kind in ("csr", "csc", "coo"):
            sparse.save_npz(place / f"{kind}.npz", sparse.csr_array(np.eye(4)).asformat(kind), compressed=kind != "csc")
        table = pa.table({"name": ["a", "b", "c", "d"], **{f"c{i}": np.eye(4)[i] for i in range(4)}})
        pq.write_table(table, place / "p.parquet")
        pq.write_table(pa.table({"name": ["a", "b"], "p": [[1.0, 2, 3, 4], [0.0, 1, 0, 1]]}), place / "l.parquet")
        (place / "p.csv").write_text("name,a,b,c,d\nann,1,2,3,4\nbob,4,3,2,1\n")
        (place / "p.npy").write_bytes(_npy(np.eye(4)))
        (place / "f.npy").write_bytes(_npy(np.asfortranarray(np.arange(20.0).reshape(5, 4)), (2, 0)))
        said(["match", "seed", "-o", f"{place}/scheme.json", "--dimension", "4", "--bits", "16", "--epsilon", "4"])
        said(["match", "encode", f"{place}/p.csv", "--public", f"{place}/scheme.json", "-o", f"{place}/codes.nwc"])
        return {path.name: path.read_bytes() for path in place.iterdir()}


def profile(chance: random.Random, place: Path) -> None:
    """Profiles, codes or a public scheme, encoded or searched."""
    known = _profiles()
    name = chance.choice(sorted(known))
    for one in {"scheme.json", "p.npy", "codes.nwc", name}:
        (place / one).write_bytes(known[one])
    content = known[name]
    if name.endswith(".npz") and chance.random() < 0.6:
        content = _one_member_changed(content, chance)
    else:
        content = changed(content, chance)
    (place / name).write_bytes(content)
    public = ["--public", str(place / "scheme.json")]
    if name == "codes.nwc":
        said(["match", "search", str(place / name), str(place / name), *public])
    else:
        given = "p.npy" if name == "scheme.json" else name
        said(["match", "encode", str(place / given), *public, "-o", str(place / "made.nwc")])


def _one_member_changed(content: bytes, chance: random.Random) -> bytes:
    """An archive whose checksums are right, and one file in it is not."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        chosen = chance.choice(old.namelist())
        for name in old.namelist():
            new.writestr(name, changed(old.read(name), chance) if name == chosen else old.read(name))
    return out.getvalue()


@cache
def _models() -> dict[str, bytes]:
    """The models of faces and of learned privatisers, and the channels beside them."""
    from noisewright.io.model_files import write_model

    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        said(["images", "train", "--model", "eigenfaces", "--size", "8", "-o", f"{place}/faces.nwm"])
        write_model(place / "other.nwm", "other", {"made of": "nothing"}, {"factor": np.array([2.0])})
        return {path.name: path.read_bytes() for path in place.iterdir()}


def model(chance: random.Random, place: Path) -> None:
    """A model of faces, used; most often its digest is right, so that what is in it is looked at."""
    from PIL import Image

    known = _models()
    name = chance.choice(["faces.nwm", "faces.nwm", "faces.nwm", "other.nwm"])
    content = known[name]
    match chance.randrange(4):
        case 0:
            content = changed(content, chance)
        case 1:
            content = _another_header(content, chance)
        case 2:
            content = _another_header(_other_numbers(content, chance), chance)
        case _:
            content = _other_numbers(content, chance)
    if chance.random() < 0.9:
        content = content[:-32] + hashlib.sha256(content[:-32]).digest()
    (place / name).write_bytes(content)
    Image.fromarray(np.zeros((40, 40, 3), np.uint8)).save(place / "a.png")
    words = ["--method", "faces", "--model", str(place / name), "--epsilon", "1"]
    said(["images", "obfuscate", str(place / "a.png"), "-o", str(place / "out"), *words])


def _another_header(content: bytes, chance: random.Random) -> bytes:
    """A model with one value of its header of another kind, spelled as a model spells it."""
    length = int.from_bytes(content[8:16], "little")
    header = _reshaped(json.loads(content[16 : 16 + length]), chance)
    document = json.dumps(header, ensure_ascii=False, sort_keys=True).encode()
    start = content[:8] + len(document).to_bytes(8, "little") + document
    first = 16 + length + -(16 + length) % 64
    return start + bytes(-len(start) % 64) + content[first:]


def _other_numbers(content: bytes, chance: random.Random) -> bytes:
    """A model in which some numbers are none, infinite, huge, negative or zero."""
    first = 24 + int.from_bytes(content[8:16], "little")
    for _ in range(chance.choice([1, 2, 50])):
        place = chance.randrange(first, max(first + 1, len(content) - 40)) // 8 * 8
        new = struct.pack("<d", chance.choice([float("nan"), float("inf"), 1e300, -1.0, 0.0]))
        content = content[:place] + new + content[place + 8 :]
    return content


@cache
def _folder() -> str:
    import noisewright as nw

    place = tempfile.mkdtemp(prefix="fuzz-folder-")
    rows = 60
    table = pa.table({"age": list(range(rows)), "smoker": ["yes", "no"] * (rows // 2), "ward": ["a"] * rows})
    policy = {
        "dataset": "clinic",
        "budget": {"epsilon": 20},
        "columns": [
            {"name": "age", "mechanism": "geometric", "within": [0, 120], "protect": 10, "epsilon": 1},
            {"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1},
            {"name": "ward", "keep": True},
        ],
        "queries": [
            {"name": "all", "aggregate": "histogram", "column": "smoker", "values": ["yes", "no"], "epsilon": 1}
        ],
    }
    for form in ("parquet", "csv", "xlsx"):
        nw.release(policy, table, output=f"{place}/{form}", ledger=f"{place}/{form}.ledger", format=form)
    return place


def folder(chance: random.Random, place: Path) -> None:
    """A received folder with one file changed, missing or in the place of another, verified and estimated from."""
    form = chance.choice(["parquet", "csv", "xlsx"])
    there = place / "released"
    shutil.copytree(f"{_folder()}/{form}", there)
    files = sorted(path for path in there.rglob("*") if path.is_file())
    weights = [6 if path.suffix in (".json", ".lock") else 2 if path.name.startswith("data") else 1 for path in files]
    (victim,) = chance.choices(files, weights)
    match chance.randrange(8):
        case 0:
            victim.unlink()
        case 1:
            shutil.copy(chance.choice(files), place / "other")
            os.replace(place / "other", victim)
        case 2 | 3 | 4 if victim.suffix in (".json", ".lock"):
            victim.write_text(json.dumps(_reshaped(json.loads(victim.read_text()), chance)))
        case _:
            victim.write_bytes(changed(victim.read_bytes(), chance))
    if chance.random() < 0.5:
        _digests_put_right(there)
    proved = said(["verify", str(there), "--json"])
    estimated = said(["estimate", str(there), "--json"])
    if '"columns"' in estimated:
        assert '"proved": false' not in proved, "what is not proved was estimated from"


def _reshaped(document: object, chance: random.Random) -> object:
    """A document of JSON with one value of another kind."""
    values: list[object] = [None, True, 0, -1, 1.5, "", "x", [], {}, [[]], 10**30, "1/0", "9" * 400, [1, None]]
    if isinstance(document, (dict, list)) and document and chance.random() < 0.9:
        key = chance.choice(list(document) if isinstance(document, dict) else range(len(document)))  # type: ignore[arg-type]
        if isinstance(document, dict) and chance.random() < 0.05:
            return {name: value for name, value in document.items() if name != key}
        document[key] = _reshaped(document[key], chance)  # type: ignore[index]
        return document
    return chance.choice(values)


def _digests_put_right(there: Path) -> None:
    """Whoever changes a folder can compute its digests again."""
    from noisewright.certificates.checker import checker
    from noisewright.releases import lock as locks

    with contextlib.suppress(Exception):
        certificate = json.loads((there / "certificate.json").read_text())
        (there / "certificate.json").write_text(json.dumps({**certificate, "digest": checker.digest(certificate)}))
    with contextlib.suppress(Exception):
        document = json.loads((there / "policy.lock").read_text())
        for name in document["outputs"]:
            document["outputs"][name] = locks._digests(there / name)
        (there / "policy.lock").write_text(json.dumps({**document, "digest": locks._digest(document)}))
