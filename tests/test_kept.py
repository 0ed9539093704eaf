"""What version 0.1.0 wrote before the rooms were divided is read, proved, said and made again as it was.

``fixtures/kept`` holds certificates, releases, saved channels and error messages of then, with the calls that made them; its
README says more. They are never made anew. Where something was changed on purpose since, ``CHANGED`` has the reason.
"""

from __future__ import annotations

import ast
import contextlib
import fractions
import functools
import io
import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import noisewright as nw
from noisewright.cli import run
from noisewright.core.certificates.checker import checker
from noisewright.core.errors import CertificateError
from noisewright.releases.output.certificate import ReleaseCertificate
from noisewright.releases.output.layout import CERTIFICATE
from noisewright.releases.output.lock import Lock
from noisewright.releases.sources.open import source_of

KEPT = Path(__file__).parent / "fixtures" / "kept"
CERTIFICATES = sorted((KEPT / "certificates").glob("*.json"))
MADE: dict[str, dict[str, Any]] = json.loads((KEPT / "made.json").read_text())
CHANNELS: dict[str, dict[str, Any]] = json.loads((KEPT / "channels" / "made.json").read_text())
MESSAGES: dict[str, Any] = json.loads((KEPT / "messages.json").read_text())
RUNS: dict[str, dict[str, Any]] = json.loads((KEPT / "release.json").read_text())["runs"]

MOVED = {
    "metrics": "Angular Discrete EarthMovers Euclidean Hamming Line Manhattan Product Table",
    "mechanisms": """approximate_laplace curve explicit_fair gaussian geo_laplace Grid hadamard_response local_hashing
        metric_realising OutputPerturbation planar_geometric Polygon product_laplace sanitise selection snapped snapped_laplace
        spherical_laplace staircase subset_selection truncated_laplace unary_encoding uniform""",
    "core": "Accountant",
    "optimality": "compare_utility",
    "adversary": "safe_replacement",
}
"""Names that were at the top: the room that has each of them now."""
ROOM = {name: room for room, names in MOVED.items() for name in names.split()}


@dataclass(frozen=True)
class Changed:
    """What is said now to a kept call or command line, where it was changed on purpose."""

    why: str
    says: tuple[Any, ...]
    """The class and the sentence of an error; the exit code and what is printed to both streams, of a command line."""
    call: str = ""
    """How the call is written now, if not as it was."""


ONE_WORD = "places have an epsilon, perhaps within a radius, and no level beside it"

LAPLACE = (
    "nw.Policy.from_dict({'dataset': 'clinic', 'budget': {'epsilon': 3}, 'columns': [{'name': 'age', 'mechanism': 'laplace', "
    "'within': [0, 120], 'epsilon': 1"
)
UNDECLARED = (
    "column 'ward': a value is not one of the declared secrets; add it to categories, or say other = \"...\" to count all such "
    "values as one public category."
)

CHANGED = {
    "nw.Policy.from_dict({'dataset': 'clinic', 'budget': {'epsilon': 3}, 'columns': [{'name': 'age', 'within': [0, 120], "
    "'epsilon': 1}]})": Changed(
        "there are mechanisms for words, for codes of vectors, and for pictures",
        (
            "PolicyError",
            'policy: columns[0].mechanism is missing; write mechanism = "laplace" (or approximate-laplace, curve, exact-words, '
            "explicit-fair, exponential, faces, gaussian, geo-laplace, geometric, hashed-sets, laplace-hash, laplace-words, "
            "lshrr, mahalanobis-words, metric-realising, pixel-exponential, pixel-laplace, pixel-windows, "
            "planar-geometric, planar-laplace, private-documents, product-laplace, randomised-response, selection, "
            "snapped-laplace, spherical-laplace, staircase, truncated-exponential-words, truncated-laplace, uniform, "
            "vickrey-words), or keep = "
            "true to release the column unprotected.",
        ),
    ),
    "reproduce unknown": Changed(
        "there is an experiment about documents",
        (
            2,
            "",
            "noisewright: there is no experiment called 'unknown'; choose one of naive_bayes, database_size, "
            "discretisation, epsilon_sweep, extended_range, survey_microdata, example_matrices, hamming_exponential, "
            "density_band, survey_designs, survey_tallies, noise_shapes, d_vulnerability_shape, replacement_thresholds, "
            "family_tables, attribute_inference, recovering_a_distribution, author_and_topic, "
            "vanilla_hashing, private_hashing, recall_and_attributes, noisy_photographs, noisy_pixels, faces_by_eigenfaces, "
            "faces_by_identities, learned_binary, learned_gaussian, learned_histograms, "
            "learned_on_real_data.\n",
        ),
    ),
    "design unknown": Changed(
        "there are mechanisms for words, for codes of vectors, and for pictures",
        (
            2,
            "",
            "noisewright: there is no mechanism called 'unknown'; choose one of approximate-laplace, curve, exact-words, "
            "explicit-fair, exponential, faces, gaussian, geo-laplace, geometric, hadamard-response, hashed-sets, laplace, "
            "laplace-hash, laplace-words, local-hashing, lshrr, mahalanobis-words, metric-realising, pixel-exponential, "
            "pixel-laplace, pixel-windows, planar-geometric, planar-laplace, private-documents, product-laplace, "
            "randomised-response, selection, snapped-laplace, spherical-laplace, staircase, subset-selection, "
            "truncated-exponential-words, truncated-laplace, unary-encoding, uniform, vickrey-words, optimal, kernels, "
            "universal, extreme.\n",
        ),
    ),
    "nw.Policy.from_dict({'dataset': 'clinic', 'budget': {'epsilon': 3}, 'types': {'age': 'whole'}, 'queries': [{'name': 'n', "
    "'aggregate': 'count', 'epsilon': 1}]})": Changed(
        "there are more kinds of columns",
        (
            "PolicyError",
            'policy: types.age = "whole" must be the type of a column; write one of integer, number, date, time, text, boolean, '
            "vector, bytes, image, document.",
        ),
    ),
    "nw.release({'dataset': 'kept clinic, whole', 'budget': {'epsilon': 10}, 'unit': {'column': 'patient', 'rows': 2}, "
    "'columns': [{'name': 'age', 'mechanism': 'geometric', 'within': [0, 110], 'protect': 5, 'epsilon': 4}]}, "
    'pyarrow.table({"patient": ["p", "q"], "age": [31, 62], "ward": ["north", "south"]}), '
    "ledger='ledger.sqlite')": Changed(
        "the refusal names the option that helps",
        (
            "BudgetError",
            "this release asks for epsilon 8, but only 6.5 of the budget of 10 for 'kept clinic, whole' is left; ask for less, "
            "or raise the budget, which is recorded: write a larger one into the policy, and say raise_budget=True, "
            "--raise-budget.",
        ),
    ),
    "nw.estimate(['a'], nw.randomised_response(['a', 'b'], epsilon=1), level=2)": Changed(
        "the level of an interval is its confidence, everywhere",
        ("ParameterError", "confidence must be above 0 and below 1, such as 0.95, not 2."),
        "nw.estimate(['a'], nw.randomised_response(['a', 'b'], epsilon=1), confidence=2)",
    ),
    "nw.planar_laplace()": Changed(
        ONE_WORD, ("ParameterError", "planar_laplace needs epsilon; write planar_laplace(epsilon=1).")
    ),
    "nw.planar_laplace(epsilon=1, radius=3)": Changed(
        ONE_WORD,
        ("ParameterError", "radius must be greater than 0, not 0.0."),
        "nw.planar_laplace(epsilon=1, radius=0)",
    ),
    "nw.planar_laplace(level=1)": Changed(
        ONE_WORD, ("ParameterError", "planar_laplace has no parameter 'level'; did you mean epsilon?")
    ),
    "nw.planar_geometric([(0, 0), (0, 1)])": Changed(
        ONE_WORD, ("ParameterError", "planar_geometric needs epsilon; write planar_geometric(..., epsilon=1).")
    ),
    "nw.load('floating.json').verify()": Changed(
        "load gives the mechanism behind a certificate, which has the certificate",
        (
            "CertificateError",
            "the certificate does not prove its claim: floating: a theorem holds for real numbers, but nothing is proved about "
            "the floats drawn.",
        ),
        "nw.load('floating.json').certificate().verify()",
    ),
    "nw.load('count.json').table()": Changed(
        "load gives the mechanism behind a certificate, which has the certificate",
        ("CertificateError", "this certificate is about a law, not about a table."),
        "nw.load('count.json').certificate().table()",
    ),
    "nw.load('forged_kind.json').verify()": Changed(
        "a kind of proof that the checker does not know is refused by name",
        ("CertificateError", "the certificate does not prove its claim: unknown kind of proof 'wish'."),
    ),
    "verify count.json forged_table.json": Changed(
        "claims are in plain words on the screen",
        (
            1,
            "count.json: proved\n"
            "  Claim         epsilon 1 for each 1 of difference\n"
            "  Distances     1 for one step of the outputs\n"
            "  In words      Whatever the output, the odds between any two secrets at most 1 apart change by a factor "
            "of at most\n"
            "                2.72. A belief of 50% in one of two such secrets can become at most 73.2%.\n"
            "  Mechanism     geometric; the proof covers the law of its noise\n"
            "  Random bits   system seed, AES-256-CTR (as stated)\n"
            "forged_table.json: NOT PROVED\n"
            "  Reason   the promise is broken between rows 0 and 1 at output 0.\n"
            "1 of 2 certificates proved.\n",
            "",
        ),
    ),
    "nw.release({'dataset': 'clinic', 'budget': {'epsilon': 3}, 'columns': [{'name': 'age', 'mechanism': 'geometric', "
    "'within': [0, 110], 'protect': 5, 'epsilon': 1}]}, 'small.csv', seed=1, output='out', format='xlsx')": Changed(
        "there are more formats, and xlsx is one of them",
        (
            "ParameterError",
            "there is no output format 'xls'; choose one of parquet, csv, csv.gz, csv.zst, arrow, xlsx.",
        ),
        "nw.release({'dataset': 'clinic', 'budget': {'epsilon': 3}, 'columns': [{'name': 'age', 'mechanism': 'geometric', "
        "'within': [0, 110], 'protect': 5, 'epsilon': 1}]}, 'small.csv', seed=1, output='out', format='xls')",
    ),
    "release good.toml small.csv -o out --format xlsx --seed 1": Changed(
        "there are more formats, and xlsx is one of them",
        (2, "", "noisewright: --format must be one of parquet, csv, csv.gz, csv.zst, arrow, xlsx, not 'xls'.\n"),
        "release good.toml small.csv -o out --format xls --seed 1",
    ),
    "nw.load('bundle.json')": Changed(
        "it is known to be the certificate of a release",
        (
            "FileFormatError",
            "bundle.json is the certificate of a whole release, behind which there is no single mechanism; prove it with "
            "noisewright.verify.",
        ),
    ),
    **{
        f"{LAPLACE}, '{key}': 2}}]}})": Changed(
            "the number that was given is proposed",
            ("PolicyError", f"policy: columns[0].{key} = 2 is set by {meant}; write {meant} = 2, {means}."),
        )
        for key, meant, means in (
            ("sensitivity", "protect", "the distance within which two values are to look alike"),
            ("radius", "protect", "the distance within which two values are to look alike"),
            ("level", "epsilon", "the loss between two values that are protected from each other"),
        )
    },
    **{
        f"{LAPLACE}, 'protect': {given!r}}}]}})": Changed(
            "units of distances are named",
            (
                "PolicyError",
                f'policy: columns[0].protect = {json.dumps(given)} must be a distance greater than 0 or "any"; write a number '
                'such as 5 (of places, in metres), or "7 days" (or hours, minutes, seconds).',
            ),
        )
        for given in (0, "7 weeks")
    },
    "nw.release({'dataset': 'clinic', 'budget': {'epsilon': 3}, 'columns': [{'name': 'ward', 'mechanism': "
    "'randomised-response', 'categories': ['north', 'west'], 'epsilon': 1}]}, "
    'pyarrow.table({"age": [31, 62, 40], "ward": ["north", "south", "north"]}), seed=1)': Changed(
        "the refusal names the keys that help", ("DataError", UNDECLARED)
    ),
    "nw.geometric(epsilon=1).release(float('nan'))": Changed(
        "what is missing is said to be", ("DataError", "some values are missing; drop or replace them first.")
    ),
    "release smoker.toml small.csv -o out --seed 1": Changed(
        "the refusal names the keys that help", (2, "", f"noisewright: {UNDECLARED}\n")
    ),
}


ORDERED = {"release_of_columns", "release_floating"}
"""Certificates of released rows, which leave in a random order since; a certificate states it, and is digested with it."""
FLOATING = {"release_floating", "spherical_laplace", "spherical_laplace_simulated"}
SOLVED = "optimal_"
"""Certificates of solved programs begin so: their last bits belong to the solver and the processor."""


def made(expression: str) -> Any:
    """What a kept expression gives now."""
    now = re.sub(
        r"\bnw\.(\w+)", lambda name: f"nw.{ROOM[name[1]]}.{name[1]}" if name[1] in ROOM else name[0], expression
    )
    now = re.sub(r"\blevel=(?=[^,]+, radius=)", "epsilon=", now)  # of places there is one word for what may be spent
    return eval(now, {"nw": nw, "numpy": np, "math": math, "pyarrow": pa, "fractions": fractions})


def stem(path: Path) -> str:
    return path.stem


def said(*arguments: str, code: int = 0) -> str:
    """What a command prints that succeeds."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert run(list(arguments)) == code, err.getvalue()
    assert err.getvalue() == ""
    return out.getvalue()


# Certificates -------------------------------------------------------------------------------------------------------------


def test_every_certificate_has_its_expression() -> None:
    assert {path.stem for path in CERTIFICATES} == set(MADE)
    assert {path.name for path in (KEPT / "channels").iterdir()} == {*CHANNELS, "made.json"}


@pytest.mark.parametrize("path", CERTIFICATES, ids=stem)
def test_a_kept_certificate_is_read_and_proved(path: Path) -> None:
    text = path.read_text()
    certificate = (ReleaseCertificate if checker.RELEASE in text else nw.Certificate).from_json(text)
    assert certificate.to_json() == text
    if path.stem in FLOATING:
        with pytest.raises(CertificateError, match="nothing is proved about the floats"):
            certificate.verify()
    else:
        assert "".join(certificate.verify()).startswith(f"epsilon = {rounded(json.loads(text))}")


def rounded(document: dict[str, Any]) -> str:
    """The epsilon of a certificate, as it is said."""
    return checker.rounded(checker.number(document.get("claim", document.get("total"))["epsilon"]))


def test_kept_certificates_are_proved_by_the_exported_files_alone(tmp_path: Path) -> None:
    said("verify", "--export-checker", str(tmp_path / "checker.py"))
    command = [sys.executable, "-I", "checker.py", *map(str, CERTIFICATES)]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (1, "")
    verdicts = [line.partition(".json: ")[2] for line in answer.stdout.splitlines() if not line.startswith("  ")]
    assert len(verdicts) == len(CERTIFICATES)
    for path, verdict in zip(CERTIFICATES, verdicts, strict=True):
        if path.stem in FLOATING:
            assert verdict.startswith("NOT PROVED: floating: ")
        else:
            assert verdict.startswith(f"proved: epsilon = {rounded(json.loads(path.read_text()))}")


@pytest.mark.parametrize("name", MADE)
def test_a_certificate_is_made_again_byte_for_byte(name: str) -> None:
    kept = (KEPT / "certificates" / f"{name}.json").read_bytes()
    now = made(MADE[name]["make"])
    if name.startswith(SOLVED) and now.to_json().encode() != kept:
        assert now.verify()
        assert json.loads(now.to_json())["claim"] == json.loads(kept)["claim"]
    elif name in ORDERED:
        assert unordered(json.loads(now.to_json())) == unordered(json.loads(kept))
    else:
        assert now.to_json().encode() == kept


def unordered(certificate: dict[str, Any]) -> dict[str, Any]:
    """A certificate without what it says about the order of rows, and without its digest."""
    return {key: value for key, value in certificate.items() if key not in ("order", "digest")}


# Channels -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHANNELS)
def test_a_channel_is_loaded_and_saved_byte_for_byte(name: str, tmp_path: Path) -> None:
    kept = KEPT / "channels" / name
    for channel in (nw.load(kept), made(CHANNELS[name]["make"])):
        nw.save(channel, tmp_path / name)
        assert (tmp_path / name).read_bytes() == kept.read_bytes()
        (tmp_path / name).unlink()


# Releases -----------------------------------------------------------------------------------------------------------------

UNUSED = r'Dropped +[a-z, ()]+\n( {6,}[a-z, ()]+\n)*|"dropped": \[[^]]*\]|<p>Not released at all: [^<]*</p>'
"""What was said of columns that a policy does not use: nothing is said of them any more."""


OF_ORDER = "|".join(
    [
        r"  Order      of the rows: random\n",
        r"  NOT protected   the order of the rows is not stated[^\n]*\n",
        r', "order": "random"(?=, "warnings")',
        r"<li>Released rows stand in (a random order|the order of the table)[^<]*</li>",
        r"[0-9a-f]{64}|DIGEST",
    ]
)
"""What is said of the order of rows, then and now, and the digests of certificates, which are about it."""


BESIDE = "|".join(
    [
        r"(?s:  visits  95 % interval\n.*?(?=  Total ))",
        r', "[^"]+_(low|high|count|rank_off)": [^,}]+',
        r'<div class="scroll"><table><caption>The released answer: (?s:.*?)</table></div>',
        r"  Warning: [a-z, ]+: [0-9]+ of its [0-9]+ groups have no rows(?s:.*?)as in the table\.\n",
        r', "[a-z, ]+: [0-9]+ of its [0-9]+ groups have no rows[^"]*"',
        r'"fits": true, "refusal": null, (?="budget")',
        r'"error_words": "[^"]*"',
        r"99\.9999999999 ?%|practically 100 ?%",
        r" and [0-9]+ answers(?= SIMULATED)",
    ]
)
"""What is said beside: intervals of answers, on screen too, groups without rows, whether the data would be released; and how
errors and near certainty are spelled."""


DRAWN = r', "answers": \{.*?\}\]\}'
"""What was drawn, which stands in ``drawn/``."""


def but_for_order(text: str) -> str:
    return re.sub(f"{DRAWN}|{OF_ORDER}|{UNUSED}|{BESIDE}", "", text)


@pytest.mark.parametrize("name", [name for name in RUNS if name != "reread_recorded"])
def test_a_release_is_read_verified_and_made_again(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = RUNS[name]
    for file in ("policy.toml", "policy_recorded.toml", "visits.csv", "visits.parquet"):
        shutil.copy(KEPT / "release" / file, tmp_path / file)
    for needed in call.get("needs", []):
        source = KEPT / needed
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / source.name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    page = call.get("printed", "").endswith(".txt")
    more = ["--details"] * (page and call["arguments"][0] == "release")
    printed = said(*call["arguments"], *more, code=call["code"])
    if "printed" in call:
        then = functools.reduce(replaced, SAID.get(name, ()), (KEPT / call["printed"]).read_text())
        now, then = (but_for_order(renamed(text)) for text in (printed, then))
        assert (words_of(now) == words_of(then)) if page else (now == then)
    assert printed.startswith(call.get("begins", ""))
    for new, kept in call.get("writes", {}).items():
        assert Path(new).read_bytes() == (KEPT / kept).read_bytes()
    if "folder" in call:
        compare_folders(tmp_path / call["folder"], KEPT / call["kept"], call)


def words_of(page: str) -> tuple[list[str], list[str]]:
    """The words of a page for people in their order, however lines are broken: names, prices and between what, but for expected
    errors; and the verdicts, whose column stands beside broken lines.

    Exact terms are plain words now: a lattice is a rounding to steps, and the line of numbers is not named.
    """
    lines, verdicts, cut = [], [], None
    for line in page.splitlines():
        cut = (
            line.index("expected error") if "between values  " in line else None if line.startswith("  Total") else cut
        )
        plain, verdict, _ = line[:cut].partition("  proved")
        lines.append(plain)
        verdicts += [verdict] * bool(verdict)
    text = re.sub(
        r"between\s+points\s+of\s+the\s+lattice\s+\S+|rounded\s+to\s+steps\s+of\s+\S+|\(line\)", " ", "\n".join(lines)
    )
    return re.findall(r"[^\s(),;:]+", text), verdicts


DELTA = (
    r"With a probability of up to \S+ \(delta\)[^<]*|Odds are bounded up to an extra probability of \S+ \(delta\)[^<]*"
)
"""What a report says of a delta: it was called a probability of failure, which it is not."""

SAID = {
    "verify_simulated": (
        ("NOT protected   clinic, opened", 'NOT protected   "clinic", "opened"'),
        (
            """1392639.99999 apart (line),   proved
                                                             between points in steps of
                                                             122070312500000000/122070312500000003, the most
                                                             that one unit changes the answer (stated)""",
            """1392640 apart (line), the     proved
                                                             most that one unit changes the answer (stated)""",
        ),
        (
            """between points in steps of
                                                             596046447753906250/596046447753906141, the most
                                                             that one unit changes the answer (stated)""",
            """the most that one unit changes the answer
                                                             (stated)""",
        ),
        ("at most 7 apart", "at most 7 days apart"),
        ("20095 to 20300 or from 20332 to 20441", "2025-01-07 to 2025-07-31 or from 2025-09-01 to 2025-12-19"),
        ("at most 7200 apart", "at most 2 hours apart"),
        ("at most 900 apart", "at most 15 minutes apart"),
        ("within 500 of each other", "within 500 metres of each other"),
    )
}
"""What is printed otherwise now: a factor that was named by the float below it is read as the exact one that was proved, names
from the file are in quotation marks, and distances and dates are in the unit of the column."""
OLD_DIGEST = json.loads((KEPT / "release" / "simulated" / "certificate.json").read_text())["digest"]


def replaced(text: str, change: tuple[str, str]) -> str:
    assert change[0] in text
    return text.replace(*change)


def renamed(text: str) -> str:
    """Without the digest of the certificate, which follows from the names in it."""
    new = exactly_named(json.loads((KEPT / "release" / "simulated" / "certificate.json").read_text()))["digest"]
    return text.replace(OLD_DIGEST, "DIGEST").replace(new, "DIGEST")


def exactly_named(release: dict[str, Any]) -> dict[str, Any]:
    """The certificate of a release as it is written now: long factors of metrics are exact, not the float below them."""
    parts = []
    for part in release["parts"]:
        own = checker.restated(part["certificate"])
        parts.append({**part, "certificate": {**own, "digest": checker.digest(own)}})
    document = {**release, "parts": parts}
    return {**document, "digest": checker.digest(document)}


def parts_of(page: str) -> list[list[str]]:
    """The rows of the first table of a report: every part with what was done, between what, and its price.

    The page is laid out otherwise now, and has one table instead of two; what it says of each part is as it was.
    """
    table = page.partition("<table")[2].partition("</table>")[0]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
    return rows[1:]


def compare_folders(new: Path, kept: Path, call: dict[str, Any]) -> None:
    drawn = KEPT / "drawn" / kept.name
    for file in call.get("only", call["identical"]):
        now, then = ((folder / file).read_bytes() for folder in (new, kept))
        if file == CERTIFICATE:
            assert unordered(json.loads(now)) == unordered(exactly_named(json.loads(then)))
        elif file.startswith("data."):  # what is kept from a file without types is text, as each cell is spelled
            assert sorted(rows_of(new / file)) == sorted(rows_of(drawn / file)), file
        elif file.startswith("answers/"):  # with an interval beside each answer
            fresh, old, same = (pa.csv.read_csv(folder / file) for folder in (new, kept, drawn))
            assert fresh.equals(same), file
            assert {name.rpartition("_")[2] for name in fresh.column_names[old.num_columns :]} <= {
                "low",
                "high",
                "count",
                "off",
            }
        else:
            assert now == then, file
    if (kept / "report.html").exists():
        fresh, old = ((folder / "report.html").read_text() for folder in (new, kept))
        assert {row[0]: (row[2], row[3]) for row in parts_of(fresh)} == {
            row[0]: (row[2], row[3]) for row in parts_of(old)
        }
        remains = (
            {re.sub(f"{DELTA}|{OF_ORDER}", "", item) for item in re.findall("<li>.*?</li>", page)}
            for page in (fresh, old)
        )
        now, then = remains
        gone = {re.sub("<.*?>", "", item) for item in then - now}
        # Once said twice, and a table that is the first one now.
        assert all(
            said in " ".join(now) or "table above" in said for said in (words.removesuffix(".") for words in gone)
        )
    if (kept / "policy.lock").exists():
        fresh, old = (json.loads((folder / "policy.lock").read_text()) for folder in (new, kept))
        assert list(fresh) == list(old)
        # The versions of numpy and others may move on; locks of version 4 list every file of a table and the ledger's head.
        # Of the table they have the columns that the policy uses, which are a part of what was there.
        same = set(call["differ"]["policy.lock"]["same_keys"]) - {"versions", "version", "schema"}
        assert Lock(fresh).types.keys() < Lock(old).types.keys()
        assert {key: fresh[key] for key in same} == {key: old[key] for key in same}


@pytest.mark.parametrize(("name", "format"), [("simulated", "parquet"), ("csv", "csv"), ("arrow", "arrow")])
def test_rows_in_their_order_are_drawn_again(name: str, format: Any, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('order = "kept"\n' + (KEPT / "release" / "policy.toml").read_text())
    data = KEPT / "release" / RUNS[name]["arguments"][2]
    nw.release(policy, data, output=tmp_path / "out", format=format, seed=7)
    kept, drawn = (folder / f"data.{format}" for folder in (KEPT / RUNS[name]["kept"], KEPT / "drawn" / name))
    then, now = rows_of(kept), rows_of(tmp_path / "out" / kept.name)
    assert now == rows_of(drawn)
    assert len(now) == len(then)
    assert [ast.literal_eval(row)["clinic"] for row in now] == [ast.literal_eval(row)["clinic"] for row in then]


def test_an_output_from_before_is_not_taken_for_one_in_random_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was read again, and nothing drawn; its rows stand in the order of the table, which its policy keeps no longer."""
    call = RUNS["reread_recorded"]
    for kept in ("policy_recorded.toml", "visits.parquet", "ledger.sqlite"):
        shutil.copy(KEPT / "release" / kept, tmp_path / kept)
    shutil.copytree(KEPT / "release" / "recorded", tmp_path / "recorded")
    monkeypatch.chdir(tmp_path)
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        assert run(call["arguments"]) == 2
    assert "recorded is there already" in err.getvalue()


def rows_of(path: Path) -> list[str]:
    """The rows of a table, each cell as it is spelled."""
    source = source_of(path)
    rows = (row for batch in source.batches(source.schema.names) for row in batch.to_pylist())
    return [repr({name: str(value) for name, value in row.items()}) for row in rows]


# Messages -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder_of_bad_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in MESSAGES["files"].items():
        (tmp_path / name).write_text(text)
    for kept, name in MESSAGES["copies"].items():
        shutil.copy(KEPT / kept, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    for key, value in MESSAGES["environment"].items():
        monkeypatch.setenv(key, value)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    yield tmp_path
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before, "something was left behind"


@pytest.mark.usefixtures("folder_of_bad_files")
def test_bad_calls_are_refused_in_the_same_words() -> None:
    """By an error of the same class, or of a narrower one: whoever catches the first catches both."""
    differ = {}
    for call in MESSAGES["calls"]:
        now = CHANGED.get(call["call"], Changed("", (call["class"], call["message"])))
        expected: tuple[Any, ...] = now.says
        answer: tuple[Any, ...]
        try:
            answer = ("nothing", repr(made(now.call or call["call"])))
        except Exception as problem:
            narrower = any(one.__name__ == expected[0] for one in type(problem).__mro__)
            answer = (expected[0] if narrower else type(problem).__name__, str(problem))
            if "problems" in call and [str(one) for one in getattr(problem, "problems", ())] != call["problems"]:
                differ[call["call"]] = (call["problems"], getattr(problem, "problems", None))
        if answer != expected:
            differ[call["call"]] = (expected, answer)
    assert differ == {}


@pytest.mark.usefixtures("folder_of_bad_files")
def test_bad_command_lines_are_refused_in_the_same_words() -> None:
    differ = {}
    for call in MESSAGES["commands"]:
        line = " ".join(call["arguments"])
        now = CHANGED.get(line, Changed("", (call["code"], call["stdout"], call["stderr"])))
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(now.call.split() or call["arguments"])
        if (code, out.getvalue(), err.getvalue()) != now.says:
            differ[line] = (now.says, (code, out.getvalue(), err.getvalue()))
    assert differ == {}


def test_exceptions_are_about_kept_calls() -> None:
    known = {call["call"] for call in MESSAGES["calls"]} | {
        " ".join(call["arguments"]) for call in MESSAGES["commands"]
    }
    assert set(CHANGED) <= known
    assert all(now.why for now in CHANGED.values())
