"""What goes to a package index: addresses, links that work there, and metadata that the wheel really has."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from tools import package

HOME = "https://example.org/people/noisewright"


def test_every_link_of_the_readme_is_absolute_and_leads_to_a_file_that_is_there() -> None:
    text = package.absolute((package.ROOT / "README.md").read_text(encoding="utf-8"), HOME)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 10
    assert all(link.startswith("https://") for link in links)
    for link in links:
        path = re.sub(rf"{HOME}/(raw|blob)/main/|#.*", "", link)
        assert (package.ROOT / path).exists()
    assert f"({HOME}/raw/main/docs/pictures/report.png)" in text


def test_urls_are_in_the_metadata() -> None:
    before = (package.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "urls" not in tomllib.loads(before)["project"]
    urls = tomllib.loads(package.with_urls(before, HOME))["project"]["urls"]
    assert urls["Homepage"] == HOME
    assert set(urls) == {"Homepage", "Documentation", "Changelog", "Issues"}


def test_a_copy_is_made_once_and_for_a_real_address(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="begins with https"):
        package.main("example.org", str(tmp_path / "copy"))
    with pytest.raises(SystemExit, match="there already"):
        package.main(HOME, str(tmp_path))


def test_the_wheel_says_where_it_is_from_and_which_extras_it_has(tmp_path: Path) -> None:
    package.main(HOME + "/", str(tmp_path / "copy"))
    words = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(tmp_path), str(tmp_path / "copy")]
    done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("noisewright-*.whl")
    with zipfile.ZipFile(wheel) as found:
        (name,) = (n for n in found.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = message_from_string(found.read(name).decode("utf-8"))
    assert f"Homepage, {HOME}" in metadata.get_all("Project-URL", [])
    extras = tomllib.loads((package.ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(metadata.get_all("Provides-Extra", [])) == set(extras)
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert f"{HOME}/raw/main/docs/pictures/report.png" in str(metadata.get_payload())
