"""Policies that can be followed: numbers are exact, content decides, and every doorway gives the same policy."""

from __future__ import annotations

import datetime
import json
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.base import Entry, Takes
from noisewright.exceptions import NoisewrightError, PolicyError
from noisewright.mechanisms.registry import forget, register
from noisewright.policy.policy import ColumnPolicy, Policy, as_policy

CLINIC = """
dataset = "clinic"
floating = true

[budget]
epsilon = 8
delta = 1e-5

[unit]
column = "patient"
rows = 2
excess = "first"

[ledger]
path = "clinic.ledger"
scope = "unit"

[[columns]]
name = "age"
mechanism = "geometric"
within = [0, 120]
outside = "clamp"
epsilon = 0.1
protect = 5
fill = 40

[[columns]]
name = "weight"
mechanism = "laplace"
within = [[0.5, 2], [3, inf]]
margin = 0.1
protect = "1/3"
epsilon = "0.1"

[[columns]]
name = "visit"
mechanism = "laplace"
within = [2020-01-01, 2024-12-31]
excluding = [[2020-04-01, 2020-04-01]]
protect = 7
epsilon = 1
missing = "keep"

[[columns]]
name = ["lat", "lon"]
rename = ["latitude", "longitude"]
mechanism = "geo-laplace"
reference = [48.85, 2.35]
protect = 500
epsilon = 1

[[columns]]
name = "smoker"
mechanism = "uniform"
points = [true, false]

[[columns]]
name = "ward"
keep = true

[[queries]]
name = "mean age"
aggregate = "mean"
column = "age"
within = [0, 120]
weights = [1, 3]
epsilon = 0.5
by = { ward = ["north", "south"], year = [2023, 2024] }
where = "age > 17"
missing = "skip"

[[queries]]
name = "ages"
aggregate = "histogram"
column = "age"
bins = [0, 17.5, 120]
epsilon = 0.5
"""


@pytest.fixture
def clinic() -> Policy:
    return Policy.from_toml(CLINIC)


def test_decimals_are_what_was_written(clinic: Policy) -> None:
    assert clinic.budget.delta == Fraction(1, 100_000)
    assert clinic.columns[0].epsilon == clinic.columns[1].epsilon == Fraction(1, 10)
    assert clinic.columns[1].protect == Fraction(1, 3)
    assert clinic.columns[1].parameters == {
        "within": ((Fraction(1, 2), 2), (3, None)),
        "margin": Fraction(1, 10),
    }
    assert clinic.columns[3].parameters["reference"] == (Fraction(977, 20), Fraction(47, 20))
    assert clinic.queries[1].bins == (0, Fraction(35, 2), 120)


def test_everything_else_of_the_example(clinic: Policy) -> None:
    assert (clinic.unit.column, clinic.unit.rows, clinic.unit.excess) == ("patient", 2, "first")
    assert (clinic.ledger.path, clinic.ledger.scope, clinic.neighbours, clinic.floating) == (
        "clinic.ledger",
        "unit",
        "replace",
        True,
    )
    age, _, visit, place, smoker, ward = clinic.columns
    assert (age.names, age.outputs, age.fill, age.missing) == (("age",), ("age",), 40, "refuse")
    assert age.parameters == {"within": (0, 120), "outside": "clamp"}
    assert visit.parameters == {
        "within": (datetime.date(2020, 1, 1), datetime.date(2024, 12, 31)),
        "excluding": ((datetime.date(2020, 4, 1), datetime.date(2020, 4, 1)),),
    }
    assert (place.names, place.outputs) == (("lat", "lon"), ("latitude", "longitude"))
    assert (smoker.epsilon, smoker.parameters, smoker.protect) == (None, {"points": (True, False)}, "any")
    assert (ward.keep, ward.mechanism) == (True, None)
    mean = clinic.queries[0]
    assert (mean.weights, mean.within) == ((1, 3), (0, 120))
    assert mean.by == {"ward": ("north", "south"), "year": (2023, 2024)}


def test_the_number_of_names_is_the_dimension_unless_said() -> None:
    base = {"name": ["x", "y", "z"], "mechanism": "product-laplace", "epsilon": 1, "protect": 2}
    assert ColumnPolicy.model_validate(base).parameters["dimension"] == 3
    assert ColumnPolicy.model_validate({**base, "name": "embedding", "dimension": 8}).parameters["dimension"] == 8


def test_labels_are_floats_as_the_data_are() -> None:
    text = CLINIC.replace("points = [true, false]", "points = [0.1, 2.0, 3]")
    points = Policy.from_toml(text).columns[4].parameters["points"]
    assert points == (0.1, 2.0, 3)
    assert [type(point) for point in points] == [float, float, int]


def test_neighbours_are_added_or_removed_where_only_answers_are_released() -> None:
    query = {"name": "n", "aggregate": "count", "epsilon": 1}
    base = {"dataset": "d", "budget": {"epsilon": 1}, "queries": [query]}
    assert Policy.from_dict(base).neighbours == "add-remove"
    assert Policy.from_dict({**base, "neighbours": "replace"}).neighbours == "replace"


def test_two_spellings_of_one_policy_are_one_policy(clinic: Policy) -> None:
    other = CLINIC.replace('"0.1"', "1e-1").replace('"1/3"', '"2/6"').replace("[0.5, 2]", '["1/2", 2.0]')
    again = Policy.from_toml(other.replace("\n\n", "\n"), name="other.toml")
    assert again == clinic
    assert again.digest() == clinic.digest()
    assert len(clinic.digest()) == 64


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("epsilon = 0.1", "epsilon = 0.1000000000000000055511151231257827"),  # the float 0.1 is not one tenth
        ("within = [0, 120]\noutside", "within = [0, 121]\noutside"),
        ("[true, false]", "[false, true]"),
        ('"north"', '"North"'),
        ("2023, 2024", '2023, "2024"'),
        ("scope = ", "#scope = "),
    ],
)
def test_another_content_has_another_digest(clinic: Policy, old: str, new: str) -> None:
    assert old in CLINIC
    assert Policy.from_toml(CLINIC.replace(old, new)).digest() != clinic.digest()


def test_json_holds_the_whole_policy(clinic: Policy) -> None:
    text = json.dumps(clinic.to_json())
    again = Policy.from_dict(json.loads(text))
    assert again == clinic
    assert again.digest() == clinic.digest()
    assert json.loads(text)["columns"][1]["within"] == [["1/2", 2], [3, None]]


def test_pickled_and_frozen(clinic: Policy) -> None:
    again = pickle.loads(pickle.dumps(clinic))
    assert again == clinic
    assert again.where("budget") == clinic.where("budget") == "policy, line 5: budget"
    with pytest.raises(ValueError, match="frozen"):
        clinic.columns[0].epsilon = Fraction(1)  # type: ignore[misc]


def test_where_tells_the_line_of_anything(tmp_path: Path, clinic: Policy) -> None:
    assert clinic.where("columns", 1, "within", 0) == "policy, line 30: columns[1].within[0]"
    file = tmp_path / "clinic.toml"
    file.write_text(CLINIC)
    assert Policy.load(file).where("columns", 1, "delta") == f"{file}, line 27: columns[1].delta"
    assert Policy.from_dict(clinic.to_json()).where("unit", "rows") == "policy: unit.rows"


def test_every_doorway_gives_the_same_policy(tmp_path: Path, clinic: Policy) -> None:
    file = tmp_path / "clinic.toml"
    file.write_bytes(b"\xef\xbb\xbf" + CLINIC.replace("\n", "\r\n").encode())  # as some editors save it
    assert as_policy(clinic) is clinic
    for given_as in (file, str(file), clinic.to_json()):
        assert as_policy(given_as) == clinic


def test_python_values_of_a_dictionary() -> None:
    column = {
        "name": np.array(["x", "y"]),
        "mechanism": "planar-geometric",
        "points": np.array([[0.0, 0.5], [1.0, 1.5]]),
        "epsilon": np.float64(0.1),
        "protect": np.int64(2),
    }
    ranged = {"name": "n", "mechanism": "exponential", "points": range(3), "metric": "line", "epsilon": Fraction(1, 3)}
    policy = Policy.from_dict({"dataset": "d", "budget": {"epsilon": 1}, "columns": (column, ranged)})
    assert policy.columns[0].epsilon == Fraction(1, 10)
    assert policy.columns[0].parameters["points"] == ((0.0, 0.5), (1.0, 1.5))
    assert policy.columns[1].parameters == {"points": (0, 1, 2), "metric": "line"}
    assert json.loads(json.dumps(policy.to_json()))["columns"][1]["epsilon"] == "1/3"


@given(st.fractions(min_value="1/1000000", max_value=10**6))
def test_any_exact_number_survives(epsilon: Fraction) -> None:
    query = {"name": "n", "aggregate": "count", "epsilon": str(epsilon)}
    policy = Policy.from_dict({"dataset": "d", "budget": {"epsilon": epsilon}, "queries": [query]})
    assert policy.queries[0].epsilon == epsilon
    assert Policy.from_dict(policy.to_json()).budget.epsilon == epsilon


@given(st.decimals(min_value="0.000001", max_value=10**6, places=9))
def test_a_decimal_in_toml_is_the_fraction_that_its_digits_say(written: object) -> None:
    text = f'dataset="d"\n[budget]\nepsilon=1e9\n[[queries]]\nname="n"\naggregate="count"\nepsilon={written:f}\n'
    assert Policy.from_toml(text).queries[0].epsilon == Fraction(str(written))


def test_a_mechanism_that_is_new_in_the_registry_is_known_at_once() -> None:
    def shuffle(*, epsilon: int | Fraction, decks: int, sensitivity: int = 1) -> None: ...

    column = {"name": "card", "mechanism": "shuffle", "decks": 2, "epsilon": 1, "protect": 3}
    takes = Takes("number", budget="sensitivity")
    register(Entry("shuffle", shuffle, takes, summary="for this test", words="cards"))  # type: ignore[arg-type]
    try:
        assert ColumnPolicy.model_validate(column).parameters == {"decks": 2}
        with pytest.raises(PolicyError, match=r"columns\[0\].decks is missing: shuffle needs it"):
            Policy.from_dict(
                {
                    "dataset": "d",
                    "budget": {"epsilon": 1},
                    "columns": [{k: v for k, v in column.items() if k != "decks"}],
                }
            )
        assert "shuffle" in Policy.schema()["$defs"]["ColumnPolicy"]["properties"]["mechanism"]["enum"]
    finally:
        forget("shuffle")


def sentence(path: object) -> str:
    with pytest.raises(PolicyError) as caught:
        as_policy(path)  # type: ignore[arg-type]
    assert isinstance(caught.value, NoisewrightError)
    assert len(caught.value.problems) == 1
    return str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'dataset = "x"\n# caf\xe9\n')
    (tmp_path / "large.toml").write_bytes(b"#" * (16 * 2**20 + 1))
    assert sentence("none.toml") == "none.toml does not exist; name a policy file such as clinic.toml."
    assert sentence(tmp_path) == f"{tmp_path} is a directory; name a policy file in it, such as clinic.toml."
    assert sentence("latin.toml") == "latin.toml, line 2: this is not UTF-8 text; save the file as UTF-8."
    assert sentence("large.toml") == "large.toml has more than 1 MiB, and a policy has less; name a TOML file."
    assert sentence("a\0b").startswith("'a\\x00b' cannot be read")
    assert sentence("latin.toml/x") == (
        "'latin.toml/x' cannot be read (Not a directory); name a policy file such as clinic.toml."
    )
    assert "use Policy.from_toml for TOML itself" in sentence('dataset = "x"\n')
    assert sentence(3) == "policy: a policy is a table of keys, not int."


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a = 1\ndataset clinic", 2, "a key must be followed by an equals sign; write key = value"),
        ("a = clinic", 1, 'a value is missing or not understood; text needs quotes, such as "age"'),
        ("\na = 1\na = 2\n", 3, "a key is given twice, or a table has the name of a value; write each key once"),
        ("[a]\n\n[a]\n", 3, "a table is given twice; write each [table] once, and [[columns]] for one of many"),
        ('a = 1\nb = "x\nc = 2', 2, "a text is not closed on its line; add the missing quote"),
        ('a = 1\n\nb = """x\n\n', 3, "a text is not closed; add the missing quote"),
        ("a = [1, 2\n\nb = 3", 3, "a list is not closed; add the missing bracket ]"),
        ("[budget\nepsilon = 1", 1, "the name of a table is not closed; write [name]"),
        ("a = 1 b = 2", 1, "something follows a complete value; write one key = value on a line"),
        ("a = 2024-02-31", 1, "a date does not exist; write it like 2024-02-28"),
        (
            'a = "C:\\data"',
            1,
            "a backslash in a text begins an unknown sign; write two backslashes, or use single quotes",
        ),
        ("a = 1\n= 2", 2, 'a line must be key = value, [table] or [[columns]]; text values need quotes, such as "age"'),
        ("a = { b = 1", 1, "a table between braces is not closed; add the missing brace }"),
        ("# \x07\n", 1, "there is a control character; remove it"),
    ],
)
def test_what_is_not_toml_keeps_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(text, name="clinic.toml")
    assert caught.value.problems == (f"clinic.toml, line {line}: this is not TOML: {words}.",)


def test_toml_that_no_policy_needs() -> None:
    with pytest.raises(PolicyError, match="nested too deeply"):
        Policy.from_toml("a = " + "[" * 100_000)
    with pytest.raises(PolicyError, match="policy, line 2: a number has thousands of digits"):
        Policy.from_toml("a = 1\nb = " + "9" * 5000)
    with pytest.raises(PolicyError, match=r"budget.epsilon = NaN must be a finite number"):
        Policy.from_toml('dataset = "d"\nbudget.epsilon = 1e99999999999999999999')
