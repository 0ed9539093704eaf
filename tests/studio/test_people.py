"""The pages of profiles and of private columns show what the library finds."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import noisewright as nw
from noisewright.exceptions import DataError, ParameterError
from noisewright.resources import Seed
from noisewright.studio.services import learning
from noisewright.studio.services.matching import EXAMPLE, Matching, example_profiles, given_profiles, matching_code

pytestmark = pytest.mark.xdist_group("studio")
FILMS = "who,alien,brazil,casablanca,diva\nann,5,0,3,1\nbob,4,1,3,0\neve,0,5,0,4\nmax,1,4,0,5\n"
FEW = {**EXAMPLE, "neighbours": "1"}


# Profiles -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def films(tmp_path: Path) -> Path:
    path = tmp_path / "films.csv"
    path.write_text(FILMS)
    return path


def test_codes_of_much_epsilon_find_who_is_truly_near(films: Path) -> None:
    people = given_profiles(films)
    people.seed = Seed.from_hex("22" * 32)
    found = people.at({**FEW, "epsilon": "8"}, "eve")
    assert [one.name for one in found.true] == [one.name for one in found.returned] == ["max"]
    vectors = people.profiles.rows[2:]
    cosine = np.prod(vectors, axis=0).sum() / np.prod(np.linalg.norm(vectors, axis=1))
    assert found.true[0].distance == pytest.approx(np.arccos(cosine) / np.pi)
    assert found.found.named == found.found.recall == 1.0  # four people, 256 bits, a flip in three thousand
    assert dict(found.promises)["To everybody"] == nw.matching.Client(people._scheme(256, "8")).promise


def test_hardly_any_epsilon_finds_and_names_nobody() -> None:
    people = example_profiles()
    found = people.at({**EXAMPLE, "epsilon": "0.001"}).found
    assert 5 / 239 - 1e-9 < found.expected < 0.03  # several may be as near as the fifth
    assert found.named < 0.1  # 24 of 240 right by chance, of which one is expected: below 1e-20
    first, last = (people.at(EXAMPLE).curve[i][1] for i in (0, -1))
    assert (first.recall, first.named) < (last.recall, last.named)
    assert people.at(EXAMPLE).curve is people.at({**EXAMPLE, "epsilon": "1"}).curve


def test_profiles_that_cannot_be_compared_are_refused(films: Path) -> None:
    with pytest.raises(ParameterError, match="nobody here has that name"):
        given_profiles(films).at(FEW, "zoe")
    with pytest.raises(ParameterError, match="bits must be a whole number from 1 to"):
        given_profiles(films).at({**FEW, "bits": "1e3"})
    films.write_text("who,a\nann,0\nbob,1\n")
    with pytest.raises(DataError, match="fewer that are not all zeros"):
        given_profiles(films)
    films.write_text("who,a\nann,2\nann,1\n")
    with pytest.raises(DataError, match="two profiles have one name"):
        given_profiles(films)
    assert isinstance(example_profiles(), Matching)


def test_a_person_tries_profiles(visit: Callable[..., Page], films: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = visit("/matching?neighbours=1&epsilon=8&person=person 7")
    shown = page.get_by_label("Before and after")
    expect(shown).to_contain_text("True neighbours of person 7")
    page.set_input_files("input[type=file]", films)
    expect(page.get_by_label("The profiles")).to_contain_text("4 profiles of films.csv")
    expect(shown).to_contain_text("True neighbours of ann")
    expect(shown.get_by_role("row", name=re.compile("bob.*yes"))).to_have_count(2)
    measured = page.get_by_label("What is found and given away")
    expect(measured).to_contain_text("who knows all 4 profiles names the person behind a code 100 %")
    monkeypatch.chdir(films.parent)
    command = page.get_by_label("command line").inner_text()
    done = subprocess.run([sys.executable, "-m", *shlex.split(command)], capture_output=True, text=True, check=True)
    assert "Named is how often" in done.stdout
    exec(matching_code("films.csv", FEW), {})
    page.get_by_label("whose neighbours are shown").fill("zoe")
    expect(shown.get_by_role("alert")).to_contain_text("nobody here has that name")


# Private columns ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """All sick have many visits, and half of the well."""
    path = tmp_path / "visits.csv"
    rows = [f"{'many' if (i % 4 > 0) == (i % 2 > 0) else 'few'},{'sick' if i % 2 else 'well'}" for i in range(400)]
    path.write_text("visits,state\n" + "\n".join(rows) + "\n")
    return path


def test_what_cannot_be_trained_is_said_in_a_sentence(visits: Path, tmp_path: Path) -> None:
    def train(**given: str) -> object:
        return learning.train_privatiser(str(visits), given, str(tmp_path), lambda done, of=0: None)

    assert learning.columns_of(str(visits)) == ["visits", "state"]
    with pytest.raises(ParameterError, match="choose the private column"):
        train(private="age", distortion="0.1")
    with pytest.raises(ParameterError, match="other columns of the table"):
        train(private="state", columns="state", distortion="0.1")
    with pytest.raises(ParameterError, match="1 to 12 budgets"):
        train(private="state", distortion="")
    with pytest.raises(ParameterError, match="epochs must be a whole number"):
        train(private="state", distortion="0.1", epochs="-3")


def test_a_person_hides_a_column(visit: Callable[..., Page], visits: Path, tmp_path: Path) -> None:
    page = visit("/learned?private=at_home&distortion=0.2&epochs=999")
    page.get_by_role("button", name="Train").click()
    status = page.get_by_role("status").filter(has_text="Training")
    expect(status).to_contain_text(re.compile("Training: [1-9][0-9]* of 999 epochs"))
    bar = page.get_by_role("progressbar", name="Training")
    expect(bar).to_have_attribute("aria-valuenow", re.compile(r"0\.\d+"))
    page.get_by_role("button", name="Cancel").click()
    hidden = page.get_by_label("What is hidden")
    expect(hidden.get_by_role("alert")).to_have_text("Cancelled.")
    expect(bar).to_be_hidden()
    page.set_input_files("input[type=file]", visits)
    expect(page.get_by_label("The table")).to_contain_text("Loaded: visits.csv, 2 columns.")
    page.get_by_label("private column").click()
    page.get_by_role("option", name="state").click()
    page.get_by_label("budgets of distortion").fill("0.1")
    page.get_by_label("epochs").fill("")
    page.get_by_role("button", name="Train").click()
    row = hidden.get_by_role("row").nth(1)
    expect(row).to_contain_text("0.1")
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download the privatiser").click()
    made = nw.learning.GAPPrivatiser.load(taken.value.path().rename(tmp_path / "hide.nwm"))
    game = nw.context_aware.FiniteGame(nw.context_aware.Joint([[0.25, 0], [0.25, 0.5]]))
    best = game.optimum(made.points_[0].spent)
    shown = float(row.get_by_role("cell").last.inner_text().split()[0])
    assert shown == pytest.approx(100 * float(best.accuracy), abs=0.06)  # three digits
    assert made.points_[0].spent == pytest.approx(0.1, abs=0.01)
    lines = page.get_by_label("command line").inner_text().split("\n")
    assert lines[0] == "noisewright learn visits.csv --private state --distortion 0.1 --output hide.nwm"
