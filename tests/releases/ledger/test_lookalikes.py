"""A dataset has one budget: a name that a person would take for another one is refused, and told which."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from noisewright.exceptions import LedgerError, NoisewrightError
from noisewright.ledger.ledger import Ledger
from noisewright.releases.release import plan, release

ALIKE = [
    ("clinic", "Clinic"),
    ("clinic", "CLINIC"),
    ("clinic", "cIinic"),
    ("clinic", "c1inic"),
    ("clinic", "clínic"),
    ("Straße", "STRASSE"),
    ("cope", "соре"),  # Cyrillic
    ("COPE", "СОРЕ"),
    ("cope", "СОРЕ"),
    ("tax", "ΤΑΧ"),  # Greek
    ("nova", "ηονα"),
    ("ward 0", "ward O"),
    ("ward 1", "ward l"),
    ("modern", "modem"),
    ("wave", "vvave"),
    ("ward-1", "ward–1"),
    ("ward 3", "ward ३"),
    ("BED", "ꓐꓰꓓ"),
    ("coins", "ᴄᴏɪɴs"),
]
APART = [
    ("clinic", "clinics"),
    ("clinic a", "clinic b"),
    ("2023", "2024"),
    ("visits", "visit"),
    ("病院", "医院"),
    ("mali", "mall"),
    ("ψ", "φ"),
]


@pytest.mark.parametrize(("there", "new"), [*ALIKE, *((b, a) for a, b in ALIKE)])
def test_a_name_that_looks_like_another_is_refused(tmp_path: Path, there: str, new: str) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.set_budget(there, epsilon=1)
    with pytest.raises(LedgerError, match="looks like") as problem:
        ledger.set_budget(new, epsilon=1)
    assert ascii(there) in str(problem.value)
    assert ledger.datasets() == [there]
    ledger.set_budget(there, epsilon=1)


@pytest.mark.parametrize(("there", "new"), APART)
def test_names_that_look_different_are_two(tmp_path: Path, there: str, new: str) -> None:
    ledger = Ledger(tmp_path / "ledger")
    for name in (there, new):
        ledger.set_budget(name, epsilon=1)
    assert ledger.datasets() == [there, new]


@pytest.mark.parametrize(
    "name",
    [
        "cli\u200bnic",
        "cli\u202enic",
        "clinic\n",
        "ｃlinic",
        "cl\u034finic",
        "c\u043binic",
        "clinic\ufe0f",
        "cli\u00a0nic",
        "\u3164",
    ],
)
def test_a_name_with_signs_that_nobody_sees_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(NoisewrightError):
        Ledger(tmp_path / "ledger").set_budget(name, epsilon=1)


def test_a_release_and_a_plan_say_it_before_anything_is_drawn(tmp_path: Path) -> None:
    table = pa.table({"smoker": ["yes", "no"]})
    columns = [{"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1}]
    for name in ("clinic", "Clinic"):
        policy = {"dataset": name, "budget": {"epsilon": 1}, "columns": columns}
        found = plan(policy, table, ledger=tmp_path / "ledger").budget
        assert found is not None
        if name == "clinic":
            assert found.fits
            release(policy, table, ledger=tmp_path / "ledger")
        else:
            assert "looks like 'clinic'" in str(found.refusal)
            with pytest.raises(LedgerError, match="looks like 'clinic'"):
                release(policy, table, ledger=tmp_path / "ledger", output=tmp_path / "out")
            assert not (tmp_path / "out").exists()
