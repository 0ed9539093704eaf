"""Files: what is written is what is read, nothing is half-written, and a bad file gets one sentence."""

import json
import math
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.exceptions import CertificateError, FileFormatError, ParameterError
from noisewright.io.atomic import write_atomically
from noisewright.io.serialization import load, load_certificate, load_channel, save

LABELS = st.recursive(
    st.one_of(
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False).map(lambda v: v + 0.0),
        st.text(max_size=8),
        st.none(),
        st.fractions(),
    ),
    lambda inner: st.tuples(inner, inner),
    max_leaves=3,
)


@st.composite
def channels(draw):
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    entries = st.floats(min_value=0, max_value=1, allow_subnormal=True)
    weights = np.array([[draw(entries) for _ in range(columns)] for _ in range(rows)])
    weights[:, 0] += 0.25
    unique = {"unique_by": repr}
    inputs = draw(st.lists(LABELS, min_size=rows, max_size=rows, **unique))
    outputs = draw(st.lists(LABELS, min_size=columns, max_size=columns, **unique))
    if len(set(inputs)) < rows or len(set(outputs)) < columns:  # 1 and 1.0 are one label
        inputs, outputs = range(rows), range(columns)
    return nw.Channel(weights, inputs, outputs, normalise=True)


@pytest.mark.parametrize("suffix", [".json", ".csv", ".npz"])
@given(channel=channels())
def test_round_trip_loses_nothing(tmp_path_factory, suffix, channel):
    path = tmp_path_factory.mktemp("files") / f"channel{suffix}"
    again = load(save(channel, path))
    assert again == channel
    assert again.matrix.tobytes() == channel.matrix.tobytes()
    assert [(type(x), x) for x in again.inputs] == [(type(x), x) for x in channel.inputs]
    assert [(type(y), y) for y in again.outputs] == [(type(y), y) for y in channel.outputs]


@pytest.mark.parametrize("label", ["\r", "a\rb", "a\r\n", "\n", "\u2028", ' "a', "#"])
def test_a_label_that_could_end_a_row_survives(tmp_path, label):
    channel = nw.Channel([[0.5, 0.5], [0.25, 0.75]], [label, "x"], ["y", label])
    assert load(save(channel, tmp_path / "channel.csv")) == channel


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_log_probabilities_survive(tmp_path, suffix):
    channel = nw.geometric(epsilon=20, within=(0, 60)).channel()
    assert (channel.matrix == 0).any()
    again = load(save(channel, tmp_path / f"c{suffix}"))
    assert again == channel
    assert np.isfinite(again.logs).all()
    assert again.epsilon(nw.metrics.Line()).value == pytest.approx(20)


def test_csv_refuses_what_it_cannot_hold(tmp_path):
    with pytest.raises(ParameterError, match="write it to"):
        save(nw.geometric(epsilon=20, within=(0, 60)).channel(), tmp_path / "c.csv")
    assert not list(tmp_path.iterdir())


def test_certificates_round_trip(tmp_path):
    for number, mechanism in enumerate(
        [
            nw.geometric(epsilon="1/3", within=(0, 5)),
            nw.randomised_response(["a", "b"], epsilon=1),
            nw.exponential([(0, 0), (0, 1), (2, 2)], epsilon=1, metric=nw.metrics.Euclidean()),
        ]
    ):
        path = save(mechanism, tmp_path / f"{number}.json")
        again = load_certificate(path)
        assert again.document == json.loads(path.read_text())
        assert again.verify() == mechanism.certificate().verify()
    table = load_certificate(tmp_path / "2.json").table()
    assert table.metric == nw.metrics.Euclidean()
    assert table.inputs == ((0, 0), (0, 1), (2, 2))
    assert load_channel(tmp_path / "2.json").epsilon(nw.metrics.Euclidean()).value == pytest.approx(1, rel=1e-6)
    for number, row in ((0, 0), (1, "a")):
        channel = load_channel(tmp_path / f"{number}.json")
        assert channel.inputs[0] == row
        assert channel == load(tmp_path / f"{number}.json").channel()
    with pytest.raises(CertificateError, match="about a response, not about a table"):
        load_certificate(tmp_path / "1.json").table()


def test_a_table_metric_comes_back_from_its_certificate(tmp_path):
    metric = nw.metrics.Table([[0, 0.5, math.inf], [0.5, 0, math.inf], [math.inf, math.inf, 0]], ["x", "y", "z"])
    channel = nw.Channel([[0.6, 0.4, 0], [0.5, 0.5, 0], [0, 0, 1]], ["x", "y", "z"])
    certified = channel.certify("1", metric)
    again = load_certificate(save(nw.Certificate.of(certified), tmp_path / "c.json")).table()
    assert again.metric.distance("x", "y") == 0.5
    assert math.isinf(again.metric.distance("x", "z"))
    assert again.probability("z", 2) == Fraction(1)


BAD = {
    "empty.json": b"",
    "cut.json": b'{"format": "noisewright-channel", "version": 1, "inputs": [0, 1',
    "other.json": b'{"hello": 1}',
    "list.json": b"[1, 2]",
    "version.json": b'{"format": "noisewright-channel", "version": 99}',
    "missing.json": b'{"format": "noisewright-channel", "version": 1, "inputs": [0], "outputs": [0]}',
    "sums.json": b'{"format": "noisewright-channel", "version": 1, "inputs": [0], "outputs": [0, 1], "matrix": [[0.5, 0.4]]}',
    "nan.json": b'{"format": "noisewright-channel", "version": 1, "inputs": [0], "outputs": [0, 1], "matrix": [[NaN, 1]]}',
    "label.json": b'{"format": "noisewright-channel", "version": 1, "inputs": [[1]], "outputs": [0], "matrix": [[1]]}',
    "ragged.csv": b",a,b\nx,0.5,0.5\ny,1\n",
    "words.csv": b",a,b\nx,half,half\n",
    "only.csv": b"a,b\n",
    "negative.csv": b",a,b\nx,-0.5,1.5\n",
    "bytes.csv": b"\xff\xfe\x00\x01",
    "cut.npz": b"PK\x03\x04 not a zip",
    "text.npz": b"hello",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_get_one_sentence(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(BAD[name])
    with pytest.raises(FileFormatError) as caught:
        load(path)
    message = str(caught.value)
    assert name in message
    assert "\n" not in message
    assert message.endswith(".")


def test_missing_files_folders_and_unknown_endings(tmp_path):
    with pytest.raises(FileFormatError, match="there is no file"):
        load(tmp_path / "none.json")
    with pytest.raises(FileFormatError, match="cannot be read"):
        load(_folder(tmp_path / "folder.json"))
    with pytest.raises(FileFormatError, match=r"\.json, \.csv or \.npz"):
        load(tmp_path / "channel.txt")
    with pytest.raises(ParameterError, match="a channel is written to"):
        save(nw.Channel([[1]]), tmp_path / "channel.txt")
    with pytest.raises(ParameterError, match="a certificate is written to"):
        save(nw.geometric(epsilon=1), tmp_path / "c.csv")
    with pytest.raises(FileFormatError, match="cannot be written"):
        save(nw.Channel([[1]]), tmp_path / "no" / "folder" / "c.json")
    (tmp_path / "channel.json").write_bytes(BAD["other.json"])
    with pytest.raises(FileFormatError, match="not a Noisewright certificate"):
        load_certificate(tmp_path / "channel.json")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "c.json"
    write_atomically(path, b"old")
    monkeypatch.setattr(os, "fsync", _no_space)
    with pytest.raises(FileFormatError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["c.json"]


def test_files_get_ordinary_permissions(tmp_path):
    path = save(nw.Channel([[1]]), tmp_path / "c.json")
    (tmp_path / "plain").write_text("x")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


def _folder(path):
    path.mkdir()
    return path


def _no_space(_descriptor):
    raise OSError(28, "No space left on device")


def test_names_with_control_characters_survive_in_csv(tmp_path):
    channel = nw.Channel([[0.5, 0.5], [0.25, 0.75]], ["a\rb", "c\nd"], ["\r", "\x00"])
    assert load(save(channel, tmp_path / "odd.csv")) == channel
