"""The stand-alone checker: it runs alone, accepts what is proved, and rejects everything else."""

from __future__ import annotations

import ast
import copy
import itertools
import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from core_support import randomised_response, truncated_geometric

import noisewright as nw
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker, checker_noise
from noisewright.certificates.checker.checker import NotProved, check, digest
from noisewright.channels.channel import Channel
from noisewright.claims import phrases
from noisewright.metrics.base import Discrete, Euclidean, Line, Table, named_metric

SOURCE, SECOND, PHRASES = Path(checker.__file__), Path(checker_noise.__file__), Path(phrases.__file__)
BESIDE = [*sorted(SOURCE.parent.glob("checker_*.py")), PHRASES]
Document = dict[str, Any]


def document(certificate: Certificate) -> Document:
    return json.loads(certificate.to_json())  # type: ignore[no-any-return]


def seal(changed: Document) -> Document:
    """The document with a digest that fits: only the proof can reject it now."""
    return {**changed, "digest": digest(changed)}


def build(kind: str) -> Document:
    if kind == "uniform":
        return document(Certificate.of(randomised_response(3, 1.0).certify(1)))
    if kind == "line":
        return document(Certificate.of(truncated_geometric(4, 0.5).certify("1/2", Line())))
    if kind == "table":
        far = math.inf
        metric = Table([[0, 1, far], [1, 0, far], [far, far, 0]])
        return document(Certificate.of(Channel([[0.6, 0.4], [0.4, 0.6], [1, 0]]).certify("0.5", metric)))
    if kind == "grid":
        grid = [(0, 0), (0, 1), (1, 1)]
        channel = Channel(np.exp(-0.3 * Euclidean().matrix(grid)), inputs=grid, normalise=True)
        return document(Certificate.of(channel.certify("0.6", Euclidean())))
    if kind == "response":
        # 5 values, keep = 2^32 - 4 * other, other = 0x20000000: a factor of 4, and ln 4 < 1.387
        proof = {"kind": "response", "width": 32, "precision": 96, "size": 5, "keep": "80000000", "other": "20000000"}
        distances = {"shape": "uniform", "distance": "1"}
        return document(
            Certificate.build(
                mechanism="response", epsilon=Fraction("1.387"), metric="discrete", distances=distances, proof=proof
            )
        )
    proof = {"kind": "law", "law": "discrete laplace", "scale": "10"}
    distances = {"shape": "steps", "distance": "1/4"}
    return document(
        Certificate.build(mechanism="laplace", epsilon=Fraction(2, 5), metric="line", distances=distances, proof=proof)
    )


KINDS = ["uniform", "line", "table", "grid", "response", "law"]


@pytest.mark.parametrize("kind", KINDS)
def test_good_certificates_are_proved(kind: str) -> None:
    good = build(kind)
    metric = phrases.metric_name(good["claim"]["metric"])
    claim = f"epsilon = {float(Fraction(good['claim']['epsilon'])):.6g} per unit of {metric}"
    far = "; distances as stated in the file, nothing between 2 of 3 pairs, infinitely far apart"
    more = {"table": far, "law": ", between points in steps of 1/4"}.get(kind, "")
    assert check(good) == claim + more


@pytest.mark.parametrize("name", ["discrete", "line", "euclidean", "manhattan", "1/3 * line"])
def test_distances_larger_than_those_of_the_named_metric_are_refused(name: str) -> None:
    """A claim is per unit of a metric: a file cannot stretch the distances and keep the name."""
    points = [(0, 0), (0, 3), (4, 0)] if name in ("euclidean", "manhattan") else [0, 3, 4]
    metric = named_metric(name)
    certified = Channel(np.eye(3) / 4 + 1 / 4, points).certify(5, metric)
    good = document(Certificate.of(certified))
    assert check(good) == f"epsilon = 5 per unit of {name}"
    stretched = json.loads(json.dumps(good))
    distances = stretched["claim"]["distances"]
    for key, value in distances.items():
        if key == "distance":
            distances[key] = str(Fraction(value) * 1001 / 1000)
        elif key != "shape":
            distances[key] = [str(Fraction(v) * 1001 / 1000) for v in value]
    stretched["digest"] = checker.digest(stretched)
    with pytest.raises(NotProved, match=r"larger than those|nearer in the"):
        check(stretched)


@pytest.mark.parametrize("source", [SOURCE, *BESIDE], ids=lambda path: path.name)
def test_only_the_standard_library_is_imported(source: Path) -> None:
    """And each file the first one. All are written for Python 3.9 and later."""
    imported = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"), feature_version=(3, 9))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add((node.module or "").split(".")[0])
    assert imported <= {*sys.stdlib_module_names, *(["noisewright"] if source in BESIDE[:-1] else [])}
    assert not imported & {"os", "socket", "subprocess", "urllib", "ctypes", "importlib", "pickle"}


def run_alone(
    folder: Path, *names: str, name: str = "check_it.py", phrases: bool = True
) -> subprocess.CompletedProcess[str]:
    (folder / name).write_text(SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    if phrases:
        (folder / PHRASES.name).write_bytes(PHRASES.read_bytes())
    return subprocess.run(
        [sys.executable, "-I", "-S", name, *names], cwd=folder, capture_output=True, text=True, check=False
    )


NOISE: dict[str, Callable[[], Any]] = {
    "planar": lambda: nw.planar_laplace(epsilon=1, radius=200),
    "planar places": lambda: nw.mechanisms.planar_geometric(nw.mechanisms.Grid(3, 3), epsilon=1),
    "globe": lambda: nw.mechanisms.geo_laplace(epsilon=1, radius=200, reference=(48.8566, 2.3522)),
    "ranged": lambda: nw.laplace(epsilon=1, within=[(0, 3), (5, 9)]),
    "ranged metric": lambda: nw.laplace(epsilon=1, within=(0, 9), scope="metric", margin=1),
    "half line": lambda: nw.laplace(epsilon=1, within=(0, None), scope="metric"),
    "staircase": lambda: nw.mechanisms.staircase(epsilon=1),
    "gaussian": lambda: nw.mechanisms.gaussian(epsilon=1, delta="1e-5"),
    "laplace with delta": lambda: nw.mechanisms.approximate_laplace(epsilon=1, delta="1e-5"),
    "curve": lambda: nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=range(3)),
}
PLAIN: dict[str, Callable[[], Any]] = {
    "laplace": lambda: nw.laplace(epsilon=1),
    "laplace metric": lambda: nw.laplace(epsilon=1, scope="metric"),
    "product": lambda: nw.mechanisms.product_laplace(epsilon=1, dimension=3),
    "geometric": lambda: nw.geometric(epsilon=1, within=(0, 9)),
    "constant": lambda: nw.mechanisms.uniform(4),
    "exponential": lambda: nw.exponential(range(4), epsilon=1),
    "response": lambda: nw.randomised_response(3, epsilon=1),
}


@pytest.mark.parametrize("name", ["checker.py", "check_it.py"])
def test_both_files_alone_say_the_same_as_the_library_for_every_kind(tmp_path: Path, name: str) -> None:
    made = {kind: make().certificate() for kind, make in {**NOISE, **PLAIN}.items()}
    for kind, certificate in made.items():
        (tmp_path / f"{kind}.json").write_text(certificate.to_json(), encoding="utf-8")
    (tmp_path / SECOND.name).write_text(SECOND.read_text(encoding="utf-8"), encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    alone = run_alone(tmp_path, *(f"{kind}.json" for kind in made), name=name, phrases=False)
    assert (alone.returncode, alone.stderr) == (0, "")
    records = [json.dumps(c.verify().record) for c in made.values()]
    assert alone.stdout.splitlines() == [
        f"{kind}.json: proved: {record}" for kind, record in zip(made, records, strict=True)
    ]
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / name])  # and nothing is left behind
    alone = run_alone(tmp_path, *(f"{kind}.json" for kind in made), name=name)
    assert alone.stdout.splitlines() == [f"{kind}.json: proved: {c.verify()}" for kind, c in made.items()]


def test_another_phrase_table_is_not_used(tmp_path: Path) -> None:
    """Only the table that belongs to the program words what is proved; with another one it prints codes and numbers."""
    (tmp_path / "law.json").write_text(json.dumps(build("law")))
    (tmp_path / PHRASES.name).write_text(PHRASES.read_text().replace("epsilon =", "at most epsilon ="))
    assert run_alone(tmp_path, "law.json", phrases=False).stdout.startswith('law.json: proved: {"epsilon": "2/5"')


def test_without_the_second_file_one_sentence_says_so(tmp_path: Path) -> None:
    for kind, make in {**NOISE, **PLAIN}.items():
        (tmp_path / f"{kind}.json").write_text(make().certificate().to_json(), encoding="utf-8")
    plain = run_alone(tmp_path, *(f"{kind}.json" for kind in PLAIN))
    assert (plain.returncode, plain.stdout.count(": proved: ")) == (0, len(PLAIN)), plain.stdout
    for content in (
        None,
        "def broken(:",
        "import nothing_of_this_name",
        "from checker import other_than_these\n",
        "\0",
    ):
        if content is not None:
            (tmp_path / SECOND.name).write_text(content, encoding="utf-8")
        noise = run_alone(tmp_path, *(f"{kind}.json" for kind in NOISE))
        assert (noise.returncode, noise.stderr) == (1, "")
        words = "NOT PROVED: a claim of this kind is proved in a second file, checker_noise.py, which must lie beside"
        assert noise.stdout.count(words) == len(NOISE), noise.stdout


def test_a_refusal_by_the_second_file_is_reported_like_any_other(tmp_path: Path) -> None:
    """The two files are one program: what the second raises is what the first catches."""
    (tmp_path / SECOND.name).write_text(SECOND.read_text(encoding="utf-8"), encoding="utf-8")
    for kind, make in NOISE.items():
        changed = document(make().certificate())
        changed["claim"]["epsilon"] = str(Fraction(changed["claim"]["epsilon"]) / 2)
        (tmp_path / f"{kind}.json").write_text(json.dumps(seal(changed)), encoding="utf-8")
    for name in ("checker.py", "check_it.py"):
        bad = run_alone(tmp_path, *(f"{kind}.json" for kind in NOISE), name=name)
        assert (bad.returncode, bad.stderr) == (1, "")
        assert bad.stdout.count(": NOT PROVED: the ") == len(NOISE), bad.stdout
    inside = [
        sys.executable,
        "-m",
        "noisewright.certificates.checker.checker",
        *(f"{kind}.json" for kind in NOISE),
    ]
    done = subprocess.run(inside, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, bad.stdout)


def test_a_stranger_file_in_the_folder_is_never_run(tmp_path: Path) -> None:
    """Only the second file itself is looked for there, not modules of the standard library."""
    (tmp_path / SECOND.name).write_text(SECOND.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "half.json").write_text(NOISE["half line"]().certificate().to_json(), encoding="utf-8")
    for name in ("bisect", "math", "checker", "noisewright"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a stranger was run')", encoding="utf-8")
    assert run_alone(tmp_path, "half.json").stdout.count(": proved: ") == 1


def test_it_runs_alone(tmp_path: Path) -> None:
    for kind in KINDS:
        (tmp_path / f"{kind}.json").write_text(json.dumps(build(kind)), encoding="utf-8")
    good = run_alone(tmp_path, *(f"{kind}.json" for kind in KINDS))
    assert good.returncode == 0, good.stderr
    assert good.stdout.count(": proved: epsilon = ") == len(KINDS)
    assert run_alone(tmp_path).returncode == 1

    text = (tmp_path / "line.json").read_text(encoding="utf-8")
    files = {
        "cut.json": text[: len(text) // 2],
        "no.json": "not JSON at all",
        "empty.json": "",
        "deep.json": "[" * 100_000,
        "list.json": "[1, 2]",
        "twice.json": text[:-1] + ', "claim": {}}',
        "lowered.json": json.dumps(seal({**build("line"), "claim": {**build("line")["claim"], "epsilon": "1/4"}})),
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    for name in [*files, "bytes.json", "missing.json"]:
        bad = run_alone(tmp_path, "line.json", name)
        assert bad.returncode == 1, name
        assert bad.stdout.count("NOT PROVED") == 1, bad.stdout
        assert bad.stderr == ""


def test_alone_it_says_that_a_simulation_is_not_for_release(tmp_path: Path) -> None:
    seeded = nw.geometric(epsilon=1).certificate(np.random.default_rng(1))
    (tmp_path / "seeded.json").write_text(seeded.to_json(), encoding="utf-8")
    said = "seeded.json: proved: epsilon = 1 per unit of line; a simulation with a known seed: NOT FOR RELEASE\n"
    assert run_alone(tmp_path, "seeded.json").stdout == said


def test_every_cut_of_a_file_is_refused(tmp_path: Path) -> None:
    text = json.dumps(build("law"))
    for length in range(len(text)):
        with pytest.raises((ValueError, NotProved)):
            check(checker.read(text[:length]))


@pytest.mark.parametrize("kind", ["uniform", "law", "response"])
def test_every_edit_of_one_hex_digit_is_refused(kind: str) -> None:
    """At every position of the file, in every field, every other hex digit."""
    good = build(kind)
    text = json.dumps(good)
    digits = "0123456789abcdef"
    edits = 0
    for position, old in enumerate(text):
        if old not in digits:
            continue
        for new in digits.replace(old, ""):
            try:
                edited = checker.read(text[:position] + new + text[position + 1 :])
            except ValueError:
                continue  # no longer JSON
            if edited == good:
                continue  # a digit of "change" beyond the precision of a float: the document is the same
            edits += 1
            with pytest.raises(NotProved):
                check(edited)
    assert edits > 1000


def edited(kind: str, change: Callable[[Document], object]) -> Document:
    changed = copy.deepcopy(build(kind))
    change(changed)
    return seal(changed)


def set_to(*path: Any, value: Any) -> Callable[[Document], object]:
    def change(target: Any) -> None:
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value

    return change


def remove(*path: Any) -> Callable[[Document], object]:
    def change(target: Any) -> None:
        for step in path[:-1]:
            target = target[step]
        del target[path[-1]]

    return change


def move_mass(target: Document) -> None:
    """One unit of the smallest entry to the largest in the first row, far beyond the slack of the proof."""
    row = target["proof"]["table"][0]
    amount = 1 << (target["proof"]["width"] - 8)
    row[0], row[-1] = f"{int(row[0], 16) + amount:x}", f"{int(row[-1], 16) - amount:x}"


def swap_rows(target: Document) -> None:
    rows = target["proof"]["table"]
    rows[0], rows[-1] = rows[-1], rows[0]


def response_with_delta(epsilon: str, delta: str) -> Document:
    return dict(
        Certificate.build(
            mechanism="response",
            epsilon=Fraction(epsilon),
            delta=Fraction(delta),
            metric="discrete",
            distances={"shape": "uniform", "distance": "1"},
            proof={"kind": "response", "size": 2, "width": 2, "precision": 64, "keep": "3", "other": "1"},
        ).document
    )


@pytest.mark.parametrize(
    ("epsilon", "enough", "too_little"),
    [("0", "0.5", "0.49999"), ("1/2", "0.33782", "0.33781"), ("1", "0.07043", "0.07042")],
)
def test_a_response_may_use_its_delta_once(epsilon, enough, too_little):
    """keep = 3/4, other = 1/4: delta(epsilon) = 3/4 - e^epsilon / 4 (0.337819..., 0.070429...)."""
    assert check(response_with_delta(epsilon, enough)).endswith(f"per unit of discrete, delta = {enough}")
    with pytest.raises(NotProved, match="the promise is broken"):
        check(response_with_delta(epsilon, too_little))


PROOF_BREAKERS: list[tuple[str, Callable[[Document], object], str]] = [
    ("uniform", set_to("claim", "epsilon", value="0.999"), "the promise is broken between two rows"),
    ("line", set_to("claim", "epsilon", value="0.4999"), "the promise is broken between rows"),
    ("table", set_to("claim", "epsilon", value="0.4"), "the promise is broken between rows 0 and 1 at output 0"),
    ("response", set_to("claim", "epsilon", value="1.386"), "the promise is broken"),
    ("law", set_to("claim", "epsilon", value="0.3999"), "the scale of the noise is too small"),
    ("line", set_to("claim", "epsilon", value="0"), "the promise is broken"),
    ("line", set_to("claim", "epsilon", value="-1"), "proves claims with epsilon >= 0"),
    ("line", set_to("claim", "epsilon", value="nan"), "incomplete or malformed"),
    ("line", set_to("claim", "epsilon", value=None), "incomplete or malformed"),
    ("line", set_to("claim", "epsilon", value="1e400"), "proves claims with epsilon >= 0"),
    ("line", set_to("claim", "delta", value="0.001"), "delta"),
    ("line", set_to("claim", "delta", value="-0.001"), "proves claims with epsilon >= 0 and delta"),
    ("line", remove("claim", "delta"), "incomplete or malformed"),
    ("line", remove("claim", "metric"), "incomplete or malformed"),
    ("line", remove("claim"), "incomplete or malformed"),
    ("line", remove("proof"), "incomplete or malformed"),
    ("line", remove("proof", "width"), "incomplete or malformed"),
    ("line", set_to("proof", "kind", value="trust"), "unknown kind of proof"),
    ("uniform", move_mass, "the promise is broken"),
    ("line", move_mass, "the promise is broken"),
    ("line", swap_rows, "the promise is broken"),
    ("uniform", set_to("claim", "distances", "distance", value="0.99"), "the promise is broken"),
    ("uniform", set_to("claim", "distances", "distance", value="-1"), "a distance is negative"),
    ("line", set_to("claim", "distances", "places", 1, value="1/2"), "the promise is broken"),
    ("line", set_to("claim", "distances", "places", value=["0", "1", "2"]), "one place for each row"),
    ("table", set_to("claim", "distances", "distances", 0, value="0.8"), "the promise is broken between rows 0 and 1"),
    ("table", set_to("claim", "distances", "distances", 1, value="5"), "the promise is broken between rows"),
    ("table", set_to("claim", "distances", "distances", 0, value="-1"), "a distance is negative"),
    ("table", set_to("claim", "distances", "distances", value=["1"]), "one distance for each pair of rows"),
    ("table", set_to("claim", "distances", "shape", value="round"), "unknown shape of distances 'round'"),
    ("line", set_to("proof", "table", 0, 0, value="-1"), "incomplete or malformed"),
    ("line", set_to("proof", "table", 0, 0, value="xyz"), "incomplete or malformed"),
    ("line", set_to("proof", "table", 0, 0, value=3), "incomplete or malformed"),
    ("line", set_to("proof", "table", value=[]), "rows of different lengths, or fewer"),
    ("line", set_to("proof", "table", 1, value=["1"]), "rows of different lengths"),
    ("line", set_to("proof", "table", value=[[], [], [], []]), "rows of different lengths, or fewer"),
    ("line", set_to("proof", "width", value=63), "does not sum to"),
    ("line", set_to("proof", "width", value=-1), "whole numbers of bits"),
    ("line", set_to("proof", "width", value=64.5), "whole numbers of bits"),
    ("line", set_to("proof", "precision", value=10**12), "whole numbers of bits, at most"),
    ("line", set_to("proof", "precision", value=-5), "whole numbers of bits"),
    ("response", set_to("proof", "size", value=4), "is not 2"),
    ("response", set_to("proof", "size", value=1), "is not 2"),
    ("response", set_to("proof", "keep", value="-80000000"), "incomplete or malformed"),
    ("response", set_to("claim", "distances", value={"shape": "line", "places": ["0"]}), "one distance for every pair"),
    ("law", set_to("proof", "scale", value="9.99"), "the scale of the noise is too small"),
    ("law", set_to("proof", "scale", value="-10"), "the scale of the noise is too small"),
    ("law", set_to("proof", "scale", value="1/0"), "incomplete or malformed"),
    ("law", set_to("proof", "law", value="gauss"), "unknown law 'gauss'"),
    ("law", set_to("claim", "distances", "distance", value="1/5"), "the scale of the noise is too small"),
    ("uniform", set_to("claim", "delta", value="0.5"), "delta"),
    ("response", set_to("claim", value=None), "incomplete or malformed"),
    ("law", set_to("claim", "delta", value="1e-9"), "delta"),
    ("line", set_to("claim", "delta", value="1"), "delta"),
    ("line", set_to("version", value=3), "reads version 2, the file says 3"),
    ("line", set_to("version", value="2"), "reads version 2, the file says '2'"),
    ("line", set_to("version", value=1), "the name of the metric is not a short text"),
    ("line", set_to("format", value="other"), "not a Noisewright certificate"),
]


@pytest.mark.parametrize(("kind", "change", "message"), PROOF_BREAKERS)
def test_edits_with_a_fitting_digest_that_break_the_proof(
    kind: str, change: Callable[[Document], object], message: str
) -> None:
    with pytest.raises(NotProved, match=message):
        check(edited(kind, change))


def test_a_weaker_claim_is_still_proved() -> None:
    """The checker proves; it does not merely compare with what was written."""
    assert check(edited("line", set_to("claim", "epsilon", value="0.75"))).startswith("epsilon = 0.75")
    assert check(edited("law", set_to("proof", "scale", value="11"))).startswith("epsilon = 0.4")


@pytest.mark.parametrize("thing", [None, 3, "text", [], {}, {"format": "noisewright-certificate"}])
def test_things_that_are_no_certificates(thing: object) -> None:
    with pytest.raises(NotProved, match=r"not a Noisewright certificate|version"):
        check(thing)


def test_random_tables_are_accepted_exactly_when_they_are_private() -> None:
    """Small integer tables, tight on both sides: the checker against a plain comparison of ratios with e."""
    rng = random.Random(5)
    outcomes = set()
    for _ in range(300):
        n, m = rng.randint(2, 4), rng.randint(1, 3)
        rows = []
        for _ in range(n):
            cuts = sorted(rng.randint(0, 16) for _ in range(m - 1))
            rows.append([b - a for a, b in itertools.pairwise([0, *cuts, 16])])
        distances = [Fraction(rng.randint(0, 4), 2) for _ in range(n * (n - 1) // 2)]
        wanted = True
        for (i, j), d in zip(itertools.combinations(range(n), 2), distances, strict=True):
            for a, b in zip(rows[i], rows[j], strict=True):
                wanted &= max(a, b) <= (math.exp(d) if d else 1) * min(a, b)
        proof = {"kind": "table", "width": 4, "precision": 80, "table": [[f"{v:x}" for v in row] for row in rows]}
        shape = {"shape": "table", "distances": [str(d) for d in distances]}
        made = Certificate.build(mechanism="t", epsilon=Fraction(1), metric="table", distances=shape, proof=proof)
        try:
            check(dict(made.document))
            proved = True
        except NotProved:
            proved = False
        assert proved == wanted
        outcomes.add(proved)
    assert outcomes == {True, False}


@pytest.mark.parametrize("law", ["discrete laplace", "discrete gaussian"])
def test_a_delta_is_proved_down_to_the_true_one_and_no_further(law: str) -> None:
    """Noise between neighbours: the true delta is summed here over 4001 whole numbers, the rest being below 1e-30."""
    rng = np.random.default_rng(17)
    k = np.arange(-2000, 2001)
    tried = 0
    for _ in range(40):
        steps, epsilon, scale = (
            int(rng.integers(1, 9)),
            Fraction(int(rng.integers(0, 200)), 100),
            Fraction(int(rng.integers(4, 40)), 4),
        )
        power = np.abs(k) / float(scale) if law == "discrete laplace" else k**2 / (2 * float(scale) ** 2)
        weights = np.exp(-power) / np.exp(-power).sum()
        delta = float(np.maximum(np.roll(weights, steps) - math.exp(epsilon) * weights, 0).sum())
        if not 1e-6 < delta < 0.99:
            continue
        tried += 1
        noise = {"scale": str(scale)} if law == "discrete laplace" else {"sigma": str(scale), "stride": 1}
        for claimed, provable in ((delta * (1 - 1e-6), False), (delta * (1 + 1e-6), True)):
            made = Certificate.build(
                mechanism="noise",
                epsilon=epsilon,
                delta=Fraction(claimed),
                metric="line",
                distances={"shape": "adjacent", "distance": f"1/{steps}"},
                proof={"kind": "law", "law": law, **noise},
            )
            if provable:
                assert "between neighbours" in check(dict(made.document))
            else:
                with pytest.raises(NotProved, match="the noise is too small for the claim"):
                    check(dict(made.document))
    assert tried > 10


def test_the_discrete_metric_is_the_default_of_these_files() -> None:
    assert build("uniform")["claim"]["metric"] == {"base": str(Discrete())}
