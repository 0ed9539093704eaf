"""Public files and seeds in a policy: paths beside the policy, digests in its digest, and one sentence for what is neither."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from resource_support import SEED, Coded, column, forget_places, write_table

from noisewright.base import public_parts
from noisewright.exceptions import PolicyError
from noisewright.policy.policy import Policy
from noisewright.resources import Resource, Seed

pytestmark = pytest.mark.usefixtures("coded_afresh")
WHOLE = {"dataset": "codes", "budget": {"epsilon": 5}}
TOML = f"""
dataset = "codes"
[budget]
epsilon = 5
[[columns]]
name = "x"
mechanism = "coded"
within = [0, 9]
epsilon = 2
table = "tables/code.bin"
seed = "{SEED}"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "tables").mkdir()
    write_table(tmp_path / "tables" / "code.bin")
    (tmp_path / "codes.toml").write_text(TOML, encoding="utf-8")
    return tmp_path


def policy_of(**more: object) -> Policy:
    return Policy.from_dict({**WHOLE, "columns": [column(**more)]})


def problem_of(**more: object) -> str:
    with pytest.raises(PolicyError) as caught:
        policy_of(**more)
    (problem,) = caught.value.problems
    return problem


def test_a_path_is_relative_to_the_policy_file(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "apart").mkdir()
    monkeypatch.chdir(place / "apart")
    for path in (place / "codes.toml", "../codes.toml"):
        found = Policy.load(path).columns[0].parameters
        assert found["table"] == Resource.at(place / "tables" / "code.bin")
        assert found["table"].name == "code.bin"
        assert found["seed"] == Seed.from_hex(SEED)


def test_a_path_in_a_dictionary_is_relative_to_the_working_directory(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    wanted = Resource.at("tables/code.bin")
    for given in ("tables/code.bin", place / "tables" / "code.bin", str(place / "tables" / "code.bin"), wanted):
        assert policy_of(table=given).columns[0].parameters["table"] == wanted
    seed = Seed.from_hex(SEED)
    assert policy_of(table=wanted, seed=seed) == policy_of(table=wanted, seed=SEED.upper())


def test_the_digest_of_a_policy_has_the_digest_of_the_file_and_not_its_place(place: Path) -> None:
    first = Policy.load(place / "codes.toml")
    write_table(place / "another name.bin")
    moved = policy_of(table=place / "another name.bin", seed=SEED)
    assert moved.digest() == first.digest()
    write_table(place / "tables" / "code.bin", seed=1)
    changed = Policy.load(place / "codes.toml")
    assert len({first.digest(), changed.digest(), policy_of(table=place / "another name.bin").digest()}) == 3


def test_the_json_of_a_policy_names_no_folder_and_can_be_read_where_the_file_is_not(place: Path) -> None:
    first = Policy.load(place / "codes.toml")
    content = first.to_json()
    assert str(place) not in str(content)
    assert "tables" not in str(content)
    (place / "tables" / "code.bin").unlink()
    forget_places()
    again = Policy.from_dict(content)
    assert again == first
    assert again.digest() == first.digest()
    assert again.columns[0].parameters["table"].place() is None


def test_a_policy_with_a_missing_file_says_which_line(place: Path) -> None:
    (place / "tables" / "code.bin").unlink()
    with pytest.raises(PolicyError) as caught:
        Policy.load(place / "codes.toml")
    (problem,) = caught.value.problems
    path = place / "tables" / "code.bin"
    assert problem.startswith(f"{place / 'codes.toml'}, line 10: columns[0].table = ")
    assert problem.endswith(f"is refused: there is no file {path}; name a public file that is there.")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (7, 'must be the path of a public file; write text such as "words.vec", relative to the policy'),
        (["a"], "must be the path of a public file"),
        (True, "must be the path of a public file"),
        ("", "is refused"),
        (".", "is not a file; name one public file, not a folder"),
        ("*.bin", "there is no file"),
        ({"sha256": "0" * 64}, "has a name, a sha256 and bytes, no more"),
        ({"name": "a/b", "sha256": "0" * 64, "bytes": 1}, "without folders"),
    ],
)
def test_what_is_no_file_is_told_in_one_sentence(table: object, words: str) -> None:
    assert words in problem_of(table=table)


@pytest.mark.parametrize("seed", ["5eed", 5, "z" * 64, [SEED], {"hex": SEED}])
def test_what_is_no_seed_is_told_in_one_sentence(place: Path, seed: object) -> None:
    problem = problem_of(table=place / "tables" / "code.bin", seed=seed)
    assert problem.endswith("must be a public seed: text of 64 hexadecimal digits.")


def test_a_file_that_is_needed_and_not_named_is_missed() -> None:
    assert "table is missing: coded needs it" in problem_of()


def test_the_schema_describes_files_and_seeds() -> None:
    schema = Policy.schema()
    good = {**WHOLE, "columns": [column(table="code.bin", seed=SEED)]}
    jsonschema.validate(good, schema)
    jsonschema.validate({**WHOLE, "columns": [column(table={"name": "a", "sha256": "0" * 64, "bytes": 1})]}, schema)
    for bad in ({"table": 7}, {"table": "a", "seed": "5eed"}, {"table": {"name": "a"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**WHOLE, "columns": [column(**bad)]}, schema)
    words = schema["$defs"]["ColumnPolicy"]["properties"]
    assert "Public file: a path relative to the policy." in words["table"]["description"]
    assert "64 hexadecimal digits" in words["seed"]["description"]


def test_the_parameters_of_a_class_are_read_as_those_of_a_function() -> None:
    assert public_parts(Coded, Resource) == {"table"}
    assert public_parts(Coded, Seed) == {"seed"}
