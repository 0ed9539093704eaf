"""Certificates of releases: what they prove, and that no forgery that breaks the arithmetic is proved."""

from __future__ import annotations

import copy
import itertools
import json
import math
import random
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_samples import COLUMNS, sample_plan

import noisewright as nw
from noisewright.certificates.checker import checker, checker_noise, checker_release, checker_version1, checker_words
from noisewright.certificates.checker.checker import NotProved
from noisewright.claims import phrases
from noisewright.cli import run
from noisewright.exceptions import CertificateError
from noisewright.ledger.ledger import Ledger
from noisewright.policy.policy import Policy
from noisewright.releases.certificate import ReleaseCertificate
from noisewright.releases.plan import make_plan

Document = dict[str, Any]
PLAN = sample_plan()
HONEST: Document = json.loads(ReleaseCertificate.build(PLAN, simulated=False).to_json())
NAMES = [part["name"] for part in HONEST["parts"]]
BESIDE = (checker_noise, checker_release, checker_words, checker_version1, phrases)
SHOWN = " (whether one is missing is shown)"


def signed(document: Document) -> Document:
    return {**document, "digest": checker.digest(document)}


def forged(change: Any, again: bool = True) -> Document:
    """The honest document after a change, with a digest (and, with ``again``, inner digests) that fit."""
    document = copy.deepcopy(HONEST)
    change(document)
    for part in document["parts"] if again and isinstance(document.get("parts"), list) else []:
        if isinstance(part, dict) and isinstance(part.get("certificate"), dict):
            part["certificate"] = signed(part["certificate"])
    return signed(document)


def add_up(document: Document) -> None:
    """Make the total fit, as a careful forger would."""
    for name, field in (("epsilon", "price"), ("delta", "delta")):
        document["total"][name] = str(sum((Fraction(part[field]) for part in document["parts"]), Fraction(0)))


def part_of(document: Document, name: str) -> Document:
    found: Document = next(part for part in document["parts"] if part["name"] == name)
    return found


def refusal(document: Document) -> str:
    with pytest.raises(NotProved) as problem:
        checker.check(document)
    return str(problem.value)


# What is proved -----------------------------------------------------------------------------------------------------------


def test_an_honest_release_is_proved_and_read_out() -> None:
    first, *parts = ReleaseCertificate(HONEST).verify()
    total = 3 * (Fraction(1, 2) + 1 + 1 + Fraction("1.4")) + Fraction(1, 2) + Fraction(1, 4)
    assert Fraction(HONEST["total"]["epsilon"]) == total == PLAN.epsilon
    assert first == (
        f"epsilon = {float(total):g} between two tables with the same rows of every patient, in which the rows of one patient "
        "(at most 3) have other values: by at most 5 in age, by any two values in smoker, by at most 7 days in day, by at most "
        "500 metres in latitude with longitude, by nothing in ward; 7 parts:"
    )
    words = "\n".join(parts)
    assert 'column "age": epsilon = 1.5 for whole numbers at most 5 apart (line), 3 times 0.5' in words
    assert 'column "smoker": epsilon = 3 for any two values that differ, 3 times 1' in words
    assert "values at most 7 apart (line)" in words
    assert "any two places within 500 of each other (metres around (53.45, -2.2)" in words
    assert "if the map makes at most 505" in words  # which is a matter of geography
    assert 'query "mean age", "sum": epsilon = 0.125 for whole numbers at most' in words
    assert "  the number of rows, in all and of each patient: NOT protected" in parts
    assert 'kept as they are, NOT protected: "ward"' in words


def test_one_part_for_each_statistic_and_the_prices_add_up() -> None:
    mean = [part for part in HONEST["parts"] if part["name"] == "mean age"]
    assert [part["statistic"] for part in mean] == ["sum", "count"]
    assert sum(Fraction(part["price"]) for part in mean) == Fraction(1, 4)
    assert [part["times"] for part in HONEST["parts"] if part["kind"] == "column"] == [3] * 4


def test_reading_back() -> None:
    again = ReleaseCertificate.from_json(ReleaseCertificate(HONEST).to_json())
    assert again.document == HONEST
    assert again.digest == HONEST["digest"]
    for text, words in (("{", "not JSON"), ("[1]", "not the certificate of a release"), ('{"format": 1}', "not the")):
        with pytest.raises(CertificateError, match=words):
            ReleaseCertificate.from_json(text)


def test_a_simulation_says_so() -> None:
    made = ReleaseCertificate.build(PLAN, simulated=True)
    assert made.verify()[-1].strip() == "a simulation with a known seed: NOT FOR RELEASE"
    assert "not for release" in made.document["randomness"]


def test_an_exact_answer_is_listed_as_not_protected() -> None:
    policy = {"dataset": "d", "budget": {"epsilon": 9}, "columns": COLUMNS[1:2], "neighbours": "replace"}
    queries = [{"name": "all rows", "aggregate": "count", "epsilon": 1}]
    plan = make_plan(Policy.from_dict({**policy, "queries": queries}), {"smoker": pa.bool_()})
    made = ReleaseCertificate.build(plan, simulated=False)
    assert made.document["exact"] == ["all rows"]
    assert made.verify()[-1].strip() == 'answered exactly, NOT protected: "all rows"'


def test_the_total_bounds_the_loss_of_the_joint_release() -> None:
    """An oracle: the joint channel of two perturbed columns, entry by entry."""
    columns = [
        {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": "0.7"},
        {"name": "age", "mechanism": "geometric", "within": [0, 6], "protect": 2, "epsilon": 1},
    ]
    policy = Policy.from_dict({"dataset": "d", "budget": {"epsilon": 9}, "columns": columns})
    plan = make_plan(policy, {"smoker": pa.bool_(), "age": pa.int64()})
    made = ReleaseCertificate.build(plan, simulated=False)
    made.verify()
    smoker, age = (np.asarray(column.mechanism.channel().matrix) for column in plan.columns if column.mechanism)
    worst = 0.0
    for (s, a), (t, b) in itertools.product(itertools.product(range(2), range(7)), repeat=2):
        if abs(a - b) <= 2:
            joint = [np.outer(smoker[i], age[j]) for i, j in ((s, a), (t, b))]
            worst = max(worst, float(np.max(np.log(joint[0] / joint[1]))))
    assert worst <= float(Fraction(made.document["total"]["epsilon"])) + 1e-12
    assert worst == pytest.approx(1.7, abs=1e-9)  # and it is no larger than needed


# Forgeries ----------------------------------------------------------------------------------------------------------------


def cheaper(name: str, share: Fraction) -> Any:
    def change(document: Document) -> None:
        part = part_of(document, name)
        part["price"] = str(Fraction(part["price"]) * share)
        add_up(document)

    return change


@pytest.mark.parametrize("name", sorted(set(NAMES)))
def test_no_part_can_be_made_cheaper(name: str) -> None:
    assert "price is too low" in refusal(forged(cheaper(name, Fraction(999_999, 1_000_000))))


@given(place=st.integers(0, len(HONEST["parts"]) - 1), share=st.fractions(0, 1))
def test_any_lower_price_is_refused_and_any_higher_one_proved(place: int, share: Fraction) -> None:
    def change(document: Document) -> None:
        part = document["parts"][place]
        part["price"] = str(Fraction(part["price"]) * share)
        add_up(document)

    document = forged(change)
    if share < 1:
        assert "price is too low" in refusal(document)
    else:
        assert checker.check(document)


FORGERIES: dict[str, tuple[Any, str]] = {
    "a price that the total does not know": (lambda d: d["parts"][0].update(price="1000"), "not the sum"),
    "a smaller total": (lambda d: d["total"].update(epsilon="1"), "not the sum"),
    "a smaller total delta": (lambda d: d["total"].update(delta="-1/2"), "not the sum"),
    "a part left out": (lambda d: d["parts"].pop(2), "not the sum"),
    "all parts left out": (lambda d: d["parts"].clear(), "only there"),
    "fewer rows in one column": (lambda d: d["parts"][0].update(times=1), "once for each row"),
    "more rows of a unit": (lambda d: d["neighbours"].update(rows=4), "once for each row"),
    "fewer rows of a unit": (lambda d: d["neighbours"].update(rows=2), "once for each row"),
    "no rows of a unit": (lambda d: d["neighbours"].update(rows=0), "not stated properly"),
    "true for a number of rows": (lambda d: d["neighbours"].update(rows=True), "whole number"),
    "a negative number of times": (lambda d: d["parts"][-1].update(times=-1), "price is too low"),
    "a larger distance": (lambda d: part_of(d, "age").update(distance="6/5"), "price is too low"),
    "any two ages": (lambda d: part_of(d, "age").update(distance="any"), "price is too low"),
    "a distance across the closed season": (lambda d: part_of(d, "day").update(distance="2"), "so far apart"),
    "a negative distance": (lambda d: part_of(d, "age").update(distance="-1"), "as near as"),
    "no distance": (lambda d: part_of(d, "age").update(distance="0"), "as near as"),
    "no distance between neighbours": (lambda d: part_of(d, "day").update(distance="0"), "as near as"),
    "no distance of an answer": (lambda d: part_of(d, "smokers").update(distance="0"), "as near as"),
    "a distance that no two categories have": (
        lambda d: (part_of(d, "smoker").update(distance="1e-6", price="1e-5"), add_up(d)),
        "as near as",
    ),
    "categories for nothing": (
        lambda d: (part_of(d, "smoker").update(distance="0", price="0"), add_up(d)),
        "as near as",
    ),
    "a radius of categories": (
        lambda d: (
            part_of(d, "smoker")["certificate"]["claim"].update(level="0", radius="1000000"),
            part_of(d, "smoker").update(distance="radius", price="0"),
            add_up(d),
        ),
        "it claims more than",
    ),
    "values that end before they begin": (
        lambda d: (
            part_of(d, "age")["certificate"]["proof"].update(clamp=[9, 0]),
            part_of(d, "age").update(distance="any"),
        ),
        "not two whole numbers in order",
    ),
    "a radius where there is none": (
        lambda d: part_of(d, "age").update(distance="radius"),
        "only a certificate about noise in the plane",
    ),
    "a wider radius": (
        lambda d: part_of(d, "latitude, longitude")["certificate"]["claim"].update(radius="600"),
        "radius",
    ),
    "a part twice": (lambda d: (d["parts"].append(d["parts"][0]), add_up(d)), "two parts called"),
    "a kept column that is protected": (lambda d: d["kept"].append("age"), "not kept beside that"),
    # A table that has other rows of a unit shows that by itself: released rows can be counted.
    "other neighbours": (lambda d: d["neighbours"].update(relation="add-remove"), "neighbours have the same rows"),
    "several rows of a unit that is a row": (lambda d: d["neighbours"].update(unit=None), "not stated properly"),
    "neighbours of another kind": (lambda d: d["neighbours"].update(relation="fixed-rows"), "not know such neighbours"),
    "neighbours in words": (lambda d: d.update(neighbours="two tables that differ in one row"), "malformed"),
    "neighbours that say more": (lambda d: d["neighbours"].update(kept="hidden"), "not stated properly"),
    "a unit that is no name": (lambda d: d["neighbours"].update(unit=["patient"]), "not know such neighbours"),
    "a sentence of its own": (lambda d: d.update(between="any two tables"), "fields that this checker does not know"),
    "a part in words": (lambda d: part_of(d, "age").update(protects="at most 5"), "malformed"),
    "a part that protects more than is paid": (
        lambda d: part_of(d, "age")["protects"].update(distance="6"),
        "not what the distance that is paid for covers",
    ),
    "a part that protects any two values": (
        lambda d: part_of(d, "age").update(protects={"kind": "any"}),
        "only if all of their distances are paid for",
    ),
    "a part that protects words of its own": (
        lambda d: part_of(d, "age")["protects"].update(called="any two values"),
        "fields that this checker does not know",
    ),
    "a part that protects years for days": (
        lambda d: part_of(d, "day")["protects"].update(unit="year"),
        "none that its type and its metric have",
    ),
    "a part that protects hours for days": (
        lambda d: part_of(d, "day")["protects"].update(type="time"),
        "not what the distance that is paid for covers",
    ),
    "a part that protects places of another metric": (
        lambda d: part_of(d, "latitude, longitude")["protects"].update(metric={"base": "discrete"}),
        "another metric than its certificate",
    ),
    "an answer that says what it protects": (
        lambda d: part_of(d, "smokers").update(protects={"kind": "any"}),
        "fields that this checker does not know",
    ),
    "a kind of part": (lambda d: d["parts"][0].update(kind="kept"), "unknown kind"),
    "other randomness": (lambda d: d.update(randomness="dice"), "randomness"),
    "a simulated part": (
        lambda d: d["parts"][0]["certificate"].update(randomness="numpy generator: simulation, not for release"),
        "randomness",
    ),
    "a smaller claim inside": (lambda d: part_of(d, "smoker")["certificate"]["claim"].update(epsilon="1/2"), "broken"),
    "a claim said to be floating": (lambda d: d["parts"][0]["certificate"].update(numerics="floating"), "not allow"),
    "a delta that is not paid": (lambda d: d["parts"][0].update(delta="-1"), "price is too low"),
    "a version": (lambda d: d.update(version=3), "version"),
    "a version that is true": (lambda d: d.update(version=True), "version"),
    "a float for a price": (lambda d: d["parts"][0].update(price=1.5), "not a number"),
    "true for a number of times": (lambda d: d["parts"][-1].update(times=True), "whole number"),
    "a name that a terminal obeys": (lambda d: d["parts"][0].update(name="\x1b[8m" * 500), "not named properly"),
    "kept columns without names": (lambda d: d.update(kept=[""]), "not listed properly"),
    "no parts": (lambda d: d.pop("parts"), "malformed"),
    "parts that are no list": (lambda d: d.update(parts={}), "list"),
    "a part that is none": (lambda d: d["parts"].append(None), "malformed"),
    "no certificate": (lambda d: d["parts"][0].pop("certificate"), "lacks some"),
    "a release inside a release": (lambda d: d["parts"][0].update(certificate=copy.deepcopy(HONEST)), "malformed"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_with_fitting_digests_are_refused(name: str) -> None:
    change, words = FORGERIES[name]
    assert words in refusal(forged(change))


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(range(len(HONEST["parts"])), 2)))
def test_swapped_certificates_prove_nothing_that_is_false(one: int, other: int) -> None:
    """Either the prices no longer cover what the certificates allow, or what is proved is what these certificates say."""

    def swap(document: Document) -> None:
        first, second = document["parts"][one], document["parts"][other]
        first["certificate"], second["certificate"] = second["certificate"], first["certificate"]

    document = forged(swap)
    try:
        checker.check(document)
    except NotProved:
        return
    for part in (document["parts"][one], document["parts"][other]):
        loss, _ = checker_release.loss_of(part["certificate"], part["distance"])
        assert Fraction(part["price"]) >= part["times"] * loss


def test_swapped_certificates_of_two_columns_are_refused() -> None:
    def swap(document: Document) -> None:
        first, second = part_of(document, "age"), part_of(document, "smoker")
        first["certificate"], second["certificate"] = second["certificate"], first["certificate"]

    assert "price is too low" in refusal(forged(swap))


def test_an_edit_without_a_new_digest_is_refused() -> None:
    document = copy.deepcopy(HONEST)
    document["dataset"] = "another"
    assert "digest" in refusal(document)
    document = copy.deepcopy(HONEST)
    document["parts"][0]["certificate"]["mechanism"] = "another"
    assert "digest" in refusal(signed(document))


def test_a_weaker_claim_is_proved_as_what_it_is() -> None:
    """A little more of the distance is true as well; half of it is not what the part says that it protects."""

    def change(document: Document) -> None:
        part = part_of(document, "age")
        part.update(distance="6/5", price=str(Fraction(part["price"]) * 6 / 5))
        add_up(document)

    def halve(document: Document) -> None:
        part = part_of(document, "age")
        part.update(distance="1/2", price=str(Fraction(part["price"]) / 2))
        add_up(document)

    assert "epsilon = 1.8 for whole numbers at most 6 apart (line)" in checker.check(forged(change))
    assert "not what the distance that is paid for covers" in refusal(forged(halve))


def test_names_from_the_file_are_spelled_out() -> None:
    shown = checker.check(forged(lambda d: d["parts"][0].update(name='a"\n\x1b[8mb')))
    assert r'column "a\"' not in shown
    assert "\x1b" not in shown
    assert r"\n\x1b[8mb" in shown


# Distances ----------------------------------------------------------------------------------------------------------------


def certificate(**changes: Any) -> Document:
    metric = {"base": "line"}
    claim = {"epsilon": "1/2", "delta": "0", "metric": metric, "distances": {"shape": "adjacent", "distance": "1"}}
    proof = changes if "kind" in changes else {"kind": "law", "law": "staircase", **changes}
    return {"claim": {**claim, **changes.pop("claim", {})}, "proof": proof}


def test_a_claim_between_neighbours_costs_whole_steps() -> None:
    assert checker_release.loss_of(certificate(), "1")[0] == Fraction(1, 2)
    assert checker_release.loss_of(certificate(), "1/3")[0] == Fraction(1, 2)
    assert checker_release.loss_of(certificate(), "5/2")[0] == Fraction(3, 2)
    with pytest.raises(NotProved, match="so far apart"):
        checker_release.loss_of(certificate(claim={"delta": "1e-9"}), "5/2")
    with pytest.raises(NotProved, match="so far apart"):
        checker_release.loss_of(certificate(kind="ranged", inputs=[[0, 1], [5, 6]]), "5/2")
    assert checker_release.loss_of(certificate(kind="ranged", inputs=[[0, 6]]), "5/2")[0] == Fraction(3, 2)


@pytest.mark.parametrize(
    ("distances", "proof", "loss", "words"),
    [
        ({"shape": "uniform", "distance": "2"}, {}, 1, "any two values that differ"),
        ({"shape": "line", "places": ["0", "3", "1"]}, {}, Fraction(3, 2), "any two of its values (line)"),
        ({"shape": "table", "distances": ["1", "2", "4"]}, {}, 2, "any two of its values"),
        ({"shape": "steps", "distance": "1/4"}, {"clamp": [-4, 40]}, Fraction(11, 2), "any two values from -1 to 10"),
        (
            {"shape": "steps", "distance": "1"},
            {"kind": "ranged", "inputs": [[0, 2], [4, 9]]},
            Fraction(9, 2),
            "from 0 to 9",
        ),
    ],
)
def test_any_two_values(distances: Any, proof: Any, loss: Fraction, words: str) -> None:
    found = checker_release.loss_of(certificate(claim={"distances": distances}, **proof), "any")
    assert found[0] == loss
    assert words in phrases.pair(found[1])


@pytest.mark.parametrize(
    ("distances", "proof"),
    [
        ({"shape": "steps", "distance": "1"}, {"clamp": None}),
        ({"shape": "steps", "distance": "1"}, {}),
        ({"shape": "steps", "distance": "1"}, {"kind": "ranged", "inputs": [[0, None]]}),
        ({"shape": "table", "distances": ["1", "inf", "4"]}, {}),
        ({"shape": "steps", "distance": "1"}, {"kind": "planar"}),
    ],
)
def test_any_two_values_of_something_without_bounds(distances: Any, proof: Any) -> None:
    with pytest.raises(NotProved, match="not about values within bounds"):
        checker_release.loss_of(certificate(claim={"distances": distances}, **proof), "any")


def released(certificate: Document, **part: Any) -> Document:
    """A release of one column with one certificate."""
    head = {"made_by": "a forger", "mechanism": "forged"}
    bits = {"numerics": "exact", "randomness": checker.RELEASED}
    inner = {"format": checker.FORMAT, "version": checker.VERSION, **bits, **head, **certificate}
    near = {"kind": "near", "type": "number", "distance": part["distance"]}
    protects = {"kind": "any"} if part["distance"] == "any" else near
    column = {
        "kind": "column",
        "name": "c",
        "columns": ["c"],
        "times": 1,
        "delta": "0",
        "protects": protects,
        **part,
    }
    document = {
        "format": checker_release.FORMAT,
        "version": checker_release.VERSION,
        "neighbours": {"relation": "same-rows", "unit": None, "rows": 1},
        "kept": [],
        "context_aware": [],
        "exact": [],
        "order": "random",
        "floating": False,
        "parts": [{**column, "certificate": signed(inner)}],
        "total": {"epsilon": column["price"], "delta": "0"},
        "randomness": checker.RELEASED,
        "made_by": "a forger",
        "dataset": "d",
    }
    return signed(document)


def test_the_words_of_a_part_say_what_its_certificate_leaves_out() -> None:
    """Points in steps, answers, and distances that only the file states are limits of the part as well."""
    near = {"shape": "adjacent", "distance": "1"}
    ends = {"step": "1", "within": [["0", "4"], ["9", "10"]], "answers": [["0", "3"], ["9", "10"]]}
    ranges = {"kind": "ranged", "rate": "1/2", "precision": 128, "reach": 1}
    points = {"ranges": [[0, 4], [9, 10]], "inputs": [[0, 3], [9, 10]]}
    gaps = {**certificate(claim={"epsilon": "1", "distances": near}, **ranges, **points), **ends}
    assert "for values at most 1 apart (line), for answers from 0 to 3 or from 9 to 10" in checker.check(
        released(gaps, distance="1", price="1")
    )
    plane = certificate(
        kind="planar",
        rate="1/8",
        claim={"metric": {"base": "euclidean"}, "distances": {"shape": "steps", "distance": "1/4"}},
    )
    assert "values at most 3 apart (euclidean), between points in steps of 1/4" in checker.check(
        released(plane, distance="3", price="3/2")
    )
    table = {"kind": "table", "width": 2, "precision": 64, "table": [["2", "2"], ["2", "2"]]}
    own = {"called": "line), and any two values that differ (discrete"}
    cube = certificate(**table, claim={"metric": own, "distances": {"shape": "table", "distances": ["7"]}})
    assert "apart ('line), and any two values that differ (discrete');" in checker.check(
        released(cube, distance="7", price="7/2")
    )
    cube["claim"]["metric"] = {"called": "streets"}
    for distance in ("7", "any"):
        assert "; distances as stated in the file" in checker.check(released(cube, distance=distance, price="7/2"))


LINE = {"metric": {"base": "line"}, "distances": {"shape": "steps", "distance": "1"}}
NEAR = {"kind": "near", "type": "number", "distance": "5"}
ANY = {"kind": "any"}
BEYOND = "what it says to protect is not what the distance that is paid for covers"
NO_UNIT = "the unit of its distance is none that its type and its metric have"
STRANGE = "has fields that this checker does not know"
UNPAID = "any two values are protected only if all of their distances are paid for"
UNKNOWN = "what it protects is not stated as this checker knows it"


@pytest.mark.parametrize(
    ("protects", "words", "problem"),
    [
        (NEAR, "at most 5", None),
        ({**NEAR, "distance": "1/2"}, "at most 0.5", None),
        ({**NEAR, "type": "date", "unit": "day"}, "at most 5 days", None),  # a unit of the line is a day, or a second
        ({**NEAR, "type": "time", "unit": "second"}, "at most 5 seconds", None),
        ({**NEAR, "metric": {"base": "line"}}, "at most 5 (line)", None),
        ({**NEAR, "missing": "shown"}, "at most 5 (whether one is missing is shown)", None),
        ({**NEAR, "other": "b"}, 'at most 5 (what is not declared counts as "b")', None),
        (ANY, None, UNPAID),
        ({**ANY, "range": "stated"}, None, UNPAID),
        ({**NEAR, "distance": "6"}, None, BEYOND),
        ({**NEAR, "distance": "5.0000001"}, None, BEYOND),
        ({**NEAR, "type": "date", "unit": "day", "distance": "6"}, None, BEYOND),
        ({**NEAR, "type": "time", "unit": "minute", "distance": "1"}, None, BEYOND),
        ({**NEAR, "type": "time", "unit": "hour", "distance": "1"}, None, BEYOND),
        ({**NEAR, "type": "time", "unit": "day", "distance": "1"}, None, BEYOND),
        ({**NEAR, "type": "time", "unit": "year"}, None, NO_UNIT),
        ({**NEAR, "type": "date"}, None, NO_UNIT),  # five of what?
        ({**NEAR, "type": "date", "unit": "second"}, None, NO_UNIT),
        ({**NEAR, "type": "place", "unit": "metre"}, None, NO_UNIT),  # the line is no globe
        ({**NEAR, "unit": "day"}, None, NO_UNIT),
        ({**NEAR, "type": "wealth"}, None, NO_UNIT),
        ({**NEAR, "metric": {"base": "line", "factor": "2"}}, None, "another metric than its certificate"),
        ({**NEAR, "metric": {"called": "any two values"}}, None, "another metric than its certificate"),
        ({**NEAR, "missing": "hidden"}, None, UNKNOWN),
        ({**NEAR, "kind": "far"}, None, UNKNOWN),
        ({**NEAR, "words": "any two values"}, None, STRANGE),
        ({"kind": "near", "distance": "5"}, None, "malformed"),
        ({"kind": "near", "type": "number"}, None, STRANGE),
        ("any two values", None, "malformed"),
    ],
)
def test_what_is_said_to_be_protected_does_not_go_beyond_the_distance(
    protects: Any, words: str | None, problem: str | None
) -> None:
    noise = certificate(kind="law", law="discrete laplace", scale="1", clamp=[0, 110], claim={"epsilon": "1", **LINE})
    document = released(noise, distance="5", price="5", protects=protects)
    if words is not None:
        told = checker.check(document)
        assert told.startswith(
            f"epsilon = 5 between {phrases.neighbours(document['neighbours'])}: by {words} in c; 1 part:"
        )
        assert "whole numbers at most 5 apart" in told
    else:
        assert str(problem) in refusal(document)
    everything = released(noise, distance="110", price="110", protects=ANY)
    assert "whole numbers at most 110 apart" in checker.check(everything)


@pytest.mark.parametrize("distance", ["5", "any"])
def test_any_two_values_are_those_of_the_certificate_or_of_a_range_that_is_said_to_be_stated(distance: str) -> None:
    """Noise without ends makes values 5 apart look alike, and says nothing of two that are a million apart."""
    law = {"kind": "law", "law": "discrete laplace", "scale": "1", "claim": {"epsilon": "1", **LINE}}
    endless = certificate(**copy.deepcopy(law))
    ended = {**certificate(**copy.deepcopy(law), clamp=[0, 5])}
    assert "by any two values in c" in checker.check(released(ended, distance=distance, price="5", protects=ANY))
    beyond = {**ended, "outside": "keep"}  # values from beyond the ends are taken as they are
    for noise in (beyond, *([endless] if distance == "5" else [])):
        assert UNPAID in refusal(released(noise, distance=distance, price="5", protects=ANY))
        stated = released(noise, distance=distance, price="5", protects={**ANY, "range": "stated"})
        assert "by any two values of the stated range in c" in checker.check(stated)
    odd = released(ended, distance=distance, price="5", protects={**ANY, "range": "wide"})
    assert UNPAID in refusal(odd)


@pytest.mark.parametrize(
    ("mechanism", "outside", "words"),
    [
        ("geometric", "refuse", "any two values"),
        ("geometric", "clamp", "any two values"),
        ("geometric", "keep", "any two values of the stated range"),
        ("staircase", "clamp", "any two values of the stated range"),
        ("staircase", "keep", "any two values of the stated range"),
    ],
)
def test_a_release_that_takes_values_from_beyond_its_range_does_not_say_any(
    mechanism: str, outside: str, words: str, tmp_path: Path
) -> None:
    """500 and -300 come out of a range of [0, 10] as 10 and 0, nearly always: an epsilon of 1 is not about those."""
    asked = {"name": "x", "mechanism": mechanism, "within": [0, 10], "outside": outside, "protect": "any", "epsilon": 1}
    table = pa.table({"x": [500, -300] * 200 if outside == "keep" else [5, 2]})
    policy = {"dataset": "d", "budget": {"epsilon": 9}, "columns": [asked]}
    done = nw.release(policy, table, ledger=tmp_path / "ledger")
    if outside == "keep":
        assert done.data["x"].to_pylist().count(10) == done.data["x"].to_pylist().count(0) == 200
    assert done.plan.between.endswith(f": by {words} in x")
    assert nw.verify(done.certificate).claim == f"epsilon = 1 between {done.plan.between}"
    account = Ledger(tmp_path / "ledger").remaining("d").between
    recorded = ": by at most 10 in x" if outside == "keep" else ": by any two values in x"
    assert account.endswith(recorded + phrases.NOT_RECORDED)


@pytest.mark.parametrize(
    ("name", "asked", "protects"),
    [
        ("x", {"mechanism": "truncated-laplace", "within": [0, 100]}, "any two values of the stated range"),
        ("x", {"mechanism": "snapped-laplace", "within": [0, 100]}, "any two values of the stated range"),
        ("x", {"mechanism": "geometric", "within": [0, 100], "missing": "keep"}, "any two values" + SHOWN),
        ("x", {"mechanism": "laplace", "within": [0, 100], "protect": "1/3"}, "at most 1/3"),
        (["x", "y"], {"mechanism": "product-laplace", "protect": 2}, "at most 2 (manhattan)"),
        ("v", {"mechanism": "curve", "grid": [0, 1, 2], "protect": 2}, "at most 2 (largest of 3 differences)"),
        ("v", {"mechanism": "lshrr", "bits": 8, "seed": "00" * 32, "protect": 4}, "at most 4 differing bits"),
        (["x", "y"], {"mechanism": "geo-laplace", "reference": [1, 2], "protect": 500}, "at most 500 metres"),
    ],
)
def test_words_of_every_kind_are_proved_where_they_are_paid_for(name: Any, asked: Document, protects: str) -> None:
    vectors = pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2.0, 3.0]), 3)
    table = pa.table({"x": [1.0], "y": [2.0], "v": vectors})
    column = {"name": name, "epsilon": 1, **asked}
    done = nw.release({"dataset": "d", "budget": {"epsilon": 9}, "columns": [column]}, table, seed=1)
    (part,) = done.certificate.document["parts"]
    assert phrases.by(part["protects"]) == protects
    assert nw.verify(done.certificate).proved


@pytest.mark.parametrize(
    ("metric", "shape", "norm", "coordinates", "least"),
    [
        ({"base": "manhattan"}, "steps", None, 3, 30),
        ({"base": "sum", "count": 3}, "adjacent", "l1", 3, 30),
        ({"base": "largest", "count": 3}, "adjacent", "sup", 3, 10),
        ({"base": "line"}, "steps", None, 1, 10),
    ],
)
def test_any_two_values_differ_in_all_their_coordinates(
    metric: Document, shape: str, norm: str | None, coordinates: int, least: int
) -> None:
    proof = {"law": "discrete laplace", "scale": "3", "clamp": [0, 10], "coordinates": coordinates}
    claim = {"epsilon": "1", "metric": metric, "distances": {"shape": shape, "distance": "1"}}
    noise = certificate(kind="law", **proof, **({"norm": norm} if norm else {}), claim=claim)
    assert checker.check(released(noise, distance="any", price=str(least)))
    assert "its price is too low" in refusal(released(noise, distance="any", price=str(least - 1)))


def test_whatever_a_part_is_proved_to_cost_covers_the_values_that_its_words_name() -> None:
    """An oracle: the largest log-ratio of small random tables over the pairs of labels that the words are about."""
    rng, outcomes = random.Random(4), set()
    for _ in range(2000):
        size, base = rng.randint(2, 4), rng.choice(["line", "discrete"])
        labels = rng.sample(range(6), size)
        rows = [[entry, 16 - entry] for entry in rng.choices(range(1, 16), k=size)]
        pairs = list(itertools.combinations(range(size), 2))
        named = {(i, j): abs(labels[i] - labels[j]) if base == "line" else 1 for i, j in pairs}
        shape = rng.choice(["line", "table"] if base == "line" else ["uniform", "table"])
        # What is stated may be less than what is named, which claims more.
        shares = [Fraction(1, rng.choice([1, 1, 3]))] * len(pairs)
        shares = shares if shape != "table" else [Fraction(1, rng.choice([1, 1, 3])) for _ in pairs]
        below = {pair: share * named[pair] for pair, share in zip(pairs, shares, strict=True)}
        stated = {
            "line": {"shape": "line", "places": [str(shares[0] * label) for label in labels]},
            "uniform": {"shape": "uniform", "distance": str(shares[0])},
            "table": {"shape": "table", "distances": [str(distance) for distance in below.values()]},
        }[shape]
        losses = {(i, j): max(abs(math.log(a / b)) for a, b in zip(rows[i], rows[j], strict=True)) for i, j in pairs}
        epsilon = Fraction(max(losses[pair] / below[pair] for pair in pairs)) + Fraction(1, 10**9)
        distance = rng.choice(["any", "0", "1/2", "1", "3/2", "2", "5"])
        price = epsilon * rng.choice([0, Fraction(1, 3), Fraction(1, 2), 1, Fraction(3, 2), 2, 5])
        proof = {"kind": "table", "width": 4, "precision": 96, "table": [[f"{v:x}" for v in row] for row in rows]}
        inner = {
            "claim": {"epsilon": str(epsilon), "delta": "0", "metric": {"base": base}, "distances": stated},
            "proof": proof,
            "inputs": labels,
        }
        try:
            words = checker.check(released(inner, distance=distance, price=str(price)))
        except NotProved:
            outcomes.add((base, distance, False))
            continue
        outcomes.add((base if shape != "uniform" else shape, distance, True))
        most = re.search(r"for values at most ([0-9.]+) apart \(line\)", words)
        assert most or "for any two " in words
        covered = [pair for pair in pairs if most is None or named[pair] <= Fraction(most[1])]
        assert all(losses[pair] <= price for pair in covered), (inner, words)
    assert {(base, "any", proved) for base in ("line", "discrete") for proved in (True, False)} <= outcomes
    vacuous = {(base, distance, True) for base in ("line", "discrete") for distance in ("0", "1/2")}
    assert not vacuous & outcomes  # nothing is nearer than 1


# Floating -----------------------------------------------------------------------------------------------------------------


def floating_release() -> Document:
    columns = [
        {"name": ["x", "y", "z"], "mechanism": "spherical-laplace", "protect": 2, "epsilon": 1},
        {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1},
    ]
    policy = {"dataset": "d", "budget": {"epsilon": 9}, "floating": True, "columns": columns}
    types = {"x": pa.float64(), "y": pa.float64(), "z": pa.float64(), "smoker": pa.bool_()}
    plan = make_plan(Policy.from_dict(policy), types)
    return dict(ReleaseCertificate.build(plan, simulated=False).document)


def test_a_floating_part_is_named_and_the_whole_is_not_proved() -> None:
    document = floating_release()
    words = refusal(document)
    assert words.startswith("floating: everything is proved but 'x, y, z', where a theorem holds for real numbers")
    with pytest.raises(CertificateError, match="floating"):
        ReleaseCertificate(document).verify()
    found = checker_release.examine(document)
    assert [part["proved"] for part in found["parts"]] == [False, True]
    spherical, smoker = map(phrases.part_line, found["parts"])
    assert "if the theorem for real numbers holds for the floats that are drawn (not proved)" in spherical
    assert smoker == "epsilon = 1 for any two values that differ"


def test_a_floating_part_must_be_allowed_and_paid_for() -> None:
    document = floating_release()
    assert "not allow" in refusal(signed({**document, "floating": False}))
    changed = copy.deepcopy(document)
    part = changed["parts"][0]
    part["price"] = "1/2"
    add_up(changed)
    assert "price is too low" in refusal(signed(changed))
    changed = copy.deepcopy(document)
    changed["parts"][0]["certificate"]["mechanism"] = "other"
    assert "changed or cut" in refusal(signed(changed))


# Programs -----------------------------------------------------------------------------------------------------------------


def checked_by(*arguments: str | Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = run(tuple(map(str, arguments)))
    return code, " ".join(capsys.readouterr().out.split())


def test_verify_shows_a_table_and_ends_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(HONEST))
    code, page = checked_by("verify", path, capsys=capsys)
    assert code == 0
    count = len(HONEST["parts"])
    assert f"release, proved in all {count} parts" in page
    assert page.count(" proved") >= count
    assert 'NOT protected "ward"' in page
    answer = json.loads(_json(path, capsys))
    assert answer["proved"] is True
    assert Fraction(answer["files"][0]["epsilon"]) == PLAN.epsilon
    assert answer["files"][0]["parts"][0]["title"] == 'column "age"'
    assert answer["files"][0]["not_protected"] == ["ward"]
    assert answer["files"][0]["public"] == "the number of rows, in all and of each patient"


def _json(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    run(("verify", str(path), "--json"))
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (forged(cheaper("age", Fraction(1, 2))), "price is too low"),
        (forged(lambda d: d["parts"].pop()), "not the sum"),
        (forged(lambda d: d.pop("kept")), "malformed"),
        (floating_release(), "NOT proved: floating"),
    ],
)
def test_verify_ends_with_an_error_where_something_is_not_proved(
    document: Document, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(document))
    code, page = checked_by("verify", path, capsys=capsys)
    assert code == 1
    assert "NOT PROVED" in page
    assert words in page
    assert json.loads(_json(path, capsys))["proved"] is False


def test_the_checker_alone_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(HONEST))
    bad.write_text(json.dumps(forged(cheaper("day", Fraction(1, 3)))))
    assert checked_by("verify", "--export-checker", tmp_path / "proof.py", capsys=capsys)[0] == 0
    written = {path.name for path in tmp_path.glob("*.py")}
    assert written == {
        "proof.py",
        *(Path(str(module.__file__)).name for module in BESIDE),
    }
    alone = [sys.executable, "-I", "-S", str(tmp_path / "proof.py"), "good.json", "bad.json"]
    done = subprocess.run(alone, cwd=tmp_path, capture_output=True, text=True, env={}, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    proved, _, refused = done.stdout.partition("bad.json: NOT PROVED: ")
    assert proved == f"good.json: proved: {checker.check(HONEST)}\n"
    assert refused == "column 'day': its price is too low for what its certificate allows at the stated distance.\n"
    (tmp_path / "checker_release.py").unlink()
    done = subprocess.run(alone, cwd=tmp_path, capture_output=True, text=True, env={}, check=False)
    assert done.returncode == 1
    assert done.stdout.count("in a second file, checker_release.py, which must lie beside this program") == 2


def test_the_checker_alone_gives_the_record_where_no_words_lie_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "good.json"
    path.write_text(json.dumps(HONEST))
    assert checked_by("verify", "--export-checker", tmp_path / "proof.py", capsys=capsys)[0] == 0
    (tmp_path / "phrases.py").unlink()
    alone = [sys.executable, "-I", "-S", str(tmp_path / "proof.py"), "good.json"]
    done = subprocess.run(alone, cwd=tmp_path, capture_output=True, text=True, env={}, check=False)
    assert done.returncode == 0
    record = json.loads(done.stdout.removeprefix("good.json: proved: "))
    assert record == checker.prove_record(HONEST)
    assert record["neighbours"] == {"relation": "same-rows", "unit": "patient", "rows": 3}


def test_the_release_checker_is_standard_library_only() -> None:
    text = Path(checker_release.__file__).read_text(encoding="utf-8")
    imported = {
        line.split()[1].split(".")[0] for line in text.splitlines() if line.lstrip().startswith(("import ", "from "))
    }
    assert imported == {
        "__future__",
        "math",
        "fractions",
        "itertools",
        "typing",
        "noisewright",
    }
