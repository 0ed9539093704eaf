"""The pages of texts and pictures show what the library draws."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

import noisewright as nw
from noisewright.exceptions import DataError, ParameterError
from noisewright.studio.services.media import (
    EXAMPLE,
    METHODS,
    example_picture,
    hidden_picture,
    hidden_text,
    marked,
    picture_code,
    text_code,
)

pytestmark = pytest.mark.xdist_group("studio")


def test_words_that_come_out_are_as_many_as_asked_and_marks_are_counted() -> None:
    found = hidden_text(EXAMPLE, {"epsilon": "8", "size": "12"})
    assert len(found.after) == 12
    assert found.kept == sum(same for _, same in marked(found.after, found.before))
    assert found.blind < found.guess < 1
    chances = [chance for _, chance in found.becomes]
    assert chances == sorted(chances, reverse=True)


def test_the_law_of_a_word_is_that_of_its_draws() -> None:
    found = hidden_text("journey", {"epsilon": "6", "size": "1"})
    made = nw.text.exact_words(nw.text.shipped(), epsilon=6)
    drawn = made.release(np.array(["journey"] * 4000), np.random.default_rng(3))
    likeliest, chance = found.becomes[0]
    assert abs((drawn == likeliest).mean() - chance) < 5 * np.sqrt(chance * (1 - chance) / 4000)


def test_more_epsilon_tells_more_about_a_word() -> None:
    guesses = [hidden_text(EXAMPLE, {"epsilon": e}).guess for e in ("2", "8", "20")]
    assert guesses == sorted(guesses)
    assert guesses[0] < 0.3
    assert guesses[2] > 0.8


def test_the_code_of_a_text_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(text_code("a long\n'journey'", {"epsilon": "8", "size": "5"}), {})
    assert len(capsys.readouterr().out.splitlines()[0].split()) == 5
    assert 'Path("note.txt")' in text_code("a long journey " * 99, {"epsilon": "8"})


@pytest.mark.parametrize("method", METHODS)
def test_a_picture_is_drawn_and_proved(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = hidden_picture(example_picture(), {"method": method, "epsilon": "500", "block": "8"})
    assert found.proved.startswith("epsilon = 500")
    assert found.after.startswith("data:image/png;base64,")
    assert found.after != found.before
    assert bool(found.measured) == (method == "faces")
    Image.fromarray(np.squeeze(example_picture())).save(tmp_path / "photograph.png")
    monkeypatch.chdir(tmp_path)
    exec(picture_code("photograph.png", {"method": method, "epsilon": "500", "block": "8"}), {})
    with Image.open(tmp_path / "shown.png") as shown:
        assert shown.size == (48, 48)


def test_nonsense_is_refused_in_a_sentence() -> None:
    with pytest.raises(DataError, match="paste a text"):
        hidden_text("  ", {"epsilon": "1"})
    with pytest.raises(ParameterError, match="whole number"):
        hidden_text("a word", {"epsilon": "1", "size": "x"})
    with pytest.raises(ParameterError, match="a method is one of"):
        hidden_picture(example_picture(), {"method": "blur", "epsilon": "1"})


def test_a_face_names_its_model_and_a_photograph_is_refused() -> None:
    given = {"method": "faces", "epsilon": "50"}
    assert hidden_picture(example_picture(), given).model == "drawn-faces.nwm (drawn by facesjs: nobody's)"
    noise = np.random.default_rng(0).integers(0, 255, (48, 48, 3), np.uint8)
    with pytest.raises(DataError, match="far from what the model drawn-faces"):
        hidden_picture(noise, given)
    anyway = {**given, "draw-unlike": "1"}
    assert hidden_picture(noise, anyway).measured[0].startswith('68 people in "drawn-faces.nwm (drawn by facesjs')
    assert 'unlike="draw"' in picture_code("a.png", anyway)
    assert "unlike" not in picture_code("a.png", given)


def test_a_person_hides_a_text(visit: Callable[..., Page]) -> None:
    page = visit("/text")
    shown = page.get_by_label("Before and after")
    expect(shown).to_contain_text("20 words that come out")
    page.get_by_label("words that come out").fill("7")
    expect(shown).to_contain_text("7 words that come out")
    page.get_by_label("text in English").fill("")
    expect(shown.get_by_role("alert")).to_contain_text("paste a text")
    assert "journey" not in page.url


def test_a_person_hides_a_picture(visit: Callable[..., Page], tmp_path: Path) -> None:
    page = visit("/pictures")
    after = page.get_by_alt_text("the picture that may be shown")
    expect(after).to_be_visible()
    content = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 56, 3), np.uint8)).save(content, "PNG")
    (tmp_path / "mine.png").write_bytes(content.getvalue())
    page.set_input_files("input[type=file]", tmp_path / "mine.png")
    expect(page.get_by_label("The picture", exact=True)).to_contain_text("Loaded: mine.png")
    expect(page.get_by_label("command line")).to_contain_text(
        "mine.png -o shown.png --method laplace --epsilon 1000 --block 8"
    )
    risk = page.get_by_label("Attackers")
    risk.get_by_role("button", name="Measure it").click()
    expect(risk).to_contain_text(re.compile("Attacking: [123] of 3 steps|Best attacker"))
    risk.get_by_role("button", name="Cancel").click()
    expect(risk.get_by_role("alert")).to_have_text("Cancelled.")
    page.wait_for_function("document.querySelectorAll('img.nw-picture')[1].naturalWidth == 56")
    (tmp_path / "broken.png").write_bytes(b"no picture")
    page.set_input_files("input[type=file]", tmp_path / "broken.png")
    expect(page.get_by_label("Before and after").get_by_role("alert")).not_to_be_empty()
