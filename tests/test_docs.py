"""Every code block of the documentation is run: Python as doctests or scripts, shell commands in a real shell."""

import doctest
import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.csv").write_text(",a,b\na,0.7,0.3\nb,0.4,0.6\n")
    scope: dict[str, object] = {}
    for number, (language, text) in enumerate(blocks(page)):
        assert language in ("python", "console", ""), f"{page.name}: a block of an unknown language {language!r}"
        if language == "python" and ">>>" in text:
            test = doctest.DocTestParser().get_doctest(text, scope, f"{page.name}, block {number}", str(page), 0)
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            said: list[str] = []
            runner.run(test, out=said.append, clear_globs=False)
            scope = test.globs
            assert not runner.failures, "".join(said)
        elif language == "python":
            exec(compile(text, str(page), "exec"), scope)
        elif language == "console":
            run_console(text, tmp_path)


def run_console(text: str, folder: Path) -> None:
    """Run each `$ command`; lines below it are what it must print, spaces aside."""
    kept = {
        key: value for key, value in os.environ.items() if key != "COLUMNS"
    }  # pages have one width, whoever runs this
    environment = {**kept, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        if expected.strip():
            checker = doctest.OutputChecker()
            assert checker.check_output(expected, done.stdout, FLAGS), f"{command} printed {done.stdout!r}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not link.startswith("http") and not (page.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_to_a_heading_find_it(page):
    for link, heading in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith("http"):
            continue
        target = (page.parent / link if link else page).read_text(encoding="utf-8")
        titles = re.findall(r"^#+ (.*)$", target, re.MULTILINE)
        assert heading in {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_can_be_reached_from_the_index():
    reached, left = set(), [ROOT / "docs/index.md"]
    while left:
        page = left.pop().resolve()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
        left += [page.parent / link for link in links if not link.startswith("http")]
    assert {page.resolve() for page in PAGES} - reached <= {ROOT / "README.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_names_of_the_library_exist(page):
    text = re.sub(r"group `[\w.]+`", "", page.read_text(encoding="utf-8"))  # of entry points: no names of modules
    found = re.findall(r"\b(?:noisewright|nw)((?:\.[A-Za-z_]\w*)+)", text)
    missing = [name for name in sorted(set(found)) if not exists("noisewright" + name)]
    assert not missing


def exists(name: str) -> bool:
    """Whether a dotted name leads to a module, or to something in one."""
    parts = name.split(".")
    for used in range(len(parts), 0, -1):
        try:
            thing: object = importlib.import_module(".".join(parts[:used]))
        except ImportError:
            continue
        for part in parts[used:]:
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


def test_a_name_that_is_gone_would_be_caught():
    assert exists("noisewright.channels.audit.Audit.evidence")
    assert not exists("noisewright.channels.audit.gone")
    assert not exists("noisewright.gone.Audit")


def test_there_is_a_page_for_every_registered_mechanism():
    from noisewright.mechanisms import registry

    index = (ROOT / "docs/mechanisms/index.md").read_text(encoding="utf-8")
    for name in registry.names():
        page = re.search(rf"\[{name}\]\(([\w-]+\.md)\)", index)
        assert page
        assert (ROOT / "docs/mechanisms" / page[1]).exists()


def test_readme_names_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_a_wrong_number_in_a_page_would_be_caught(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n\n```\n")
    with pytest.raises(AssertionError, match="Expected"):
        test_blocks_run(page, tmp_path, monkeypatch)


def test_pictures_are_drawn_by_their_script(tmp_path):
    """The script that draws the documentation's pictures still runs and draws every picture that is there."""
    shutil.copy(ROOT / "docs/make_pictures.py", tmp_path / "make_pictures.py")
    done = subprocess.run(
        [sys.executable, "make_pictures.py", "--quick"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    drawn = {p.name for p in (tmp_path / "pictures").glob("*.png")}
    there = {p.name for p in (ROOT / "docs/pictures").glob("*.png")}
    assert drawn == there - {
        "report.png"
    }  # a photograph of a real report, by docs/make_report_picture.py and a browser


def test_extras_that_pages_name_exist():
    known = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    named = {
        extra.strip()
        for page in [*PAGES, ROOT / "Makefile", *(ROOT / "src").rglob("*.py")]
        for group in re.findall(r"(?:noisewright|\.)\[([a-z, ]+)\]", page.read_text(encoding="utf-8"))
        for extra in group.split(",")
    }
    assert {"plots", "spark", "java"} <= named <= known


def test_the_glossary_is_in_order_and_has_the_words_of_the_report():
    words = re.findall(
        r"^\| \*\*([\w -]+)\*\* \|", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert words == sorted(words)
    assert {"unit", "belief", "epsilon", "delta", "price", "expected error", "level", "radius", "protect"} <= set(words)
