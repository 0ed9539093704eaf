"""The page of designs shows what the library computes, and what it shows can be had elsewhere."""

from __future__ import annotations

import json
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
from noisewright.base import errors_in_words, named_errors
from noisewright.claims.figures import upward
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.registry import registry
from noisewright.studio.pages.design import examples
from noisewright.studio.services.design import (
    KINDS,
    best,
    best_code,
    best_command,
    choices,
    code_of,
    cost_of,
    delta_words,
    designed,
    distance_of,
    enough_for,
    gaps_of,
    law_of,
    listed_map,
    open_map,
    posterior_of,
    reach_of,
    read_prior,
)

pytestmark = pytest.mark.xdist_group("studio")
ALL = [(kind, entry.name) for kind in KINDS for entry in choices(kind)]
NEED_MORE = {"lshrr", "laplace-hash", "hashed-sets", "sign-bits", "selection"}
"""Those that want a seed or a list of their own, for which there is no example."""


@pytest.mark.parametrize(("kind", "name"), [pair for pair in ALL if pair[1] not in NEED_MORE])
def test_the_code_builds_the_mechanism_that_is_shown(kind: str, name: str) -> None:
    made = designed(name, examples(kind, name))
    told: dict[str, object] = {}
    exec(code_of(made, registry[name]).split("\nprint")[0], told)
    assert str(told["mechanism"].guarantee) == str(made.mechanism.guarantee)  # type: ignore[attr-defined]
    assert all(after >= before for before, after in made.beliefs)


def test_the_law_of_a_number_is_that_of_its_draws() -> None:
    made = designed("laplace", {"epsilon": "1", "within": "0:100"})
    law = law_of(made, 30.0)
    assert law is not None
    draws = np.asarray(made.mechanism.release(np.full(200_000, 30.0), np.random.default_rng(1)))
    seen = np.histogram(draws, np.asarray(law.at))[0] / len(draws)
    assert np.abs(seen - law.probability).max() < 5 * np.sqrt(law.probability.max() / len(draws))


def test_what_takes_long_is_left_to_the_command_line() -> None:
    with pytest.raises(ParameterError, match="up to 500 listed secrets"):
        designed("planar-geometric", {"points": "0..99:0..99", "epsilon": "1", "radius": "1"})
    with pytest.raises(ParameterError, match="up to 500 listed secrets"):
        designed("randomised-response", {"categories": "3000", "epsilon": "1"})
    assert designed("geometric", {"epsilon": "1", "within": "0:100000"}).channel is None


def test_a_posterior_is_bayes() -> None:
    made = designed("randomised-response", {"categories": "a,b,c", "epsilon": "1"})
    found = posterior_of(made, "b")
    assert found is not None
    channel = nw.randomised_response(categories=["a", "b", "c"], epsilon=1).channel()
    column = channel.matrix[:, 1]
    assert np.allclose(found[1], column / column.sum())


def test_a_posterior_and_a_cost_follow_the_prior() -> None:
    made = designed("geometric", {"epsilon": "1", "within": "0:2"})
    prior, matrix = [0.7, 0.2, 0.1], nw.geometric(epsilon=1, within=(0, 2)).channel().matrix
    found = posterior_of(made, 2, prior)
    assert found is not None
    assert np.allclose(found[1], prior * matrix[:, 2] / (prior @ matrix[:, 2]))
    face, best = cost_of(made, "zero-one", prior) or (None, 0.0)
    assert face == pytest.approx(1 - prior @ np.diag(matrix))
    assert best == pytest.approx(1 - (np.array(prior)[:, None] * matrix).max(axis=0).sum())
    with pytest.raises(ParameterError, match="a number for each of 3 secrets, not 2"):
        read_prior("0.5,0.5", made.mechanism.channel().inputs)


def test_a_law_of_places_is_on_the_map_where_its_places_are() -> None:
    given = examples("place", "planar-geometric")
    made = designed("planar-geometric", given)
    law = law_of(made, (200, 700))
    assert law is not None
    shown = listed_map(list(law.at), law.probability, law.secret, "probability", "")
    assert shown is not None
    assert (shown.east[3], shown.north[5], len(law.at)) == (300, 500, 81)
    assert shown.values[5][3] == law.probability[list(law.at).index((300, 500))]
    assert "for x in range(0, 801, 100)" in code_of(made, registry["planar-geometric"])
    assert listed_map(["a", "b"], law.probability[:2], "a", "probability", "") is None


def test_the_density_about_a_place_is_a_density() -> None:
    made = designed("planar-laplace", {"epsilon": "1", "radius": "200"})
    shown = open_map(made.mechanism, (1000, 2000))
    assert shown is not None
    cell = (shown.east[1] - shown.east[0]) ** 2
    total = cell * np.sum(shown.values)
    assert 0.95 < total < 1  # the square is more than the circle of 95 %
    assert np.unravel_index(np.argmax(shown.values), (61, 61)) == (30, 30)
    assert (shown.east[30], shown.north[30]) == (1000, 2000)
    with pytest.raises(ParameterError, match="joined by a colon"):
        open_map(made.mechanism, 7)


def test_a_delta_is_enough_and_said_in_people() -> None:
    given = {"epsilon": "1", "sensitivity": "1"}
    found = enough_for("gaussian", {**given, "delta": "0.01"}, "4", "absolute", "delta")
    assert nw.mechanisms.gaussian(epsilon=1, delta=found, sensitivity=1).error() <= 4
    assert nw.mechanisms.gaussian(epsilon=1, delta=float(found) * 0.97, sensitivity=1).error() > 4
    said = delta_words(designed("gaussian", {**given, "delta": "1e-6"}))
    assert said is not None
    assert "About one person in 1 million may be given away" in said
    assert "may not hold" not in said  # a delta is not the probability that the bound on the odds fails
    assert delta_words(designed("laplace", {"epsilon": "1"})) is None
    with pytest.raises(ParameterError, match="has no delta to choose"):
        enough_for("laplace", given, "4", "absolute", "delta")


def test_a_person_looks_at_places_on_a_map(visit: Callable[..., Page]) -> None:
    page = visit(
        "/design/place?mechanism=planar-geometric&points=0..2:0..1&epsilon=1&radius=1&secret=2:1&loss=zero-one"
    )
    law = page.get_by_label("What comes out")
    expect(law).to_contain_text("for the true place (2, 1), which is marked")
    expect(law.locator(".xtitle")).to_have_text("first coordinate")
    town = nw.mechanisms.build(
        "planar-geometric", points=[(x, y) for x in range(3) for y in range(2)], epsilon=1, radius=1
    )
    errors = errors_in_words(town, named_errors(town)).replace(" %", "\N{NO-BREAK SPACE}%")
    expect(page.get_by_label("The promise")).to_contain_text(errors)
    page.get_by_label("how likely each secret is before").fill("1,0,0,0,0,0")
    expect(page.get_by_label("The promise")).to_contain_text("0 after the best guess (zero-one, with this prior)")
    tabs = page.get_by_label("Kinds of secrets").get_by_role("link")
    assert {"Texts", "Pictures"} <= set(tabs.all_inner_texts())


def test_a_person_moves_epsilon_and_sees_the_promise_change(visit: Callable[..., Page]) -> None:
    page = visit("/design/number?mechanism=laplace&epsilon=1&within=0:100")
    promise = page.get_by_label("The promise")
    expect(promise).to_contain_text("2.72")
    page.get_by_label("epsilon *").fill("2")
    wanted = nw.laplace(epsilon=2, within=(0, 100)).guarantee
    expect(promise).to_contain_text(f"{upward(100 * wanted.posterior(0.5), 3)} %")
    command = page.get_by_label("command line")
    expect(command).to_contain_text("--epsilon 2")
    expect(page).to_have_url(re.compile("epsilon=2"))
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command.inner_text())], capture_output=True, text=True, check=True
    )
    assert "epsilon 2 between" in done.stdout


def test_the_link_brings_the_page_back(visit: Callable[..., Page]) -> None:
    page = visit("/design/category?mechanism=randomised-response&epsilon=1/3&categories=tea,coffee")
    expect(page.get_by_label("The promise")).to_contain_text("epsilon 0.3334 between any two answers")
    link = page.get_by_role("link", name=re.compile("as it is")).get_attribute("href")
    assert link is not None
    again = visit(link)
    expect(again.get_by_label("epsilon *")).to_have_value("1/3")
    expect(again.get_by_label("What comes out")).to_contain_text("coffee")


def test_a_distance_that_is_no_number_is_refused_in_a_sentence(visit: Callable[..., Page]) -> None:
    page = visit("/design/number?mechanism=laplace&epsilon=1&apart=far")
    expect(page.get_by_role("alert")).to_contain_text("the distance")


def test_what_is_refused_is_said_in_a_sentence_and_nothing_else_is_shown(visit: Callable[..., Page]) -> None:
    page = visit("/design/number?mechanism=laplace&epsilon=-1")
    expect(page.get_by_role("alert")).to_contain_text("epsilon must be greater than 0, not -1.")
    for label in ("What comes out", "command line"):
        expect(page.get_by_label(label)).to_be_hidden()
    expect(page.get_by_role("button", name="Download the certificate")).to_be_hidden()
    page.get_by_label("epsilon *").fill("1")
    expect(page.get_by_label("What comes out").locator(".main-svg").first).to_be_visible()


@pytest.mark.parametrize("given", [{}, {"within": "0:inf"}, {"within": "0:100", "excluding": "60:70"}])
def test_a_range_is_drawn_as_a_whole_with_its_gaps(given: dict[str, str]) -> None:
    made = designed("laplace", {"epsilon": "1", **given})
    law = law_of(made)
    assert law is not None
    if "excluding" in given:
        assert (law.at[0], law.at[-1], gaps_of(made, 0.0, 100.0)) == (0, 100, [(60, 70)])
    assert 0.99 < law.probability.sum() <= 1 + 1e-12


def test_the_law_of_a_vector_is_that_of_its_coordinates_or_of_its_length() -> None:
    made = designed("product-laplace", {"epsilon": "2", "dimension": "3"})
    law, rng = law_of(made), np.random.default_rng(2)
    assert law is not None
    draws = np.asarray(made.mechanism.release(np.zeros((100_000, 3)), rng))[:, 1]
    seen = np.histogram(draws, np.asarray(law.at))[0] / len(draws)
    assert np.abs(seen - law.probability).max() < 6 * np.sqrt(law.probability.max() / len(draws))
    round_one = designed("spherical-laplace", {"epsilon": "2", "dimension": "3"})
    reach = reach_of(round_one)
    assert reach is not None
    assert law_of(round_one) is None
    lengths = np.linalg.norm(np.asarray(round_one.mechanism.release(np.zeros((20_000, 3)), rng)), axis=1)
    assert np.abs([(lengths <= x).mean() for x in reach[0]] - reach[1]).max() < 0.03  # exp(-2 n 0.03^2) = e^-36


@pytest.mark.parametrize("secret", ["x", (1, 2), float("nan")])
def test_a_true_value_that_is_no_number_is_refused(secret: object) -> None:
    with pytest.raises(ParameterError, match="the true value is a number"):
        law_of(designed("laplace", {"epsilon": "1", "within": "0:100"}), secret)
    with pytest.raises(ParameterError, match="too large"):
        distance_of("1e400")


BEST = {"metric": "discrete:red,green,blue", "epsilon": "1", "loss": "zero-one", "prior": "0.5,0.3,0.2"}


def test_the_best_is_that_of_the_library() -> None:
    found = best(BEST)
    wanted = nw.optimal(
        ["red", "green", "blue"], epsilon=1, metric=nw.metrics.Discrete(), loss="zero-one", prior=[0.5, 0.3, 0.2]
    )
    assert found.mechanism.loss_value == pytest.approx(wanted.loss_value)
    told: dict[str, object] = {}
    exec(best_code(BEST).split("\nprint")[0], told)
    assert told["best"].loss_value == pytest.approx(wanted.loss_value)  # type: ignore[attr-defined]


def test_the_command_finds_the_best_too(tmp_path: Path) -> None:
    line = best_command(BEST).replace("noisewright design", f"{shlex.quote(sys.executable)} -m noisewright design")
    done = subprocess.run(["sh", "-c", line + " --json"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["loss"] == pytest.approx(best(BEST).mechanism.loss_value)


def test_a_person_asks_for_the_best(visit: Callable[..., Page]) -> None:
    page = visit("/design/best")
    answer = page.get_by_label("The best there is")
    expect(answer).to_contain_text("no private mechanism has a smaller expected loss (proved by a theorem)")
    page.get_by_label("metric and secrets *").fill("line:0..4")
    expect(answer).to_contain_text(nw.optimal(5, epsilon=1, loss="absolute").loss_in_words[1])
    page.get_by_label("metric and secrets *").fill("table:/etc/passwd")
    expect(answer.get_by_role("alert")).to_contain_text("command line")


def test_an_error_becomes_an_epsilon(visit: Callable[..., Page]) -> None:
    page = visit("/design/number?mechanism=geometric&epsilon=1&within=0:100")
    page.get_by_label("an expected error that I can live with").fill("2")
    page.get_by_role("button", name="Find the epsilon for it").click()
    expect(page.get_by_label("Questions")).to_contain_text("is enough for an expected error of 2. Whatever the output")
    found = nw.design.epsilon_for("geometric", 2.0, within=(0, 100))
    expect(page.get_by_label("epsilon *")).to_have_value(
        enough_for("geometric", {"within": "0:100"}, "2", "absolute", "epsilon")
    )
    assert (
        nw.geometric(epsilon=found, within=(0, 100)).error()
        <= 2
        < nw.geometric(epsilon=found * 98 / 100, within=(0, 100)).error()
    )
