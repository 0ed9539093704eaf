from __future__ import annotations

import json

import numpy as np
import pytest

import noisewright as nw
from noisewright.cli.commands.design import read_prior
from noisewright.design.optimal import optimal

COUNTS = ("--metric", "line:0..5", "--epsilon", "0.5")
FIELDS = {
    "mechanism",
    "parameters",
    "guarantee",
    "reading",
    "objective",
    "loss",
    "bound",
    "gap",
    "path",
    "status",
    "why",
    "shape",
    "shapes",
    "secrets",
    "outputs",
    "remap",
    "numerics",
    "randomness",
    "proved",
    "file",
    "picture",
}


@pytest.fixture
def priors(files):
    (files / "prior.csv").write_text("label,probability\n0,0.3\n1,0.25\n2,0.2\n3,0.15\n4,0.07\n5,0.03\n")
    (files / "short.csv").write_text("label,probability\n0,0.3\n1,0.25\n")
    (files / "twice.csv").write_text("label,probability\n0,0.5\n0,0.5\n")
    (files / "bare.csv").write_text("0,0.5\n1,0.5\n")
    (files / "wide.csv").write_text("label,probability,note\n0,0.5,1\n1,0.5,2\n")
    (files / "words.csv").write_text("label,probability\n0,much\n1,little\n")
    (files / "other.csv").write_text("label,probability\n7,0.5\n8,0.5\n")
    (files / "negative.csv").write_text("label,probability\n0,1.5\n1,-0.5\n")
    (files / "loss.csv").write_text(",red,green,blue\nred,0,1,5\ngreen,2,0,1\nblue,3,3,0\n")
    (files / "turned.csv").write_text(",red,green,blue\nstop,0,1,5\ngo,2,0,1\n")
    return files


def test_the_best_mechanism_is_shown_written_drawn_and_verified(call, files):
    path, picture = files / "mech.json", files / "mech.png"
    answer = call("design", "optimal", *COUNTS, "-o", path, "--plot", picture)
    assert answer.code == 0
    for words in (
        "optimal: 6 secrets to 6 outputs",
        "epsilon 0.5 for each 1 of difference",
        "1.061 (absolute loss)",
        "proved by a theorem",
        "truncated geometric",
        "Answers 1, 1, 2, 3, 4, 4",
        "written to",
        "drawn to",
    ):
        assert words in answer.words
    assert max(map(len, answer.out.splitlines()[1:])) <= 100
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert call("verify", path).code == 0
    assert json.loads(path.read_text())["claim"]["epsilon"] == "1/2"


def test_the_json_object(call):
    for words in (("design", "optimal", *COUNTS, "--json"), ("design", "--json", "optimal", *COUNTS)):
        data = call(*words).json
        assert set(data) == FIELDS
        assert data["loss"] == pytest.approx(6.363223 / 6, abs=1e-6)
        assert (data["gap"], data["objective"], data["shape"]) == (0, "bayes", [])
        assert data["remap"] == ["1", "1", "2", "3", "4", "4"]
        assert data["parameters"] == {"metric": "line:0..5", "epsilon": "0.5", "loss": "absolute"}


def test_shapes_and_objectives_reach_the_library(call):
    shaped = call("design", "optimal", *COUNTS, "--shape", "fair,monotone,symmetric", "--json").json
    assert shaped["loss"] == pytest.approx(6.828620 / 6, abs=1e-6)
    assert shaped["shape"] == ["row-monotone", "column-monotone", "symmetric", "fair"]
    assert 0 <= shaped["gap"] < 1e-7
    worst = call("design", "optimal", *COUNTS, "--objective", "minimax", "--json").json
    assert worst["loss"] < 1.351951
    words = call("design", "optimal", *COUNTS, "--shape", "fair").words
    assert "no private mechanism of this shape is better by more than" in words


def test_what_a_claim_rests_on_is_said(call):
    theorem = call("design", "optimal", *COUNTS).words
    assert "(proved by a theorem)" in theorem
    dual = call("design", "optimal", "--metric", "line:0..5", "--epsilon", "0.5", "--loss", "parity").words
    assert "in floats)" in dual
    assert "theorem" not in dual
    shaped = call("design", "optimal", *COUNTS, "--shape", "fair,symmetric").words
    assert "The probabilities that are drawn from are symmetric" in shaped


def test_words_are_right_or_wrong_unless_said_otherwise(call):
    colours = ("--metric", "discrete:red,green,blue", "--epsilon", "1", "--json")
    data = call("design", "optimal", *colours).json
    assert data["loss"] == pytest.approx(2 / (np.e + 2), abs=1e-9)
    assert data["parameters"]["loss"] == "zero-one"
    leaky = call("design", "optimal", *colours, "--delta", "0.1").json
    assert leaky["loss"] == pytest.approx(0.9 * 2 / (np.e + 2), abs=1e-9)
    assert leaky["guarantee"]["delta"] == pytest.approx(0.1)
    assert leaky["status"] == "a theorem"
    refused = call("design", "optimal", *COUNTS, "--delta", "0.1")
    assert refused.code != 0
    assert "leave delta out" in refused.err


def test_a_prior_from_a_file(call, priors):
    data = call("design", "optimal", *COUNTS, "--prior", priors / "prior.csv", "--json").json
    assert data["loss"] == pytest.approx(0.929356, abs=1e-6)
    assert read_prior(str(priors / "prior.csv"))[3] == 0.15


def test_losses_from_a_file_and_by_name(call, priors):
    colours = ("--metric", "discrete:red,green,blue", "--epsilon", "1")
    data = call("design", "optimal", *colours, "--loss", f"table:{priors / 'loss.csv'}", "--json").json
    made = optimal(
        ["red", "green", "blue"],
        epsilon=1,
        metric=nw.metrics.Discrete(),
        loss=np.array([[0, 1, 5], [2, 0, 1], [3, 3, 0]]),
    )
    assert data["loss"] == pytest.approx(made.loss_value, abs=1e-7)
    two = call("design", "optimal", *colours, "--loss", f"table:{priors / 'turned.csv'}", "--json").json
    assert (two["secrets"], two["outputs"]) == (3, 2)
    train = call("design", "optimal", *COUNTS, "--loss", "last-train:3", "--json").json
    assert train["loss"] == pytest.approx(optimal(6, epsilon="0.5", loss="last-train:3").loss_value, abs=1e-7)


def test_metrics_from_files_planes_and_multiples(call, files):
    table = call(
        "design",
        "optimal",
        "--metric",
        f"table:{files / 'distances.csv'}",
        "--epsilon",
        "1",
        "--loss",
        "zero-one",
        "--json",
    ).json
    half = call("design", "optimal", "--metric", "2*line:0,1", "--epsilon", "1", "--loss", "zero-one", "--json").json
    assert table["loss"] == pytest.approx(1 / (1 + np.exp(2)), abs=1e-6)
    assert half["loss"] == pytest.approx(table["loss"], abs=1e-6)
    plane = call("design", "optimal", "--metric", "euclidean:0:0,0:1,1:0,1:1", "--epsilon", "1", "--json")
    assert plane.json["secrets"] == 4
    wide = call("design", "optimal", *COUNTS, "--outputs", "-2..7", "--json").json
    assert wide["outputs"] == 10
    assert wide["loss"] == pytest.approx(6.363223 / 6, abs=1e-6)


def test_it_is_listed_and_explained(call):
    assert "optimal" in call("design").words
    assert "optimal" in [extra["name"] for extra in call("design", "--json").json["extras"]]
    words = call("design", "optimal", "--help").words
    for option in ("--metric", "--epsilon", "--loss", "--prior", "--shape", "--objective", "--plot"):
        assert option in words
    assert "optimal" in call("design", "nothing").err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--metric", "line", "--epsilon", "1"), "says nothing about the secrets"),
        (("--metric", "wrong:0..5", "--epsilon", "1"), "there is no metric called 'wrong'"),
        (("--metric", "line:a,b", "--epsilon", "1"), "numbers"),
        (("--metric", "line:5..0", "--epsilon", "1"), "from a low to a high number"),
        (("--metric", "line:3", "--epsilon", "1"), "2 or more different secrets"),
        (("--metric", "table:nothing.csv", "--epsilon", "1"), "there is no file"),
        (("--metric", "line:0..5", "--epsilon", "0"), "epsilon must be greater than 0"),
        (("--metric", "line:0..5", "--epsilon", "1e99999"), "far too long, too large or too small"),
        ((*COUNTS, "--loss", "cubic"), "there is no loss called 'cubic'"),
        ((*COUNTS, "--loss", "table:nothing.csv"), "there is no file"),
        ((*COUNTS, "--loss", "table:{loss.csv}"), "the loss does not know all of the 6 secrets"),
        ((*COUNTS, "--shape", "round"), "there is no shape called 'round'"),
        (("--metric", "line:0,1,5", "--epsilon", "1", "--shape", "symmetric"), "conflicts with these points"),
        ((*COUNTS, "--objective", "best"), "objective must be"),
        ((*COUNTS, "--objective", "minimax", "--prior", "{prior.csv}"), "takes no prior"),
        ((*COUNTS, "--prior", "nothing.csv"), "there is no file"),
        ((*COUNTS, "--prior", "{short.csv}"), "must sum to 1"),
        ((*COUNTS, "--prior", "{twice.csv}"), "a label occurs twice"),
        ((*COUNTS, "--prior", "{bare.csv}"), "a first row that says so: label,probability"),
        ((*COUNTS, "--prior", "{wide.csv}"), "a prior has two columns"),
        ((*COUNTS, "--prior", "{words.csv}"), "an entry is not a number"),
        ((*COUNTS, "--prior", "{other.csv}"), "2 secrets that are not among the 6"),
        ((*COUNTS, "--prior", "{negative.csv}"), "prior"),
        ((*COUNTS, "--epsilon", "2"), "more than once"),
        ((*COUNTS, "-o", "mech.txt"), "a certificate is written to a .json file"),
        ((*COUNTS, "--plot", "mech.txt"), "a picture is written to a .png"),
        (("--epsilon", "1"), "--metric"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(call, priors, arguments, words):
    before = sorted(priors.iterdir())
    spelled = [a.replace("{", f"{priors}/").replace("}", "") for a in arguments]
    answer = call("design", "optimal", *spelled)
    assert answer.code == 2
    assert words in answer.err
    assert sorted(priors.iterdir()) == before
    assert call("design", "optimal", *spelled, "--json").code == 2


def test_a_picture_that_cannot_be_drawn_leaves_the_certificate(call, files):
    """A hundred thousand secrets have a certificate, but no matrix to draw."""
    path, picture = files / "mech.json", files / "mech.png"
    answer = call("design", "optimal", "--metric", "line:0..99999", "--epsilon", "1", "-o", path, "--plot", picture)
    assert answer.code == 2
    assert not picture.exists()
    assert "mech.json was written all the same" in " ".join(answer.err.split())
    assert call("verify", path).code == 0
