from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Literal

import pytest

import noisewright as nw
from noisewright.base import Entry, Takes
from noisewright.cli.parameters import read_labels
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.registry import forget, names, register
from noisewright.metrics.base import MOST_LABELS
from noisewright.numerics.exact import Exact

FIELDS = {
    "mechanism",
    "parameters",
    "guarantee",
    "reading",
    "error",
    "numerics",
    "randomness",
    "proved",
    "file",
    "scale",
    "reason",
    "picture",
}

SAMPLES = {
    "geometric": ("--epsilon", "1", "--within", "0:20"),
    "randomised-response": ("--epsilon", "1", "--categories", "yes,no"),
    "exponential": ("--epsilon", "1", "--points", "0..9"),
    "metric-realising": ("--epsilon", "1", "--points", "a,b,c", "--metric", "discrete"),
}


def test_alone_it_lists_the_registry(call):
    answer = call("design")
    assert answer.code == 0
    for name in names():
        assert name in answer.words
    listed = call("design", "--json").json["mechanisms"]
    assert [entry["name"] for entry in listed] == names()
    for entry in listed:
        assert {"name", "secrets", "summary", "options"} == set(entry)
    geometric = next(entry for entry in listed if entry["name"] == "geometric")
    assert [option["name"] for option in geometric["options"]] == ["epsilon", "sensitivity", "within", "outside"]


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_design_is_shown_written_and_verified(call, files, name):
    path = files / "made.json"
    answer = call("design", name, *SAMPLES[name], "-o", path)
    assert answer.code == 0
    for words in (
        "Guarantee",
        "Guarantee epsilon 1 ",
        "Whatever the output",
        "Expected error",
        "exact",
        "written to",
    ):
        assert words in answer.words
    assert max(map(len, answer.out.splitlines()[1:])) <= 100
    assert call("verify", path).code == 0
    assert [p.name for p in files.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_json_object(call, name):
    for words in (("design", name, *SAMPLES[name], "--json"), ("design", "--json", name, *SAMPLES[name])):
        data = call(*words).json
        assert set(data) == FIELDS
        assert data["mechanism"] == name
        assert data["guarantee"]["epsilon"] == 1
        assert data["numerics"] == "exact"
        assert data["proved"] == f"epsilon = 1 per unit of {data['guarantee']['metric']}"
        assert data["file"] is None
        assert 0 < data["error"]["zero-one"] < 1


def test_errors_agree_with_the_library_and_only_those_that_apply_are_shown(call):
    data = call("design", "geometric", *SAMPLES["geometric"], "--json").json
    mechanism = nw.geometric(epsilon=1, within=(0, 20))
    assert data["error"] == {loss: mechanism.error(loss) for loss in ("absolute", "squared", "zero-one")}
    assert list(call("design", "randomised-response", *SAMPLES["randomised-response"], "--json").json["error"]) == [
        "zero-one"
    ]


def test_epsilon_is_exact(call, files):
    call("design", "geometric", "--epsilon", "0.1", "-o", files / "tenth.json")
    assert json.loads((files / "tenth.json").read_text())["claim"]["epsilon"] == "1/10"


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_help_for_every_mechanism(call, name):
    answer = call("design", name, "--help")
    assert answer.code == 0
    assert "--epsilon" in answer.words
    assert "--output" in answer.words


def test_a_failed_design_keeps_the_old_file(call, files):
    path = files / "old.json"
    path.write_text("old")
    before = sorted(files.iterdir())
    assert call("design", "geometric", "--epsilon", "0", "-o", path).code == 2
    assert call("design", "exponential", "--epsilon", "1", "--points", "a,b", "-o", path).code == 2
    assert path.read_text() == "old"
    assert sorted(files.iterdir()) == before


def test_ctrl_c_while_writing_leaves_the_old_file_and_nothing_else(call, files, monkeypatch):
    path = files / "old.json"
    path.write_text("old")
    before = sorted(files.iterdir())

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("noisewright.io.serialization.os.fsync", interrupted)
    answer = call("design", "geometric", "--epsilon", "1", "-o", path)
    assert (answer.code, answer.out) == (130, "")
    assert path.read_text() == "old"
    assert sorted(files.iterdir()) == before


# A new registry entry needs no change in the command ------------------------------------------------------------------


def imagined(
    points: Iterable[Any],
    weights: Sequence[float],
    *,
    epsilon: Exact,
    size: int = 3,
    share: float = 0.5,
    lattice: Exact = "auto",
    within: tuple[Exact, Exact] | None = None,
    kind: Literal["round", "square"] = "round",
    careful: bool = False,
    channel: nw.Channel | None = None,
    metric: nw.metrics.Metric | None = None,
    progress: Callable[[], None] | None = None,
) -> nw.base.Mechanism:
    """Not a mechanism of its own: it records what it was given."""
    seen.clear()
    seen.update({k: v for k, v in locals().items() if k != "seen"})
    return nw.randomised_response(2, epsilon=epsilon)


seen: dict[str, Any] = {}


@pytest.fixture
def with_imagined():
    register(Entry("imagined", imagined, Takes("integer"), "records its parameters", "anything"))
    yield
    forget("imagined")


def test_options_come_from_the_signature(call, files, with_imagined):
    words = ["--points", "0:0,1:2.5", "--weights", "1,1/2", "--epsilon", "1/3", "--size", "7", "--share", "1/4"]
    words += ["--within", "-1/2:3", "--kind", "square", "--careful", "--channel", str(files / "line.csv")]
    words += ["--metric", "0.5*euclidean", "--lattice", "auto"]
    assert call("design", "imagined", *words).code == 0
    assert seen["points"] == [(0, 0), (1, 2.5)]
    assert seen["weights"] == [1.0, 0.5]
    assert Fraction(seen["epsilon"]) == Fraction(1, 3)
    assert (seen["size"], seen["share"], seen["kind"], seen["careful"]) == (7, 0.25, "square", True)
    assert seen["within"] == (Fraction(-1, 2), 3)
    assert seen["channel"].shape == (3, 3)
    assert str(seen["metric"]) == "1/2 * euclidean"
    assert seen["lattice"] == "auto"
    assert seen["progress"] is None


def test_defaults_are_left_to_the_constructor(call, with_imagined):
    assert call("design", "imagined", "--points", "a,b", "--weights", "1", "--epsilon", "1").code == 0
    assert (seen["size"], seen["share"], seen["within"], seen["kind"], seen["careful"]) == (
        3,
        0.5,
        None,
        "round",
        False,
    )
    page = call("design", "imagined", "--help").out
    assert "--progress" not in page
    assert "round|square" in page


@pytest.mark.parametrize(
    ("option", "value"),
    [("--size", "2.5"), ("--size", "x"), ("--kind", "oval"), ("--weights", "1,x"), ("--within", "1"), ("--share", "")],
)
def test_bad_values_of_such_options(call, with_imagined, option, value):
    base = ["--points", "a,b", "--epsilon", "1"] + (["--weights", "1"] if option != "--weights" else [])
    assert option.strip("-") in call("design", "imagined", *base, option, value).err


def test_a_parameter_that_only_python_can_give(call, request, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")

    def python_only(query: Callable[[int], int], *, epsilon: Exact) -> nw.base.Mechanism:
        raise AssertionError

    register(Entry("python-only", python_only, Takes("integer"), "needs a function", "anything"))
    request.addfinalizer(lambda: forget("python-only"))
    assert "only Python can give" in call("design", "python-only").err
    assert "from Python only" in call("design").words
    assert call("design", "--json").code == 0


# Lists of labels ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("0..3", [0, 1, 2, 3]),
        ("-2..0", [-2, -1, 0]),
        ("1,2,4", [1, 2, 4]),
        ("1, 2.5", [1, 2.5]),
        ("a, b ,c", ["a", "b", "c"]),
        ("1,b", ["1", "b"]),
        ("000,001,110", ["000", "001", "110"]),
        ("0:0,0:1", [(0, 0), (0, 1)]),
        ("a:b,c", ["a:b", "c"]),
        ('"New York, NY",Boston', ["New York, NY", "Boston"]),
        ("nan,inf", ["nan", "inf"]),
        ("5", [5]),
    ],
)
def test_labels(text, labels):
    assert list(read_labels(text, "points")) == labels


@pytest.mark.parametrize("text", ["", ",", "a,,b", "3..1", f"0..{MOST_LABELS}"])
def test_bad_labels(text):
    with pytest.raises(ParameterError):
        read_labels(text, "points")


def test_a_picture_is_drawn_and_named(call, tmp_path):
    answer = call("design", "laplace", "--epsilon", "1", "--within", "0:inf", "--plot", tmp_path / "law.png", "--json")
    assert answer.code == 0
    assert answer.json["picture"] == str(tmp_path / "law.png")
    assert answer.json["scale"] == pytest.approx(1.6126, rel=1e-3)
    assert "wall at 0" in answer.json["reason"]
    assert (tmp_path / "law.png").read_bytes().startswith(b"\x89PNG")
    refused = call("design", "laplace", "--epsilon", "1", "--plot", tmp_path / "law.txt")
    assert refused.code == 2
    assert "a picture is written to" in refused.err
    assert [p.name for p in tmp_path.iterdir()] == ["law.png"]


@pytest.mark.parametrize(
    ("words", "scale"),
    [
        (["--within", "0:1,2:3"], 1.2307),
        (["--excluding", "0:1", "--scope", "metric"], 1.3534),
        (["--within", ":5"], 1.6126),
    ],
)
def test_intervals_are_read(call, words, scale):
    answer = call("design", "laplace", "--epsilon", "1", *words, "--json")
    assert answer.code == 0
    assert answer.json["scale"] == pytest.approx(scale, rel=2e-3)


@pytest.mark.parametrize("command", ["design", "survey"])
def test_what_cannot_be_drawn_never_loses_the_file(command, call, tmp_path, monkeypatch):
    """Without matplotlib the certificate is written and proved; the sentence names both."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    words = {
        "design": ("design", "geometric", "--epsilon", "1"),
        "survey": ("survey", "--epsilon", "1", "--respondents", "9"),
    }
    target, picture = tmp_path / "made.json", tmp_path / "made.png"
    answer = call(*words[command], "-o", target, "--plot", picture)
    assert answer.code == 2
    assert "pictures need matplotlib; install noisewright[plots]." in answer.err
    assert f"{target} was written all the same" in " ".join(answer.err.split())
    assert call("verify", target).code == 0
    assert not picture.exists()


def test_the_error_is_said_as_a_person_would_ask_for_it(call):
    """Of places by how far they get; and that no fraction comes out as it went in is no news."""
    places = call("design", "geo-laplace", "--epsilon", "1", "--radius", "500", "--reference", "48.85:2.35")
    assert "half within 848 m, 95% within 2.4 km" in places.out
    assert "another value" not in call("design", "laplace", "--epsilon", "1").out
    assert "another value" in call("design", "randomised-response", "--epsilon", "1", "--categories", "a,b").out
