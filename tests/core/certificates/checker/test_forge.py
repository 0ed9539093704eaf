"""What ``verify`` says is true: forgeries against an oracle, false claims by a hair, names, fields, and the loose files."""

from __future__ import annotations

import copy
import json
import math
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.attack.forge import forge, judged
from tests.attack.forge_honest import honest
from tests.attack.mutants import DEFECTS, planted
from tools.seal_checker import main as sealed

import noisewright as nw
from noisewright.certificates import certificate as claims
from noisewright.certificates.checker import checker, checker_noise, checker_release, checker_version1
from noisewright.certificates.checker.checker import NotProved, check
from noisewright.claims import phrases
from noisewright.cli import run
from noisewright.mechanisms.registry import registry
from noisewright.render import meaning

KEPT = Path(__file__).parents[3] / "fixtures" / "kept" / "certificates"
Document = dict[str, Any]
SLOW_DEFECTS = ("the order of words is not in the clear",)


def kept(name: str, change: Callable[[Document], Any] = lambda d: None) -> Document:
    document: Document = json.loads((KEPT / f"{name}.json").read_text())
    change(document)
    return {**document, "digest": checker.digest(document)}


def test_no_forgery_is_proved_and_false() -> None:
    """``python -m tests.attack forge`` does it at length."""
    found = forge(3000, seed=3)
    assert found.false == []
    kinds = {kind for kind, _ in found.count}
    assert kinds == {name.partition(",")[0] for name in honest()} | {"lock"}
    assert all(found.count[kind, "refused"] and found.count[kind, "true"] for kind in kinds)
    assert found.total("true") > 500
    assert found.total("refused") > 1500
    assert found.total("too large to tell") < 10


def test_the_honest_documents_are_proved_and_true() -> None:
    assert {name: outcome for name, one in honest().items() if (outcome := judged(one))[0] != "true"} == {}


@pytest.mark.parametrize("name", [name for name in DEFECTS if name not in SLOW_DEFECTS])
def test_a_defect_of_the_checker_is_found(name: str, tmp_path: Path) -> None:
    found = forge(2000, seed=1, tool=planted(name, tmp_path), first=True, kinds=DEFECTS[name][0])
    assert found.false, f"{sum(found.count.values())} forgeries did not find it"


def test_an_undamaged_copy_of_the_checker_has_no_defect(tmp_path: Path) -> None:
    assert forge(300, seed=1, tool=planted(None, tmp_path), kinds="release").false == []


def changed(name: str, change: Callable[[Document], Any]) -> Document:
    """An honest document of version 2 with a change, and a digest that fits."""
    document = copy.deepcopy(honest()[name])
    change(document)
    return {**document, "digest": checker.digest(document)}


def of_regions(document: Document) -> None:
    """Any two pictures are protected, by a certificate of pictures that are alike outside of two regions."""
    certificate = honest()["pictures, regions"]
    document["parts"][0].update(protects={"kind": "any"}, distance="any", price="9", certificate=certificate)
    document["total"]["epsilon"] = "13"


REPAIRED: dict[str, tuple[str, Callable[[Document], Any]]] = {
    "a protected distance that is below 0": (
        "release, numbers",
        lambda d: d["parts"][0]["protects"].update(distance="-5"),
    ),
    "more pixels than are paid for": (
        "release, pixels",
        lambda d: d["parts"][-1]["protects"].update(distance="6"),
    ),
    "more code units than are paid for": (
        "release, faces",
        lambda d: d["parts"][-1]["protects"].update(distance="2"),
    ),
    "what a person costs, counted in pixels": (
        "pictures, pixels",
        lambda d: d["claim"]["secret"].update(inside="place", count=6, draws=6, touching=1),
    ),
    "what a person costs, counted in steps of colour": (
        "pictures, steps",
        lambda d: d["claim"]["secret"].update(inside="place", count=6, draws=6, touching=1),
    ),
    "how many draws can show a person is left out": (
        "pictures, places",
        lambda d: d["claim"]["secret"].pop("touching"),
    ),
    "any two pictures, where those are meant that are alike outside of regions": ("release, numbers", of_regions),
}  # fmt: skip


@pytest.mark.parametrize("name", REPAIRED)
def test_what_is_false_or_about_nobody_is_refused(name: str) -> None:
    with pytest.raises(NotProved):
        checker.prove_record(changed(*REPAIRED[name]))


def test_numbers_beyond_all_floats_are_printed() -> None:
    def huge(document: Document) -> None:
        document["parts"][0].update(price="9e400", delta="3e400")
        document["total"].update(epsilon=str(4 + 9 * 10**400), delta=str(3 * 10**400))

    shown = check(changed("release, numbers", huge))
    assert shown.startswith(f"epsilon = 900001{'0' * 395}, delta = 3{'0' * 400} between")


def test_a_name_of_a_file_writes_no_sentence() -> None:
    name = 'age": epsilon = 0 for any two values that differ\n  kept, "b'
    shown = check(changed("release, numbers", lambda d: d["parts"][0].update(columns=[name], name=name)))
    assert len(shown.splitlines()) == 4
    assert r'in "age\x22: epsilon = 0 for any two values that differ\n  kept, \x22b", by any' in shown
    assert judged(changed("release, numbers", lambda d: d["kept"].append("\\")))[0] == "true"
    unit = {"relation": "same-rows", "unit": "patient, and anybody", "rows": 1}
    assert 'of every "patient, and anybody", in' in check(
        changed("release, numbers", lambda d: d.update(neighbours=unit))
    )
    called = changed("table, called", lambda d: d["claim"].update(metric={"called": "x) change by 1. And ("}))
    assert "within 1 ('x) change by 1. And (') change by a factor" in nw.verify(nw.Certificate(called)).facts["reading"]


def test_a_release_with_lots_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The lots of a person are a name from the file, also where a release states them."""

    def lots(document: Document) -> None:
        for one in (document, document["parts"][0]["certificate"]):
            one["randomness"] = {"lots": "a simulation"}
        certificate = document["parts"][0]["certificate"]
        certificate["digest"] = checker.digest(certificate)

    (tmp_path / "certificate.json").write_text(json.dumps(changed("release, bits", lots)))
    assert run(["verify", str(tmp_path / "certificate.json")]) == 0
    assert '"drawn by each respondent with a simulation" (as stated)' in capsys.readouterr().out


def test_the_meaning_of_a_level_beyond_all_floats_takes_no_time() -> None:
    document = changed("planar, level", lambda d: d["claim"].update(level=str(10**12)))
    began = time.monotonic()
    claim = claims.prove(document)[0]
    assert claim is not None
    assert (
        "by a factor of at most e^1e12. A belief of 50 % in one of two such points can become at most 100 %."
        in meaning(claim, "")
    )
    assert judged(document)[0] == "true"
    assert time.monotonic() - began < 2


HAIR: dict[str, tuple[str, Callable[[Document], Any], str]] = {
    "an epsilon of one part in 2^60 less": (
        "geometric",
        lambda d: d["claim"].update(epsilon=str(1 - Fraction(1, 1 << 60))),
        "too small for the claim",
    ),
    "the float below an epsilon": (
        "geometric_open",
        lambda d: d["claim"].update(epsilon=str(Fraction(math.nextafter(0.3, 0)))),
        "too small for the claim",
    ),
    "a step of a tenth and one of the float": (
        "geometric_sensitivity",
        lambda d: d["claim"].update(metric=f"{Fraction(1 / 3)} * line") or d.update(step="1"),
        "not the one that the distances are about",
    ),
    "a factor of twelve digits": (
        "exponential_scaled",
        lambda d: d["claim"].update(metric="0.199999999999 * line"),
        "nearer in the line metric",
    ),
    "a factor less by 4e-13": (
        "exponential_scaled",
        lambda d: d["claim"].update(metric=f"{Fraction(1, 5) * (1 - Fraction(4, 10**13))} * line"),
        "nearer in the line metric",
    ),
    "a lattice next to a power of two": (
        "laplace_open_metric",
        lambda d: d["claim"].update(metric=f"{3 * (1 - Fraction(1, 1 << 51))} * line between points of the lattice 2^-12"),
        "not the one that the noise is on",
    ),
    "a step next to that of ranges": (
        "laplace_within",
        lambda d: d.update(step=str(Fraction(1, 4) * (1 + Fraction(1, 1 << 51)))),
        "not the one that the distances are about",
    ),
    "a sum that is rounded down": (
        "release_of_columns",
        lambda d: d["total"].update(epsilon=str(Fraction("9/2") * (1 - Fraction(1, 1 << 53)))),
        "not the sum of the parts",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HAIR)
def test_claims_that_are_false_by_a_hair_are_refused(name: str) -> None:
    base, change, words = HAIR[name]
    assert check(kept(base))
    with pytest.raises(NotProved, match=words):
        check(kept(base, change))


@pytest.mark.parametrize(
    "name",
    [
        " discrete",
        "*discrete",
        "discrete ",
        "Discrete",
        "1*discrete",
        "dis-crete",
        "d i s c r e t e",
        "'discrete'",
        "euclidean between word vectors (sha256 ABCDEFABCDEF)",
    ],
)
def test_a_name_that_only_looks_like_one_is_refused(name: str) -> None:
    with pytest.raises(NotProved, match="only looks like a name"):
        check(kept("certified_channel_line", lambda d: d["claim"].update(metric=name)))


def test_the_reading_is_of_what_was_proved() -> None:
    forged = kept("exponential_table_metric", lambda d: d["claim"].update(metric="differ, all of them"))
    found = nw.verify(nw.Certificate(forged))
    assert found.claim == "epsilon = 1 per unit of 'differ, all of them'; distances as stated in the file"
    assert "any two secrets within 1 ('differ, all of them')" in found.facts["reading"]


WRONG: dict[str, tuple[str, Callable[[Document], Any]]] = {
    "a field of its own": ("geometric", lambda d: d.update(simulated=False)),
    "a field of a proof": ("geometric", lambda d: d["proof"].update(note="proved")),
    "a field of distances": ("geometric", lambda d: d["claim"]["distances"].update(unit="km")),
    "a label of two keys": ("certified_channel_line", lambda d: d["inputs"].__setitem__(0, {"fraction": "0", "tuple": [9]})),
    "labels of two types": ("certified_channel", lambda d: d.update(inputs=[1, "1"])),
    "words and values": ("certified_channel", lambda d: d.update(inputs=[True, " TRUE"])),
    "null and none": ("certified_channel", lambda d: d.update(inputs=[None, "null"])),
    "one row": (
        "certified_channel",
        lambda d: d["proof"].update(table=d["proof"]["table"][:1]) or d.update(inputs=["a"]),
    ),
    "another mechanism": ("randomised_response", lambda d: d.update(mechanism="geometric")),
    "an oracle of a response": ("randomised_response", lambda d: d.update(oracle={"domain": 1000})),
    "an oracle in other words": ("unary_encoding", lambda d: d.update(about="any two documents")),
    "an oracle of another table": ("unary_encoding", lambda d: d.update(mechanism="subset-selection")),
    "sets of other categories": ("subset_selection", lambda d: d["oracle"].update(domain=["a", "b", "c", "d"])),
    "blocks of another length": ("hadamard_response", lambda d: d["oracle"].update(length=16)),
    "blocks of a length that is no whole number": (
        "hadamard_response",
        lambda d: d["oracle"].update(length=float(d["oracle"]["length"])),
    ),
    "another scope": ("laplace_within", lambda d: d.update(scope="metric")),
    "another step": ("snapped_laplace", lambda d: d.update(step="2")),
    "another sensitivity": ("curve_sup", lambda d: d.update(sensitivity="1")),
    "another lattice": ("curve_sup", lambda d: d.update(lattice="multiples of 2^-1")),
    "a part of its own": ("release_of_columns", lambda d: d["parts"][0].update(note="safe")),
    "other words of a release": ("release_of_columns", lambda d: d.update(between="any two tables")),
    "other words of a part": ("release_of_columns", lambda d: d["parts"][0].update(protects="at most 50")),
    "a distance of nobody": (
        "release_of_columns",
        lambda d: d["parts"][0].update(distance="1/10", price="3/20", protects="at most 0.5")
        or d["total"].update(epsilon="63/20")
        or d.update(between=d["between"].replace("most 5", "most 0.5")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_proved_is_not_let_through(name: str) -> None:
    base, change = WRONG[name]
    assert check(kept(base))
    with pytest.raises(NotProved) as refusal:
        check(kept(base, change))
    assert 10 < len(str(refusal.value)) < 300


@pytest.mark.parametrize("factor", ["9007199254740991/9007199254740992", str(1 / Fraction(0.3))])
def test_a_distance_is_not_rounded_below_the_step_of_what_it_is_about(factor: str) -> None:
    """In twelve digits it would be about no two values, and so say nothing."""
    forged = kept("release_of_queries", lambda d: _query(d, f"{factor} * line"))
    step = 1 / Fraction(factor)
    assert f"values at most {step} apart (line), between points in steps of {step}" in check(forged)
    assert judged(forged)[0] == "true"


def test_ends_of_a_range_are_not_rounded_past_each_other() -> None:
    stated, proof = {"shape": "steps", "distance": "1"}, {"kind": "law", "clamp": [10**15, 10**15 + 1]}
    assert _range(stated, proof) == "any two values from 1000000000000000/3 to 1000000000000001/3 (line)"
    proof["clamp"] = [10, 20]
    assert _range(stated, proof) == "any two values from 3.33333333334 to 6.66666666666 (line)"


def _range(stated: Document, proof: Document) -> str:
    found = checker_release.span(stated, proof, Fraction(3), {"base": "line"})[1]
    return phrases.pair({**found, "metric": {"base": "line"}})


def _query(document: Document, metric: str) -> None:
    certificate = document["parts"][0]["certificate"]
    certificate["claim"]["metric"] = metric
    certificate["digest"] = checker.digest(certificate)


@pytest.mark.parametrize(
    "text", ["[-0.0]", "-0", "[1e400]", "\ufeff{}", "{} {}", "[" * 10**5, '{"a": 1, "a": 1}', "9" * 4001, "NaN"]
)
def test_json_that_two_readers_could_read_in_two_ways_is_not_read(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        checker.read(text)


def test_mechanisms_prove_themselves_as_the_checker_knows() -> None:
    known = {name for names in checker.NAMES.values() for name in names.split()}
    assert known <= set(registry) | {"optimal", "curve", "metric-realising", "explicit-fair"}


# The loose files ----------------------------------------------------------------------------------------------------------


def test_the_digests_of_the_other_files_are_in_the_first() -> None:
    assert sealed(["--check"]) == 0, "run: python -m tools.seal_checker"


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    for module in (checker, checker_noise, checker_release, checker_version1, phrases):
        shutil.copy(str(module.__file__), tmp_path)
    for name in ("laplace_half_line", "release_of_columns", "subset_selection"):
        shutil.copy(KEPT / f"{name}.json", tmp_path)
    return tmp_path


def run_loose(folder: Path, script: str = "checker.py") -> str:
    files = sorted(path.name for path in folder.glob("*.json"))
    return subprocess.run(
        [sys.executable, script, *files], cwd=folder, capture_output=True, text=True, check=False
    ).stdout


def test_nothing_is_imported_from_the_folder(loose: Path) -> None:
    honest_words = run_loose(loose)
    assert honest_words.count(": proved: ") == 3
    standard = [
        "__future__",
        "json",
        "fractions",
        "hashlib",
        "re",
        "math",
        "decimal",
        "functools",
        "itertools",
        "types",
        "os",
    ]
    for name in [*standard, "collections", "typing", "bisect", "abc"]:
        (loose / f"{name}.py").write_text("print('a stranger was run')\n")
    assert run_loose(loose) == honest_words
    (loose / "elsewhere").mkdir()
    (loose / "elsewhere" / "link.py").symlink_to(loose / "checker.py")
    assert "stranger" not in run_loose(loose, "elsewhere/link.py")


@pytest.mark.parametrize("name", ["checker_noise.py", "checker_release.py"])
def test_another_file_in_place_of_a_sibling_is_not_run(loose: Path, name: str) -> None:
    with open(loose / name, "a") as file:
        file.write("print('a stranger was run')\n")
    said = run_loose(loose)
    assert "stranger" not in said
    assert f"is proved in a second file, {name}, which must lie beside this program, as it was written with it" in said
